"""Streamed messages of the loopback Slack: how they grow, who may read along, when Slack closes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.emulator.slack import SlackEmulator

SCHEMA = Path(__file__).parent.parent / "data" / "slack_schema.json"
CHANNEL = "C0INCIDENT"
FOR_ANA = {"recipient_user_id": "U0ANA00001", "recipient_team_id": "T0EMU"}


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator(schema=SCHEMA) as running:
        yield running


@pytest.fixture
async def client(slack: SlackEmulator) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, session=session)


async def error_of(call: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


def task(status: str, **more: Any) -> dict[str, Any]:
    return {"type": "task_update", "id": "t1", "title": f"look ({status})", "status": status, **more}


async def started(slack: SlackEmulator, client: AsyncWebClient, **more: Any) -> tuple[str, str]:
    root = slack.post("incidents", "ana", "why?")
    stream = await client.chat_startStream(channel=CHANNEL, thread_ts=root, **(FOR_ANA | more))
    return root, stream["ts"]


async def test_a_task_changes_its_title_and_gathers_its_details(slack: SlackEmulator, client: AsyncWebClient) -> None:
    _, ts = await started(slack, client, task_display_mode="plan")
    await client.chat_appendStream(channel=CHANNEL, ts=ts, chunks=[task("in_progress", details="read a. ")])
    await client.chat_appendStream(channel=CHANNEL, ts=ts, chunks=[task("complete", details="read b.")])
    await client.chat_appendStream(channel=CHANNEL, ts=ts, markdown_text="Found.")
    shown = slack.message("incidents", ts)
    assert shown is not None
    plan, markdown = shown["blocks"]
    card = plan["tasks"][0]
    assert (card["title"], card["status"]) == ("look (complete)", "complete")
    assert card["details"]["elements"][0]["elements"][0]["text"] == "read a. read b."
    assert markdown["text"] == "Found."
    assert shown["streaming_state"] == "in_progress"


async def test_a_timeline_keeps_tasks_and_text_in_order(slack: SlackEmulator, client: AsyncWebClient) -> None:
    _, ts = await started(slack, client, markdown_text="First. ")
    await client.chat_appendStream(channel=CHANNEL, ts=ts, chunks=[task("in_progress")])
    stopped = await client.chat_stopStream(channel=CHANNEL, ts=ts, chunks=[{"type": "markdown_text", "text": "Then."}])
    assert [block["type"] for block in stopped["message"]["blocks"]] == ["markdown", "task_card", "markdown"]
    assert stopped["message"]["text"] == "First. Then."


@pytest.mark.parametrize("missing", ["recipient_user_id", "recipient_team_id"])
async def test_a_stream_in_a_channel_needs_a_recipient(
    slack: SlackEmulator, client: AsyncWebClient, missing: str
) -> None:
    root = slack.post("incidents", "ana", "why?")
    call = client.chat_startStream(
        channel=CHANNEL, thread_ts=root, **{k: v for k, v in FOR_ANA.items() if k != missing}
    )
    assert await error_of(call) == f"missing_{missing}"
    dm = slack.open_dm("ana")
    asked = slack.post(dm, "ana", "why?")
    assert (await client.chat_startStream(channel=dm, thread_ts=asked))["ok"] is True


async def test_a_kind_of_channel_can_have_no_streams(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.behaviour.no_streams_in = {"channel"}
    root = slack.post("incidents", "ana", "why?")
    call = client.chat_startStream(channel=CHANNEL, thread_ts=root, **FOR_ANA)
    assert await error_of(call) == "channel_type_not_supported"


async def test_an_expired_stream_takes_nothing_more_but_can_be_edited(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    _, ts = await started(slack, client, markdown_text="so far")
    assert await error_of(client.chat_update(channel=CHANNEL, ts=ts, text="x")) == "streaming_state_conflict"
    slack.stream_ttl(0)
    append = client.chat_appendStream(channel=CHANNEL, ts=ts, markdown_text="more")
    assert await error_of(append) == "message_not_in_streaming_state"
    assert await error_of(client.chat_stopStream(channel=CHANNEL, ts=ts)) == "message_not_in_streaming_state"
    await client.chat_update(channel=CHANNEL, ts=ts, markdown_text="the whole text")
    shown = slack.message("incidents", ts)
    assert shown is not None
    assert (shown["text"], shown["streaming_state"]) == ("the whole text", "errored")


async def test_a_stream_that_grows_too_long_is_refused_and_keeps_what_it_had(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    slack.behaviour.stream_text = 10
    _, ts = await started(slack, client, markdown_text="12345678")
    assert await error_of(client.chat_appendStream(channel=CHANNEL, ts=ts, markdown_text="9ab")) == "msg_too_long"
    stopped = await client.chat_stopStream(channel=CHANNEL, ts=ts, markdown_text="9a")
    assert stopped["message"]["text"] == "123456789a"


async def test_text_and_chunks_do_not_go_together(slack: SlackEmulator, client: AsyncWebClient) -> None:
    _, ts = await started(slack, client)
    both = client.chat_appendStream(channel=CHANNEL, ts=ts, markdown_text="x", chunks=[task("complete")])
    assert await error_of(both) != ""
    bad = client.chat_appendStream(channel=CHANNEL, ts=ts, chunks=[{"type": "task_update", "id": "t1"}])
    assert await error_of(bad) in ("invalid_chunks", "invalid_arguments")


async def test_stop_pressed_by_a_person_ends_the_stream_and_tells_the_app(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    root, ts = await started(slack, client, markdown_text="so far")
    slack.stop("incidents", root, "ana")
    assert await error_of(client.chat_appendStream(channel=CHANNEL, ts=ts, markdown_text="more")) == "stopped_by_user"
    told = [
        each.payload["event"] for each in slack.deliveries if each.payload["event"]["type"] == "agent_session_stopped"
    ]
    assert (told[0]["thread_ts"], told[0]["streaming_message_ts"]) == (root, [ts])


async def test_an_end_of_a_stream_is_a_changed_message(slack: SlackEmulator, client: AsyncWebClient) -> None:
    _, ts = await started(slack, client, markdown_text="so far")
    await client.chat_stopStream(channel=CHANNEL, ts=ts)
    events = [each.payload["event"] for each in slack.deliveries]
    changed = [event for event in events if event.get("subtype") == "message_changed" and event["message"]["ts"] == ts]
    started_as = [event for event in events if event.get("ts") == ts and "subtype" not in event]
    assert started_as[0]["streaming_state"] == "in_progress"
    assert [event["message"]["streaming_state"] for event in changed] == ["completed"]
