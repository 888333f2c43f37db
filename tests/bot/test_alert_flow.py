"""An alert's way from its post to its report: stored before the acknowledgement, one run an incident, in its thread."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alert_bot import ALERTS, ALERTS_ID, SHARED, Waiting, alert_bot, alertmanager
from loopback_http import served
from slack_worker import emulator, part_of

from bot.emulator.slack import SlackEmulator
from storage.alert_places import AlertPlaces
from storage.engine import Database
from tools.clients.alertmanager import AlertmanagerClient

# Every stored alert of this name becomes unreadable.
SPOILT = """CREATE TRIGGER spoil AFTER INSERT ON alert WHEN NEW.document LIKE '%"Broken"%'
BEGIN UPDATE alert SET document = '7' WHERE id = NEW.id; END"""
RESOLVED = alertmanager(says="RESOLVED")


async def test_a_post_gets_one_report_in_its_thread(database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, database) as bot:
            ts = bot.post()
            await bot.reported(ts)
            [run] = bot.runs
            [incident] = bot.open
            assert (run.agent_flow, run.query) == ("AI_OPS", "HighErrorRate · critical")
            assert (incident.run_id, incident.root_ts, incident.verdict) == (run.run_id, ts, run.verdict)
            assert bot.parts(ts).count("answer") == 1
            assert bot.desk.jobs.job(run.run_id).user_id is None
            assert slack.calls("chat.startStream") == []
            assert slack.refused == []


async def test_the_alert_is_stored_before_slack_is_answered(sqlite_database: Database) -> None:
    with emulator(retry_delays=(0.0,)) as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            with sqlite_database.begin() as connection:
                connection.exec_driver_sql("ALTER TABLE alert RENAME TO gone")
            bot.post()
            await slack.wait_for(lambda: all(one.outcome != "pending" for one in slack.deliveries))
            assert {one.outcome for one in slack.deliveries} != {"acknowledged"}
            assert bot.desk.incidents.open() == []
            with sqlite_database.begin() as connection:
                connection.exec_driver_sql("ALTER TABLE gone RENAME TO alert")
            again = bot.post()
            await bot.reported(again)


async def test_progress_is_shown_by_edits_while_it_runs(sqlite_database: Database) -> None:
    model = Waiting(is_open=False)
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, model) as bot:
            ts = bot.post()
            await slack.wait_for(lambda: "progress" in bot.parts(ts))
            model.gate.set()
            await bot.reported(ts)
            assert bot.parts(ts).count("answer") == 1
            assert "progress" not in bot.parts(ts)
            assert slack.calls("chat.update")
            assert slack.calls("chat.startStream") == []


async def test_nothing_happens_where_alerts_are_not_watched(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_channels=()) as bot:
            ts = bot.post()
            await bot.settled()
            assert (bot.runs, bot.open, bot.parts(ts)) == ([], [], [])


async def test_what_people_write_there_is_no_alert(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            slack.post(ALERTS, "ana", "[FIRING:1] HighErrorRate (checkout critical)")
            slack.post(ALERTS, "ana", "is HighErrorRate firing again?")
            await bot.settled()
            assert (bot.runs, bot.open) == ([], [])


async def test_a_listed_person_may_pass_alerts_on(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_senders=("U0ANA00001",)) as bot:
            passed = slack.post(ALERTS, "ana", "[FIRING:1] HighErrorRate (checkout critical)")
            slack.post(ALERTS, "ben", "[FIRING:1] OtherAlert (orders critical)")
            bot.post(**alertmanager("DiskFull", rest="db-03 critical"))
            await bot.reported(passed)
            slack.post(ALERTS, "ana", "[RESOLVED] HighErrorRate (checkout critical), I think", thread_ts=passed)
            await bot.settled()
            assert [incident.root_ts for incident in bot.open] == [passed]


@pytest.mark.parametrize(
    ("senders", "count"),
    [(("B0AMGR0001",), 1), (("alertmanager",), 1), (("A0MGR",), 1), (("B0OTHER",), 0)],
)
async def test_only_listed_senders_count_where_some_are_listed(
    sqlite_database: Database, senders: tuple[str, ...], count: int
) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_senders=senders) as bot:
            bot.post(**alertmanager(app_id="A0MGR"))
            await bot.settled()
            assert len(bot.open) == count


@pytest.mark.parametrize("how", ["post", "edit"])
async def test_a_resolved_notice_closes_the_incident_and_starts_no_run(database: Database, how: str) -> None:
    with emulator() as slack:
        async with alert_bot(slack, database) as bot:
            ts = bot.post()
            await bot.reported(ts)
            if how == "post":
                bot.post(**RESOLVED)
            else:
                slack.edit(ALERTS, ts, None, attachments=RESOLVED["attachments"])
            await bot.settled()
            assert (len(bot.runs), bot.open) == (1, [])


async def test_a_lone_resolved_notice_starts_nothing(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            bot.post(**RESOLVED)
            await bot.settled()
            assert (bot.runs, bot.open) == ([], [])


async def test_ten_edits_double_nothing(database: Database) -> None:
    with emulator(copies=(1, 3)) as slack:
        async with alert_bot(slack, database) as bot:
            ts = bot.post()
            await bot.reported(ts)
            for number in range(10):
                fields = alertmanager()["attachments"][0] | {"text": f"value {number}"}
                slack.edit(ALERTS, ts, None, attachments=[fields])
            await bot.settled()
            [incident] = bot.open
            assert (len(bot.runs), incident.alert_count, incident.post_count) == (1, 1, 1)
            assert bot.parts(ts).count("answer") == 1


async def test_an_unfurl_changes_nothing(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = bot.post()
            await bot.reported(ts)
            before = bot.open
            fields = alertmanager()["attachments"][0] | {"thumb_url": "https://img.ops.example/x.png"}
            slack.edit(ALERTS, ts, None, attachments=[fields])
            await bot.settled()
            assert [one.last_seen_at for one in bot.open] == [one.last_seen_at for one in before]


async def test_a_post_that_is_deleted_while_it_runs_is_dropped_without_a_word(database: Database) -> None:
    model = Waiting(is_open=False)
    with emulator() as slack:
        async with alert_bot(slack, database, model) as bot:
            ts = bot.post()
            await slack.wait_for(lambda: "progress" in bot.parts(ts))
            slack.delete(ALERTS, ts)
            await bot.settled()
            [run] = bot.runs
            assert run.status == "CANCELLED"
            assert bot.parts(ts) == []


async def test_a_post_that_leaves_a_tombstone_is_deleted_too(sqlite_database: Database) -> None:
    """As Slack tells of a deleted post that has replies."""
    model = Waiting(is_open=False)
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, model) as bot:
            ts = bot.post()
            await slack.wait_for(lambda: "progress" in bot.parts(ts))
            before = {**alertmanager(), "type": "message", "ts": ts, "subtype": "bot_message"}
            gone = {"type": "message", "subtype": "tombstone", "ts": ts, "user": "USLACKBOT", "text": "This message was deleted."}
            event = {"type": "message", "subtype": "message_changed", "channel": ALERTS_ID, "ts": "1796000000.1", "hidden": True}
            slack.send_event({**event, "message": gone, "previous_message": before})
            await bot.settled()
            assert bot.runs[0].status == "CANCELLED"
            assert bot.parts(ts) == []


async def test_a_fault_in_one_incident_keeps_no_other_from_its_run(
    sqlite_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            with sqlite_database.begin() as connection:
                connection.exec_driver_sql(SPOILT)
            bot.post(**alertmanager("Broken", rest="billing critical"))
            healthy = bot.post(**alertmanager("DiskFull", rest="db-03 critical"))
            await slack.wait_for(lambda: "answer" in bot.parts(healthy))
            await slack.wait_for(lambda: "failed inside us" in caplog.text)
            assert [run.query for run in bot.runs] == ["DiskFull · critical"]
            await slack.wait_for(lambda: "failed" in [one.not_run_reason for one in bot.open])
            assert AlertPlaces(sqlite_database).load(slack.team_id, datetime.now(UTC).date()).hour == 1


async def test_a_post_that_is_deleted_before_it_is_looked_into_gets_no_run(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_debounce_seconds=60.0) as bot:
            ts = bot.post()
            await slack.wait_for(lambda: bot.open)
            slack.delete(ALERTS, ts)
            await bot.settled()
            assert (bot.open, bot.runs) == ([], [])


async def test_two_processes_give_one_run_and_one_report(database: Database) -> None:
    with emulator(copies=(2, 3)) as slack:
        async with alert_bot(slack, database) as one, alert_bot(slack, database, addresses=[one.address]) as other:
            names = {"HighErrorRate": "checkout", "DiskFull": "db-03", "QueueBacklog": "emails", "CertExpiry": "shop.example"}
            posts = [one.post(**alertmanager(name, rest=f"{where} critical")) for name, where in names.items()]
            await one.reported(*posts)
            await other.settled()
            assert sorted(run.query.split(" ")[0] for run in one.runs) == sorted(names)
            assert [one.parts(ts).count("answer") for ts in posts] == [1, 1, 1, 1]


async def test_alerts_of_one_service_share_a_run(sqlite_database: Database) -> None:
    """The debounce gathers them; the first post's thread has the report."""
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_debounce_seconds=60.0) as bot:
            first = bot.post(**_named("HighErrorRate"))
            await slack.wait_for(lambda: bot.open)
            bot.post(**_named("HighLatency"))
            await slack.wait_for(lambda: bot.open and bot.open[0].alert_count == 2)
            assert [one.root_ts for one in bot.open] == [first]
            assert bot.runs == []


def _named(name: str) -> dict[str, Any]:
    attachment = alertmanager(name)["attachments"][0]
    fields = [{"title": "Service", "value": "checkout", "short": True}, {"title": "Severity", "value": "warning"}]
    return alertmanager(name) | {"attachments": [attachment | {"fields": fields}]}


# ---------------------------------------------------------------- what is not an alert


def _ours(**more: Any) -> dict[str, Any]:
    text = "[FIRING:1] HighErrorRate (checkout critical)"
    return {"user": "U0OTHERBOT", "bot_id": "B0OTHERPT1", "app_id": "A0OTHERPT1", "text": text, **more}


@pytest.mark.parametrize(
    "post",
    [
        _ours(bot_profile={"name": "Proofthread (staging)"}),
        _ours(username="proofthread"),
        _ours(
            blocks=[
                {
                    "type": "actions",
                    "elements": [
                        {"type": "button", "text": {"type": "plain_text", "text": "E"}, "action_id": name, "value": "r"}
                        for name in ("evidence", "trace")
                    ],
                }
            ]
        ),
    ],
    ids=["profile", "username", "buttons"],
)
async def test_another_proofthreads_posts_are_never_triaged(sqlite_database: Database, post: dict[str, Any]) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            bot.post(**post)
            await bot.settled()
            assert (bot.runs, bot.open) == ([], [])


async def test_a_report_is_not_read_as_an_alert(sqlite_database: Database) -> None:
    """Our own message comes back as an event, as Slack's types allow, past Bolt's own filter."""
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = bot.post()
            await bot.reported(ts)
            own = next(one for one in slack.messages(ALERTS, ts) if part_of(one)[0] == "answer")
            slack.send_event({**own, "user": "U0STRANGE1", "bot_id": "B0STRANGE1", "channel": ALERTS_ID, "ts": "1796.9"})
            await bot.settled()
            assert (len(bot.runs), len(bot.open)) == (1, 1)


@pytest.mark.parametrize("name", ["Watchdog", "watchdog", "InfoInhibitor"])
async def test_always_firing_alerts_are_ignored(sqlite_database: Database, name: str) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            bot.post(**alertmanager(name, rest="none"))
            await bot.settled()
            assert (bot.runs, bot.open) == ([], [])


@pytest.mark.parametrize(
    ("rest", "least", "count"),
    [("checkout warning", "high", 0), ("checkout", "warning", 1), ("checkout", "high", 0), ("checkout critical", "critical", 1)],
)
async def test_alerts_below_the_least_severity_are_kept_and_not_looked_into(
    sqlite_database: Database, rest: str, least: str, count: int
) -> None:
    """One without a severity counts as a warning."""
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_min_severity=least) as bot:
            bot.post(**alertmanager(rest=rest))
            await bot.settled()
            assert (len(bot.runs), len(bot.open)) == (count, 1)


async def test_a_deploy_note_is_kept_as_a_change(sqlite_database: Database) -> None:
    from datetime import UTC, datetime, timedelta

    from storage.audience import Audience
    from storage.change_events import ChangeEvents

    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            bot.post(username="deploy-bot", bot_id="B0DEPLOY01", text="Deployed checkout v1.42.0 to production by ana")
            await bot.settled()
            now = datetime.now(UTC)
            found = ChangeEvents(sqlite_database).between(Audience(slack.team_id), now - timedelta(hours=1), now + timedelta(hours=1))
            assert [(one.service, one.is_private) for one in found] == [("checkout", False)]
            assert bot.runs == []


async def test_an_alert_text_that_orders_and_pings_does_neither(sqlite_database: Database) -> None:
    fixture = SHARED / "45_alertmanager_prompt_injection.json"
    if not fixture.exists():
        pytest.skip("the recorded alerts (shared/alerts) are not beside this folder")
    event = json.loads(fixture.read_text(encoding="utf-8"))["event"]
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = bot.post(**event)
            await bot.reported(ts)
            ours = [one for one in slack.messages(ALERTS) if one.get("user") == slack.bot_user_id]
            assert ours
            said = json.dumps(ours)
            assert [mark for mark in ("<!channel", "<!here", "<!everyone") if mark in said] == []
            assert {one.get("thread_ts") for one in ours} == {ts}


# ---------------------------------------------------------------- people in an alert's thread


async def test_a_mention_in_the_thread_is_a_question_with_the_alert_as_context(sqlite_database: Database) -> None:
    from bot.hearing.context import history

    with emulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            ts = bot.post()
            await bot.reported(ts)
            slack.post(ALERTS, "ana", f"{slack.mention} is order-service slow too?", thread_ts=ts)
            await slack.wait_for(lambda: len(bot.runs) == 2 and bot.parts(ts).count("answer") == 2)
            await bot.settled()
            job = bot.desk.jobs.job(bot.runs[1].run_id)
            assert (bot.runs[1].agent_flow, job.user_id) == ("CHAT", "U0ANA00001")
            told = await history(bot.desk, job, "en")
            assert "[FIRING:1] HighErrorRate (checkout critical)" in told[0].text


@pytest.mark.parametrize("words", ["", "run it", "查一下"])
async def test_a_mention_alone_runs_what_was_not_looked_into(database: Database, words: str) -> None:
    """As the thread of an alert says that there was no budget for."""
    with emulator(mention_order="any", copies=(1, 2)) as slack:
        async with alert_bot(slack, database, alert_min_severity="critical") as bot:
            ts = bot.post(**alertmanager(rest="checkout warning"))
            await slack.wait_for(lambda: bot.open and bot.open[0].not_run_reason)
            slack.post(ALERTS, "ana", f"{slack.mention} {words}", thread_ts=ts)
            await bot.reported(ts)
            [run] = bot.runs
            assert (run.agent_flow, bot.desk.jobs.job(run.run_id).user_id) == ("AI_OPS", "U0ANA00001")
            assert bot.parts(ts).count("answer") == 1
            assert slack.refused == []


async def test_a_mention_knows_of_the_alert_what_its_own_run_would(sqlite_database: Database) -> None:
    fires = {"labels": {"alertname": "HighErrorRate", "service": "till-7"}, "status": {"state": "active"}}
    with emulator() as slack, served(lambda path, query: (200, [fires])) as url:
        client = AlertmanagerClient(url)
        async with alert_bot(slack, sqlite_database, alertmanager=client, alert_min_severity="critical") as bot:
            ts = bot.post(**alertmanager(rest="checkout warning"))
            await slack.wait_for(lambda: bot.open and bot.open[0].not_run_reason)
            slack.post(ALERTS, "ana", f"{slack.mention} run it", thread_ts=ts)
            await bot.reported(ts)
            assert "till-7" in bot.runs[0].query
        await client.close()


async def test_asking_for_what_is_under_way_says_so(sqlite_database: Database) -> None:
    model = Waiting(is_open=False)
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, model) as bot:
            ts = bot.post()
            await slack.wait_for(lambda: "progress" in bot.parts(ts))
            slack.post(ALERTS, "ana", f"{slack.mention} look into it", thread_ts=ts)
            await slack.wait_for(lambda: "I am looking into it already" in slack.thread_text(ALERTS, ts))
            model.gate.set()
            await bot.reported(ts)
            assert len(bot.runs) == 1


async def test_stop_in_the_thread_stops_the_triage_and_says_so(sqlite_database: Database) -> None:
    model = Waiting(is_open=False)
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, model) as bot:
            ts = bot.post()
            await slack.wait_for(lambda: "progress" in bot.parts(ts))
            slack.post(ALERTS, "ana", f"{slack.mention} stop", thread_ts=ts)
            await slack.wait_for(lambda: bot.runs[0].status == "CANCELLED")
            await bot.settled()
            assert "answer" in bot.parts(ts) or "notice" in bot.parts(ts)


# ---------------------------------------------------------------- on trial


async def test_on_trial_the_report_stands_elsewhere_and_nothing_in_the_channel(database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, database, alert_shadow_channel="C0INCIDENT") as bot:
            ts = bot.post()
            await slack.wait_for(lambda: any(part_of(one)[0] == "answer" for one in slack.messages("incidents")))
            await bot.settled()
            [root, *_] = slack.messages("incidents")
            assert "HighErrorRate" in root["text"]
            assert bot.parts(root["ts"], "incidents").count("answer") == 1
            assert bot.parts(ts) == []
            assert slack.refused == []


async def test_a_trial_channel_that_takes_no_post_leaves_the_alerts_channel_alone(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, alert_shadow_channel="C0NOWHERE1") as bot:
            ts = bot.post()
            await slack.wait_for(lambda: slack.refused)
            await slack.wait_for(lambda: bot.open[0].not_run_reason == "no_trial_channel")
            assert (bot.runs, bot.parts(ts), bot.open[0].run_id) == ([], [], None)


def test_recorded_alerts_are_where_they_should_be() -> None:
    if not SHARED.exists():
        pytest.skip("the recorded alerts (shared/alerts) are not beside this folder")
    assert len(list(Path(SHARED).glob("*.json"))) >= 30


async def test_every_recorded_alert_passes_without_a_refused_call(sqlite_database: Database) -> None:
    if not SHARED.exists():
        pytest.skip("the recorded alerts (shared/alerts) are not beside this folder")
    with SlackEmulator() as slack:
        async with alert_bot(slack, sqlite_database) as bot:
            for file in sorted(SHARED.glob("*.json")):
                slack.send_event(json.loads(file.read_text(encoding="utf-8"))["event"])
            await bot.settled()
            assert len(bot.runs) > 5
            assert all(one.outcome != "failed" for one in slack.deliveries)


async def test_alerts_of_what_depends_on_each_other_are_one_incident(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with alert_bot(slack, sqlite_database, topology={"checkout": ("db-1",)}) as bot:
            ts = bot.post()
            await bot.reported(ts)
            bot.post(**alertmanager("DiskFull", rest="db-1 warning"))
            await bot.settled()
            other = bot.post(**alertmanager("DiskSlow", rest="db-2 warning"))
            await bot.reported(other)
            assert [(one.root_ts, one.alert_count) for one in bot.open] == [(ts, 2), (other, 1)]
