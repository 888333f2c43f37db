"""Bug reports of other bots that read an alert wrongly, answered the wrong place, or answered themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import QUESTION, Listened, serving
from slack_worker import emulator

from bot.emulator.slack import SlackEmulator
from bot.manifest import SHORTCUT

ALERTS = Path(__file__).parents[3] / "shared" / "alerts"
RECORDED = pytest.mark.skipif(not ALERTS.is_dir(), reason="the recorded alert events lie beside the clone, in shared/alerts")


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


def recorded(number: str) -> dict[str, Any]:
    (path,) = ALERTS.glob(f"{number}_*.json")
    event: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["event"]
    return event


@RECORDED
@pytest.mark.parametrize("way", ["shortcut", "mention"])
async def test_an_alert_whose_text_is_empty_is_read_from_its_attachments(
    slack: SlackEmulator, tmp_path: Path, way: str
) -> None:
    """openclaw/openclaw#27642, #76035, moazbuilds/claudeclaw#211: such an alert was dropped."""
    words = {
        "01": "HighErrorRate (checkout shop critical)",
        "21": "Request failed with status code 503",
        "27": "payments health endpoint",
        "30": "QueuePool limit of size 20 overflow 10 reached",
        "46": "ping loss 100% on gw-2",
    }
    for number, said in words.items():
        model = Listened()
        async with serving(slack, tmp_path / number, model=model) as served:
            ts = slack.post_as_bot("alerts", recorded(number))
            if way == "shortcut":
                slack.shortcut(SHORTCUT, "alerts", ts, "ana")
            else:
                served.ask("what is this?", channel="alerts", under=ts)
            await served.answer_to("alerts", ts)
            assert said in model.heard.replace("\\\\", "")


@RECORDED
@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_an_alert_at_a_threads_root_is_context_though_a_bot_posted_it(
    slack: SlackEmulator, tmp_path: Path, mode: Any
) -> None:
    """PostHog/posthog#59174, NousResearch/hermes-agent#12561: filtered out as a bot's message."""
    model = Listened()
    async with serving(slack, tmp_path, mode, model=model) as served:
        root = slack.post_as_bot("alerts", recorded("01"))
        served.ask(QUESTION, channel="alerts", under=root)
        await served.answer_to("alerts", root)
        planner = next(request for request in model.requests if request.role == "planner")
        assert "HighErrorRate (checkout shop critical)" in str(planner)


async def test_other_bots_and_the_bot_itself_start_nothing(slack: SlackEmulator, tmp_path: Path) -> None:
    """paradigmxyz/centaur#184: loops between bots, and with itself."""
    async with serving(slack, tmp_path) as served:
        said = f"{slack.mention} {QUESTION}"
        slack.post_as_bot("incidents", {"text": said, "username": "AlertManager"})
        slack.post_as_bot("incidents", {"text": said, "user": "U0SNTR0001", "bot_id": "B0SNTR0001", "app_id": "A0SNTR0001"})
        await served.bot.desk.slack.call("chat.postMessage", channel="C0INCIDENT", text=said)
        root = served.ask()
        answer = await served.answer_to("incidents", root)
        await served.bot.desk.slack.call("chat.postMessage", channel="C0INCIDENT", thread_ts=root, text=said)
        slack.post_as_bot("incidents", {"text": f"{said} {answer['text']}", "username": "Echo", "thread_ts": root})
        await served.settled()
        assert len(served.runs) == 1


async def test_each_answer_goes_to_the_thread_that_asked(slack: SlackEmulator, tmp_path: Path) -> None:
    """robusta-dev/robusta#1752: the answer went to the default channel."""
    async with serving(slack, tmp_path) as served:
        direct = slack.open_dm("ana")
        root = slack.post("alerts", "ben", "who looks at this?")
        asked = [
            ("incidents", served.ask(), None),
            ("alerts", served.ask(channel="alerts"), None),
            ("war-room", served.ask(channel="war-room"), None),
            (direct, slack.post(direct, "ana", QUESTION), None),
            ("alerts", served.ask(channel="alerts", under=root), root),
        ]
        for channel, ts, thread in asked:
            await served.answer_to(channel, thread or ts)
        for channel in ("incidents", "alerts", "war-room", "shared", direct):
            ours = [each for each in slack.messages(channel) if each.get("user") == slack.bot_user_id]
            places = {thread or ts for where, ts, thread in asked if where == channel}
            assert {each["thread_ts"] for each in ours} == places
            assert len(ours) == len(places)


@RECORDED
@pytest.mark.parametrize("number", ["11", "18"])
async def test_an_alert_that_is_edited_to_resolved_starts_nothing_and_is_read_as_it_is_now(
    slack: SlackEmulator, tmp_path: Path, number: str
) -> None:
    """keephq/keep#1511: a resolved notice may be an edit."""
    event, model = recorded(number), Listened()
    async with serving(slack, tmp_path, model=model) as served:
        ts = slack.post_as_bot("alerts", event["previous_message"])
        slack.edit("alerts", ts, None, **{name: event["message"][name] for name in ("text", "attachments")})
        await served.settled()
        assert served.runs == []
        served.ask("is it over?", channel="alerts", under=ts)
        await served.answer_to("alerts", ts)
        assert "RESOLVED" in model.heard.upper()
        assert "[FIRING" not in model.heard


@RECORDED
@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_no_recorded_event_starts_a_run_by_itself(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    """Alerts, people, joins, edits, deletions and our own posts, as Slack sends them."""
    paths = sorted(ALERTS.glob("*.json"))
    async with serving(slack, tmp_path, mode) as served:
        posts = len(slack.call_log("chat.postMessage"))
        for path in paths:
            slack.send_event(json.loads(path.read_text(encoding="utf-8"))["event"])
        await served.settled()
        assert len(slack.deliveries) == len(paths) == 30
        assert [each.outcome for each in slack.deliveries] == ["taken"] * 30
        assert {len(each.attempts) for each in slack.deliveries} == {1}
        assert served.runs == []
        assert len(slack.call_log("chat.postMessage")) == posts
        assert slack.call_log("chat.postEphemeral") == []
