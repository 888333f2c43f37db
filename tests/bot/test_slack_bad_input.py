"""What a person sees when a question, a click or Slack itself is not as it should be: through the whole bot."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from served import LEAD, QUESTION, serving
from slack_worker import Incident, emulator

from bot.emulator.slack import SlackEmulator
from bot.purging import purge_old

MODES = pytest.mark.parametrize("mode", ["socket", "http"])


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


@MODES
async def test_a_mention_without_words_is_told_what_can_be_asked(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    async with serving(slack, tmp_path, mode) as served:
        threads = [served.ask(words) for words in ("", "  ", "\u200b\ufeff")]
        await slack.wait_for(lambda: all(served.ours("incidents", ts) for ts in threads))
        await served.settled()
        for ts in threads:
            (reply,) = served.ours("incidents", ts)
            assert reply["text"] == served.bot.desk.usage("en")
        assert served.runs == []


@MODES
async def test_a_file_alone_is_told_that_files_are_not_read(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    async with serving(slack, tmp_path, mode) as served:
        ts = slack.post("incidents", "ana", slack.mention, files=[{"name": "app.log", "content": "ERROR"}])
        await slack.wait_for(lambda: served.ours("incidents", ts))
        await served.settled()
        (reply,) = served.ours("incidents", ts)
        assert "file" in reply["text"].lower()
        assert served.runs == []


async def test_forty_kilobytes_of_text_are_answered_and_the_cut_is_told(slack: SlackEmulator, tmp_path: Path) -> None:
    async with serving(slack, tmp_path) as served:
        ts = served.ask(f"{QUESTION} " + "ERROR pool timeout 连接 🧨\n" * 1_600)
        await served.answer_to("incidents", ts)
        (remark,) = [each for each in served.ours("incidents", ts) if each not in served.answers("incidents", ts)]
        assert "8,000" in remark["text"] or "8000" in remark["text"]
        assert len(served.runs[0].query) <= 8_000
        assert slack.refused == []


async def test_a_channel_that_is_archived_meanwhile_answers_the_asker_directly(
    slack: SlackEmulator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = Incident(waits_in="verifier")
    async with serving(slack, tmp_path, model=model) as served:
        served.ask()
        await model.waiting.wait()
        slack.archive("incidents")
        model.gate.set()
        direct = slack.open_dm("ana")
        await slack.wait_for(lambda: slack.messages(direct), 20)
        await served.settled()
        assert LEAD.split(" of ")[0] in str(slack.messages(direct))
        assert any("is_archived" in record.message for record in caplog.records if record.levelno >= logging.ERROR)


@pytest.mark.parametrize(
    ("user", "channel", "settings"),
    [
        ("ana", "incidents", {"slack_channels": ("C0ALERTS01",)}),
        ("guest", "incidents", {}),
        ("stranger", "shared", {}),
        ("ben", "incidents", {"slack_users": ("U0ANA00001",)}),
    ],
)
async def test_whoever_may_not_ask_is_told_alone(
    slack: SlackEmulator, tmp_path: Path, user: str, channel: str, settings: dict[str, Any]
) -> None:
    async with serving(slack, tmp_path, **settings) as served:
        ts = served.ask(channel=channel, user=user)
        await slack.wait_for(lambda: slack.ephemerals(channel, user))
        await served.settled()
        assert len(slack.ephemerals(channel, user)) == 1
        assert (served.runs, served.ours(channel, ts)) == ([], [])


@MODES
async def test_a_question_that_is_edited_meanwhile_is_answered_once(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    model = Incident(waits_in="verifier")
    async with serving(slack, tmp_path, mode, model=model) as served:
        ts = served.ask()
        await model.waiting.wait()
        slack.edit("incidents", ts, "ana", f"{slack.mention} {QUESTION} And payments?")
        model.gate.set()
        await served.answer_to("incidents", ts)
        assert len(served.runs) == 1


@MODES
async def test_a_question_that_is_deleted_meanwhile_is_stopped(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    model = Incident(waits_in="verifier")
    async with serving(slack, tmp_path, mode, model=model) as served:
        ts = served.ask()
        await model.waiting.wait()
        slack.delete("incidents", ts, "ana")
        await slack.wait_for(lambda: served.runs[0].status == "CANCELLED", 20)
        await served.settled()
        assert served.bot.alive()


async def test_a_form_that_is_sent_after_its_run_is_gone_says_so(slack: SlackEmulator, tmp_path: Path) -> None:
    async with serving(slack, tmp_path, retention_days=1) as served:
        answer = await served.answer_to("incidents", served.ask())
        slack.click("incidents", answer["ts"], "feedback", "ana", "negative")
        (view,) = await slack.wait_for(lambda: slack.views("ana"))
        await served.settled()
        await purge_old(served.bot.app, datetime.now(UTC) + timedelta(days=3))
        assert served.runs == []
        slack.submit_view(view["id"], "ana", {"reason": "other", "note": "wrong pool"})
        (told,) = await slack.wait_for(lambda: [each for each in slack.views("ana") if each["callback_id"] != "why_not"])
        assert "no longer" in str(told) or "gone" in str(told)
        slack.click("incidents", answer["ts"], "evidence", "ana")
        await slack.wait_for(lambda: all(each.outcome == "taken" for each in slack.deliveries))
        assert slack.refused == []


async def test_a_vote_on_a_message_that_is_no_answer_changes_nothing(slack: SlackEmulator, tmp_path: Path) -> None:
    async with serving(slack, tmp_path) as served:
        ts = served.ask()
        await served.answer_to("incidents", ts)
        hello = served.ask("hello")
        (reply,) = await slack.wait_for(lambda: served.ours("incidents", hello))
        for message in (ts, hello, reply["ts"]):
            slack.react("incidents", message, "ana", "+1")
        await served.settled()
        run = served.runs[0]
        assert served.bot.desk.feedback.votes(run.run_id) == []
        assert served.bot.desk.cases.list() == []


async def test_a_spell_of_rate_limits_delays_the_answer_and_loses_nothing(slack: SlackEmulator, tmp_path: Path) -> None:
    """A few seconds of it; benchmarks/slack_outage.py has the minute."""
    async with serving(slack, tmp_path) as served:
        for method in ("chat.postMessage", "chat.update", "chat.startStream", "chat.appendStream", "chat.stopStream"):
            slack.fail(method, retry_after=1, times=3)
        threads = [served.ask() for _ in range(2)]
        await slack.wait_for(lambda: all(served.answers("incidents", ts) for ts in threads), 60)
        await served.settled(60)
        assert [len(served.answers("incidents", ts)) for ts in threads] == [1, 1]


@MODES
async def test_while_slack_is_away_nothing_is_lost(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    slack.behaviour.ack_seconds, slack.behaviour.retry_delays = 2.0, (0.5, 3.0, 8.0)
    model = Incident(waits_in="verifier")
    async with serving(slack, tmp_path, mode, model=model) as served:
        running = served.ask()
        await model.waiting.wait()
        slack.away(4)
        model.gate.set()
        await slack.wait_for(lambda: served.runs[0].status == "SUCCESS")
        assert served.answers("incidents", running) == []
        asked = served.ask()
        await slack.wait_for(lambda: served.answers("incidents", running) and served.answers("incidents", asked), 60)
        await served.settled(60)
        for ts in (running, asked):
            assert len(served.answers("incidents", ts)) == 1
        assert len(served.runs) == 2


@MODES
async def test_a_click_on_what_nobody_knows_is_taken(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    async with serving(slack, tmp_path, mode) as served:
        answer = await served.answer_to("incidents", served.ask())
        event = {"type": "block_actions", "user": {"id": "U0ANA00001", "team_id": slack.team_id}, "trigger_id": "1.2.x",
                 "channel": {"id": "C0INCIDENT"}, "message": {"ts": answer["ts"]}, "team": {"id": slack.team_id},
                 "container": {"type": "message", "message_ts": answer["ts"], "channel_id": "C0INCIDENT"}}  # fmt: skip
        for action, value in (("evidence", "no-such-run"), ("trace", ""), ("feedback", "x"), ("look_wider", "x:y"),
                              ("add_context", "no-such-run:0"), ("stop", "no-such-run"), ("unheard_of", "1"),
                              ("evidence_next", "no-such-run:99"), ("ask_someone", ":1"), ("edit_case", "none")):  # fmt: skip
            payload = {**event, "actions": [{"type": "button", "action_id": action, "block_id": "b", "value": value,
                                             "action_ts": "1796040349.3"}]}  # fmt: skip
            slack.send_interaction(payload)
        await slack.wait_for(lambda: all(each.outcome != "pending" for each in slack.deliveries))
        assert {each.outcome for each in slack.clicks} == {"taken"}
        await served.settled()
        assert served.bot.alive()
