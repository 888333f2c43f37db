"""Bug reports of other bots about progress and answers that got lost, cut or refused: the whole bot must survive them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import QUESTION, Listened, Served, markdown_of, serving
from slack_worker import Incident, emulator
from small_incident import CHANGE_LINE, POOL_LINE, WAITING_LINE, ServiceInput, specs

from bot.emulator.slack import SlackEmulator
from bot.emulator.slack.reading import readable_text
from tools.contracts import CallContext, EvidenceRef, EvidenceStatus, ToolDeps, ToolResult, ToolSpec

EXPIRED = "message_not_in_streaming_state"
UGLY = "🧨 <!channel> **bold** `code` ``` العربية <https://evil.example|bank> & <@U0ANA00001> "


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


def shown(message: dict[str, Any]) -> str:
    """An answer without what differs from run to run."""
    lines = readable_text(message).splitlines()
    return "\n".join(line for line in lines if not line.startswith("model "))


def updates(slack: SlackEmulator) -> list[dict[str, Any]]:
    return slack.calls("chat.update")


def assert_whole_progress(slack: SlackEmulator) -> None:
    """The last progress that was shown names every look-up."""
    told = [markdown_of(call) for call in updates(slack) if markdown_of(call).strip()]
    assert told
    for name in ("query_logs", "query_metrics", "query_changes"):
        assert name in told[-1].replace("\\", "")


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_a_stream_that_slack_closed_ends_as_an_edit_of_its_message(
    slack: SlackEmulator, tmp_path: Path, mode: Any
) -> None:
    """slackapi/python-slack-sdk#1859, #1880, vercel/chat#637: append and stop fail after five minutes."""
    slack.stream_ttl(0)
    async with serving(slack, tmp_path, mode, model=Incident(seconds=0.3)) as served:
        ts = served.ask()
        answer = await served.answer_to("incidents", ts)
        assert len(served.ours("incidents", ts)) == 1
        assert answer["streaming_state"] != "in_progress"
        assert_whole_progress(slack)
        assert {call.error for call in slack.refused} == {EXPIRED}


async def test_a_stream_that_dies_at_any_point_loses_nothing(slack: SlackEmulator, tmp_path: Path) -> None:
    """timescale/tiger-agents-for-work#297: buffered text was lost when a stream was replaced."""
    async with serving(slack, tmp_path, model=Incident(seconds=0.25)) as served:
        whole = shown(await served.answer_to("incidents", served.ask()))
        appends = len(slack.calls("chat.appendStream"))
        assert appends >= 1
        for living in range(appends):
            slack.forget()
            for method in ("chat.appendStream", "chat.stopStream"):
                slack.fail(method, error=EXPIRED, times=None, after=living if method == "chat.appendStream" else 0)
            # What Slack refuses is over for Slack too: the message may be edited.
            slack.stream_ttl(0.5)
            ts = served.ask()
            assert shown(await served.answer_to("incidents", ts)) == whole
            assert len(served.ours("incidents", ts)) == 1
            slack.clear_faults()
            slack.stream_ttl(300)


async def test_a_stream_that_grows_too_long_rolls_over_into_one_answer(slack: SlackEmulator, tmp_path: Path) -> None:
    """paradigmxyz/centaur#418, vercel/chat#617, CopilotKit/CopilotKit#6244: msg_too_long, then truncated copies."""
    slack.behaviour.stream_total = 60
    async with serving(slack, tmp_path, model=Incident(seconds=0.3)) as served:
        ts = served.ask()
        answer = await served.answer_to("incidents", ts)
        assert "msg_too_long" in {call.error for call in slack.refused}
        assert len(served.ours("incidents", ts)) == 1
        assert "maximum-pool-size changed from 30 to 5" in shown(answer)


async def test_edits_in_place_of_a_stream_are_markdown(slack: SlackEmulator, tmp_path: Path) -> None:
    """vercel/chat#901: edits through `text` showed raw ** and were capped at 4,000 characters."""
    slack.fail("chat.startStream", error="channel_type_not_supported", times=None)
    async with serving(slack, tmp_path, model=Incident(seconds=0.5)) as served:
        await served.answer_to("incidents", served.ask())
        progress = [call for call in updates(slack) if call["metadata"]["event_payload"]["part"] == "progress"]
        assert progress
        for call in progress:
            assert markdown_of(call).strip()
            assert "**" not in call["text"]
        assert slack.refused == []


async def test_a_channel_that_takes_no_streams_gets_progress_by_edits(slack: SlackEmulator, tmp_path: Path) -> None:
    """NangoHQ/integration-templates#676: channel_type_not_supported."""
    slack.behaviour.no_streams_in = {"channel"}
    async with serving(slack, tmp_path, model=Incident(seconds=0.5)) as served:
        ts = served.ask()
        await served.answer_to("incidents", ts)
        assert {call.error for call in slack.refused} == {"channel_type_not_supported"}
        assert_whole_progress(slack)
        assert len(served.ours("incidents", ts)) == 1


async def test_an_answer_of_very_much_evidence_is_never_refused(slack: SlackEmulator, tmp_path: Path) -> None:
    """slackapi/bolt-js#2509, python-slack-sdk#1336, huggingface/peft#1251, seratch/ChatGPT-in-Slack#102: blocks,
    sections and texts over Slack's limits. The property test of the renderer is in test_blocks_properties.py."""
    async with serving(slack, tmp_path, model=Listened(seconds=0.1), tools=ugly_tools()) as served:
        threads = [served.ask(), served.ask(f"{QUESTION} {UGLY * 60}")]
        for ts in threads:
            await served.answer_to("incidents", ts, 30)
        assert slack.refused == []
        assert_quiet(served)


def ugly_tools() -> list[ToolSpec]:
    """The small incident's tools, whose lines go on for 20 kB of what Slack might take for markup."""

    async def run(arguments: ServiceInput, _: ToolDeps, __: CallContext) -> ToolResult:
        lines = [f"{line} {UGLY * 250}" for line in (POOL_LINE, WAITING_LINE, CHANGE_LINE)]
        refs = tuple(EvidenceRef(raw_path=f"$.lines[{at}]", text=line, scope={"s": UGLY}) for at, line in enumerate(lines))
        return ToolResult(payload={"lines": lines}, evidence_status=EvidenceStatus.SUPPORTED, evidence_refs=refs)

    kept = [spec for spec in specs() if spec.name != "query_logs"]
    return [ToolSpec("query_logs", f"Log lines {UGLY}", ServiceInput, run, "direct"), *kept]


def assert_quiet(served: Served) -> None:
    """Nobody was called by what a tool or a question said."""
    for message in served.slack.messages("incidents"):
        if message.get("user") == served.slack.bot_user_id:
            assert "<!channel>" not in str(message)
