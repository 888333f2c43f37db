"""The whole way with real servers: Prometheus evaluates, Alertmanager posts to Slack, the bot looks into it at the same
Prometheus and reports with a chart; the alert ends, and the thread says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from alert_bot import ALERTS, ALERTS_ID
from live_alertmanager import live_alertmanager
from live_prometheus import live_prometheus
from pydantic import SecretStr
from slack_bot import SCHEMA
from slack_worker import part_of
from whole_bot import running

from bot.emulator.slack import SlackEmulator
from bot.manifest import manifest

CHANGE = '{"time": "2026-01-01T00:00:00Z", "kind": "deploy", "service": "checkout", "summary": "deploy checkout 1.0"}\n'


async def test_an_alert_of_a_real_prometheus_is_reported_with_its_chart_and_its_end_is_told(
    tmp_path: Path, database_url: str, require_binary: Callable[..., str]
) -> None:
    prometheus, alertmanager = require_binary("prometheus"), require_binary("prometheus-alertmanager")
    (tmp_path / "changes.jsonl").write_text(CHANGE)
    with (
        SlackEmulator(schema=SCHEMA) as slack,
        live_alertmanager(alertmanager, tmp_path, slack.add_webhook(ALERTS, "alertmanager")) as target,
        live_prometheus(prometheus, tmp_path, target) as source,
    ):
        slack.install(manifest())
        settings: dict[str, Any] = {
            "database_url": SecretStr(database_url),
            "alert_channels": (ALERTS_ID,),
            "alert_debounce_seconds": 0.0,
            "prometheus_url": source.url,
            "changes_file": tmp_path / "changes.jsonl",
        }
        async with running(slack, tmp_path / "bot", **settings) as bot:
            source.shop.latency = 4.2
            await slack.wait_for(lambda: slack.messages(ALERTS), 20)
            root = slack.messages(ALERTS)[0]
            assert root["attachments"][0]["title"].startswith("[FIRING:1] CheckoutSlow checkout (")

            def parts() -> list[str]:
                return [part_of(one)[0] for one in slack.messages(ALERTS, root["ts"])]

            def charts() -> list[bytes]:
                return [file.content for file in slack.files() if file.complete and file.mimetype == "image/png"]

            def reactions() -> set[str]:
                return {one["name"] for one in (slack.message(ALERTS, root["ts"]) or {}).get("reactions", [])}

            await slack.wait_for(lambda: "answer" in parts() and charts(), 30)
            source.shop.latency = 0.25
            await slack.wait_for(lambda: "line" in parts() and reactions() == {"ballot_box_with_check"}, 30)
            assert bot.desk.incidents.open() == []
            await bot.desk.later.idle()
            assert len(bot.desk.trace.recent_runs(10)) == 1
        thread = slack.thread_text(ALERTS, root["ts"])
        assert "Alert CheckoutSlow on checkout has been firing since " in thread
        assert "activeAt=" in thread, "the real Prometheus is quoted"
        assert "Resolved: CheckoutSlow" in thread
        assert "\nIt lasted " in thread
        assert sorted(parts()) == ["", "", "answer", "line"], "the alert, its report, its chart and its end"
        assert charts()[0].startswith(b"\x89PNG")
        assert slack.refused == []
