"""The same `ask` on the operator's own systems, named in proofthread.toml: nothing of it knows of a sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli import run
from bot.data import SAMPLES
from bot.emulator.orders import orders_database
from bot.emulator.prometheus import PrometheusServer

INCIDENT = SAMPLES / "checkout-slow"
NOW = "2026-11-30T09:10:00Z"
CONFIG = """
database_url = "{database}"
logs_roots = ["{incident}/logs"]
prometheus_url = "{prometheus}"
business_url = "{orders}"
changes_file = "{incident}/changes.jsonl"
knowledge_dir = "{incident}/knowledge"
time_zone = "Asia/Shanghai"

[queries.order_by_id]
sql = "select * from orders where order_id = :order"
description = "one order"
parameters.order = {{ description = "its id" }}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Any:
    """A shop with a database, logs, metrics, orders, changes and runbooks, and a settings file that names them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    orders = orders_database(INCIDENT / "orders.csv", tmp_path)
    with PrometheusServer.of_file(INCIDENT / "metrics.json", 1796029800.0) as prometheus:
        values = {"database": database_url, "incident": INCIDENT, "prometheus": prometheus.url, "orders": orders}
        (tmp_path / "proofthread.toml").write_text(CONFIG.format(**values))
        yield tmp_path


def spoken(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_operators_own_systems_prove_the_cause(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoken(capsys, "kb", "sync")["problems"] == []
    findings = {one["name"]: one["state"] for one in spoken(capsys, "doctor")["findings"]}
    assert set(findings.values()) <= {"ok", "off"}
    assert [name for name, state in findings.items() if state == "off"] == ["embeddings", "alertmanager", "slack"]

    answer = spoken(capsys, "ask", "Why is checkout slow since 16:30?", "--now", NOW)
    assert answer["verdict"] == "PASS"
    tools = {evidence["tool_name"] for claim in answer["claims"] for evidence in claim["evidence"]}
    assert {"query_logs", "query_metrics", "lookup_knowledge"} <= tools
    assert "order-service" in answer["answer"]

    assert spoken(capsys, "trace", answer["run_id"])["run"]["verdict"] == "PASS"
    assert spoken(capsys, "kb", "search", "ORD-5031")["blocks"]


def test_a_question_about_one_order_reads_its_row(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = spoken(capsys, "ask", "What is wrong with order SO-20261130-4380?", "--now", NOW)
    quotes = [evidence for claim in answer["claims"] for evidence in claim["evidence"]]
    assert any(quote["tool_name"] == "query_order" and "SO-20261130-4380" in quote["span_text"] for quote in quotes)
