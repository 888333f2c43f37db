"""Patrols, from the slot to the report in a thread of their own, as `serve` runs them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from live_prometheus import live_prometheus, raise_latency
from loopback_http import Answering, served
from slack_worker import emulator, part_of
from whole_bot import running

from bot.emulator.slack import SlackEmulator
from bot.schedule import LEASE
from bot.serve import RunningBot
from bot.timetable.patrol import BLIND, MUTED, QUIET
from storage.engine import Database
from storage.schedule import FiredSlot, ScheduleStore

CHANNEL, CHANNEL_ID = "alerts", "C0ALERTS01"
SLOT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PATROL = {"cron": "0 9 * * *", "channel": CHANNEL_ID, "name": "checkout", "zone": "Asia/Shanghai"}


def alert(name: str, severity: str = "critical", state: str = "firing", **labels: str) -> dict[str, Any]:
    return {
        "labels": {"alertname": name, "severity": severity, **labels},
        "annotations": {"summary": f"{name} is bad"},
        "state": state,
        "activeAt": "2026-11-30T08:44:00Z",
        "value": "4.2",
    }


def prometheus(*alerts: dict[str, Any]) -> Answering:
    """Alerts, and no series at all."""

    def answer(path: str, _: Any) -> tuple[int, Any]:
        if path.endswith("/alerts"):
            return 200, {"status": "success", "data": {"alerts": list(alerts)}}
        is_query = path.endswith(("/query", "/query_range"))
        return 200, {"status": "success", "data": {"resultType": "vector", "result": []} if is_query else []}

    return answer


@asynccontextmanager
async def patrolling(slack: SlackEmulator, folder: Path, url: str, **settings: Any) -> AsyncIterator[RunningBot]:
    chosen = {"prometheus_url": url, "patrols": (PATROL,), "retention_cron": "", **settings}
    async with running(slack, folder, **chosen) as bot:
        yield bot


async def fired(bot: RunningBot, slot: datetime = SLOT) -> FiredSlot:
    [plan] = bot.schedule.plans
    await bot.schedule.fire(plan, slot)
    stored = ScheduleStore(bot.app.database).slot(plan.name, slot)
    assert stored is not None
    return stored


def posts(slack: SlackEmulator) -> list[dict[str, Any]]:
    """Ours in the channel itself."""
    ours = [each for each in slack.messages(CHANNEL) if each.get("user") == slack.bot_user_id]
    return [each for each in ours if each.get("thread_ts") in (None, each["ts"])]


async def reported(slack: SlackEmulator, bot: RunningBot) -> list[str]:
    """The parts under the patrol's post, once its report stands."""
    [root] = posts(slack)
    await slack.wait_for(lambda: any(part_of(each)[0] == "answer" for each in slack.messages(CHANNEL, root["ts"])), 30)
    await slack.wait_for(lambda: bot.queue.idle)
    return [part_of(each)[0] for each in slack.messages(CHANNEL, root["ts"])]


async def test_what_fires_gets_one_report_in_a_thread_of_its_own(tmp_path: Path) -> None:
    found = (alert("DiskFull", "warning", host="db-1"), alert("CheckoutSlow", service="checkout"), alert("Watchdog", "none"))
    with emulator() as slack, served(prometheus(*found)) as url:
        async with patrolling(slack, tmp_path, url) as bot:
            stored = await fired(bot)
            parts = await reported(slack, bot)
            [run] = bot.app.store.recent_runs(10)
            [root] = posts(slack)
        assert root["text"] == (
            "Patrol checkout, 2026-11-30 17:00 CST (09:00 UTC): 2 firing: CheckoutSlow (critical), DiskFull (warning)"
        )
        assert parts.count("answer") == 1
        assert (run.agent_flow, stored.outcome) == ("AI_OPS", f"2 firing, run {run.run_id}")
        report = next(each for each in slack.messages(CHANNEL, root["ts"]) if part_of(each)[0] == "answer")
        assert "CheckoutSlow" in report["text"]
        assert "Watchdog" not in str(report["blocks"])
        assert slack.refused == []


async def test_two_processes_report_a_slot_once(tmp_path: Path, database_url: str) -> None:
    with emulator() as slack, served(prometheus(alert("CheckoutSlow", service="checkout"))) as url:
        async with (
            patrolling(slack, tmp_path, url, database_url=database_url) as one,
            patrolling(slack, tmp_path, url, database_url=database_url) as other,
        ):
            await asyncio.gather(fired(one), fired(other))
            await slack.wait_for(lambda: one.queue.idle and other.queue.idle)
            parts = await reported(slack, one)
            assert parts.count("answer") == 1
            assert len(one.app.store.recent_runs(10)) == 1


async def test_where_nothing_fires_nobody_hears_of_it(tmp_path: Path) -> None:
    found = (alert("Watchdog", "none"), alert("Coming", state="pending"), alert("DeadMansSwitch"))
    with emulator() as slack, served(prometheus(*found)) as url:
        async with patrolling(slack, tmp_path, url) as bot:
            assert (await fired(bot)).outcome == QUIET
            assert (posts(slack), bot.app.store.recent_runs(10)) == ([], [])


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Patrol checkout, 2026-11-30 17:00 CST (09:00 UTC): nothing to look into is firing."),
        ("zh", "巡检 checkout，2026-11-30 17:00 CST (09:00 UTC)：没有需要查看的告警。"),
    ],
)
async def test_who_wants_it_gets_one_line_that_all_is_well(tmp_path: Path, language: str, said: str) -> None:
    with emulator() as slack, served(prometheus()) as url:
        async with patrolling(slack, tmp_path, url, patrol_all_clear=True, language=language) as bot:
            assert (await fired(bot)).outcome == QUIET
            assert [each["text"] for each in posts(slack)] == [said]


async def test_a_patrol_that_cannot_look_says_so_once(tmp_path: Path) -> None:
    with served(prometheus()) as gone:
        pass
    with emulator() as slack:
        async with patrolling(slack, tmp_path, gone) as bot:
            for day in range(3):
                assert str((await fired(bot, SLOT + timedelta(days=day))).outcome).startswith(f"{BLIND}: Prometheus at")
            [post] = posts(slack)
            assert "I could not look: Prometheus at" in post["text"]


async def test_a_muted_channel_has_no_patrol(tmp_path: Path) -> None:
    with emulator() as slack, served(prometheus(alert("CheckoutSlow"))) as url:
        async with patrolling(slack, tmp_path, url, alert_channels=(CHANNEL_ID,)) as bot:
            await bot.desk.alert_channels.mute(CHANNEL_ID, "U0ANA00001", datetime.now(UTC) + timedelta(hours=2))
            assert (await fired(bot)).outcome == MUTED
            assert posts(slack) == []


async def test_an_alerts_words_ping_nobody(tmp_path: Path) -> None:
    with emulator() as slack, served(prometheus(alert("<!channel> & <@U0ANA00001>"))) as url:
        async with patrolling(slack, tmp_path, url) as bot:
            await fired(bot)
            [root] = posts(slack)
            assert "&lt;!channel&gt; &amp; &lt;@U0ANA00001&gt;" in root["text"]


async def test_a_channel_that_refuses_is_kept_as_the_slots_outcome(tmp_path: Path) -> None:
    patrol = PATROL | {"channel": "C0NOWHERE1"}
    with emulator() as slack, served(prometheus(alert("CheckoutSlow"))) as url:
        async with patrolling(slack, tmp_path, url, patrols=(patrol,)) as bot:
            assert "failed: Slack refused chat.postMessage: channel_not_found" in str((await fired(bot)).outcome)
            assert bot.app.store.recent_runs(10) == []


async def test_a_real_prometheus_is_patrolled(tmp_path: Path, require_binary: Callable[..., str]) -> None:
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with live_prometheus(require_binary("prometheus"), folder) as live, emulator() as slack:
        async with patrolling(slack, tmp_path / "bot", live.url) as bot:
            assert (await fired(bot)).outcome == QUIET
            await asyncio.to_thread(raise_latency, live)
            await fired(bot, SLOT + timedelta(days=1))
            assert (await reported(slack, bot)).count("answer") == 1
            [root] = posts(slack)
            [run] = bot.app.store.recent_runs(10)
            calls = bot.app.store.invocations(run.run_id)
        assert root["text"].endswith("1 firing: CheckoutSlow (critical)")
        assert calls[0].node == "DISCOVERY"
        assert run.status == "SUCCESS"
        assert slack.refused == []


async def test_a_bot_that_ends_makes_room_for_another_leader(tmp_path: Path, sqlite_database: Database, sqlite_url: str) -> None:
    store = ScheduleStore(sqlite_database)
    with emulator() as slack, served(prometheus()) as url:
        async with patrolling(slack, tmp_path, url, database_url=sqlite_url) as bot:
            leader = store.leader(LEASE)
            assert leader is not None
            assert (leader.owner, leader.is_live) == (bot.app.work.owner, True)
        assert store.hold(LEASE, "another", 5)
