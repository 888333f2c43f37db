"""Scenario folders: read strictly, reported by name, and their recorded tools answer honestly."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from bot.emulator.recorded import input_model, recorded_tools
from bot.errors import ConfigError
from bot.evaluation.scenarios import read_scenario, read_scenarios
from tools.contracts import CallContext, EvidenceStatus, ToolDeps, ToolResult
from tools.errors import ToolFailed
from tools.registry import ToolRegistry
from tools.skills import SkillRegistry

CALLS = [
    {"args": {"kind": "pod", "name": "pay-1", "namespace": "shop"}, "status": "success", "output": "State: OOMKilled"},
    {"args": {"kind": "pod", "name": "pay-2", "namespace": "shop"}, "status": "error", "error": "forbidden"},
    {"args": {"kind": "job", "name": "pay-3", "namespace": "shop"}, "status": "no_data", "output": ""},
    {"args": {"kind": "node", "name": "n", "namespace": "x", "limit": 9}, "status": "success", "output": '{"a": [1, 2]}'},
]


def folder(tmp_path: Path, name: str, **change: Any) -> Path:
    document = {
        "id": name,
        "now": None,
        "tags": ["ignored"],
        "input": {"kind": "question", "text": "why?", "history": []},
        "world": {"tools": [{"name": "describe", "description": "d", "calls": CALLS}]},
        "expect": {},
    }
    path = tmp_path / name
    path.mkdir()
    (path / "scenario.json").write_text(json.dumps(document | change))
    return path


async def ask(path: Path, **arguments: Any) -> ToolResult:
    spec = recorded_tools(read_scenario(path), ToolRegistry([]))[0]
    context = CallContext("run-1", datetime(2026, 11, 30, tzinfo=UTC), ZoneInfo("UTC"))
    result: ToolResult = await spec.run(spec.input_model(**arguments), ToolDeps(SkillRegistry()), context)
    return result


async def test_the_recorded_call_answers_its_own_arguments(tmp_path: Path) -> None:
    result = await ask(folder(tmp_path, "a"), kind="Pods", name="pay-1", namespace="shop")
    short = await ask(tmp_path / "a", kind="po", name="pay-1", namespace="shop")
    assert short.payload == result.payload
    assert result.evidence_status is EvidenceStatus.SUPPORTED
    assert [ref.text for ref in result.evidence_refs] == ["State: OOMKilled"]


@pytest.mark.parametrize("name", ["pay-9", "pay"])
async def test_another_identifier_never_gets_somebody_elses_data(tmp_path: Path, name: str) -> None:
    result = await ask(folder(tmp_path, "a"), kind="pod", name=name, namespace="shop")
    assert result.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert name in result.evidence_refs[0].text


async def test_a_recorded_error_fails_with_its_own_text(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="forbidden"):
        await ask(folder(tmp_path, "a"), kind="pod", name="pay-2", namespace="shop")


async def test_recorded_no_data_is_no_evidence(tmp_path: Path) -> None:
    result = await ask(folder(tmp_path, "a"), kind="job", name="pay-3", namespace="shop")
    assert result.evidence_status is EvidenceStatus.NO_EVIDENCE


async def test_a_differing_argument_that_names_nothing_still_finds_the_nearest_call(tmp_path: Path) -> None:
    result = await ask(folder(tmp_path, "a"), kind="node", name="n", namespace="x", limit=100)
    assert [ref.text for ref in result.evidence_refs]


async def test_a_call_recorded_without_arguments_answers_any(tmp_path: Path) -> None:
    tools = [{"name": "events", "calls": [{"args": None, "status": "success", "output": "Killed"}]}]
    path = folder(tmp_path, "a", world={"tools": tools})
    assert (await ask(path)).evidence_refs[0].text == "Killed"
    assert (await ask(path, namespace="shop")).evidence_refs[0].text == "Killed"


def test_the_input_schema_comes_from_the_recorded_arguments() -> None:
    model = input_model("t", [{"name": "pay-1", "limit": 5}, {"name": "pay-2"}])
    schema = model.model_json_schema()
    assert schema["required"] == ["name"]
    assert "pay" not in json.dumps(schema["properties"]["name"])
    with pytest.raises(ValidationError):
        model(name="pay-1", nmespace="x")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expect": {"must_mentoin": []}}, "must_mentoin"),
        ({"input": {"kind": "riddle"}}, "input.kind"),
        ({"world": {"metrics_file": "nowhere.json"}}, "nowhere.json is missing"),
        ({"world": {"logs_file": "../../etc/passwd"}}, "outside the scenario's folder"),
        ({"now": "2026-11-30T09:10:00"}, "now"),
    ],
)
def test_a_broken_scenario_says_where(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match="broken") as caught:
        read_scenario(folder(tmp_path, "broken", **change))
    assert said in str(caught.value)


def test_a_broken_folder_does_not_hide_the_others(tmp_path: Path) -> None:
    folder(tmp_path, "good")
    (folder(tmp_path, "bad") / "scenario.json").write_text("{")
    scenarios, broken = read_scenarios(tmp_path)
    assert [one.name for one in scenarios] == ["good"]
    assert [(one.name, "not JSON" in one.reason) for one in broken] == [("bad", True)]
    assert [one.name for one in read_scenarios(tmp_path / "good")[0]] == ["good"]


def test_a_folder_without_a_scenario_is_said_to_hold_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no scenario: no scenario\.json"):
        read_scenarios(tmp_path)
