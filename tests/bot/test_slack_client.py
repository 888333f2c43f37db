"""Calls to Slack: what leaves, what is repeated, and what a failure says. slack_sdk is the real one."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from slack_worker import CHANNEL, emulator

from bot.emulator.slack import SlackEmulator
from bot.slack.client import SlackAccess, SlackAway, SlackCalls, SlackRefused, open_slack
from bot.slack.pacing import Pacer


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


@pytest.fixture
async def calls(slack: SlackEmulator) -> AsyncIterator[SlackCalls]:
    access = SlackAccess(slack.bot_token, slack.api_url, timeout_seconds=5.0, post_gap=0.0, edit_gap=0.0)
    async with open_slack(access) as opened:
        yield opened


def posted(slack: SlackEmulator) -> list[dict[str, Any]]:
    return slack.messages(CHANNEL)


# ---------------------------------------------------------------- what leaves


async def test_a_payload_that_slack_would_refuse_goes_out_as_plain_text(
    slack: SlackEmulator, calls: SlackCalls, caplog: pytest.LogCaptureFixture
) -> None:
    bad = [{"type": "section", "text": {"type": "mrkdwn", "text": "the pool is empty <!channel> " + "x" * 3_000}}]
    await calls.call("chat.postMessage", channel=CHANNEL, text="hello", blocks=bad)
    (message,) = posted(slack)
    assert message["text"].startswith("hello\nthe pool is empty ‹!channel>")
    assert not message.get("blocks")
    assert "/blocks/0/text/text" in caplog.text
    assert slack.refused == []


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_too_long", "msg_blocks_too_long"])
async def test_a_payload_that_only_slack_knows_to_be_bad_goes_out_as_plain_text(
    slack: SlackEmulator, calls: SlackCalls, error: str
) -> None:
    slack.fail("chat.postMessage", error=error)
    blocks = [{"type": "section", "text": {"type": "plain_text", "text": "the pool is empty"}}]
    await calls.call("chat.postMessage", channel=CHANNEL, text="hello", blocks=blocks)
    (message,) = posted(slack)
    assert message["text"] == "hello\nthe pool is empty"


async def test_arguments_that_are_none_are_left_out(slack: SlackEmulator, calls: SlackCalls) -> None:
    await calls.call("chat.postMessage", channel=CHANNEL, text="hello", thread_ts=None, blocks=None)
    assert "thread_ts" not in slack.calls("chat.postMessage")[0]


async def test_pages_are_read_to_the_last(slack: SlackEmulator, calls: SlackCalls) -> None:
    root = slack.post(CHANNEL, "ana", "why?")
    for number in range(5):
        slack.post(CHANNEL, "ben", f"answer {number}", thread_ts=root)
    pages = calls.pages("conversations.replies", "messages", channel=CHANNEL, ts=root, limit=2)
    assert [message["text"] async for message in pages] == ["why?", *(f"answer {number}" for number in range(5))]
    assert len(slack.calls("conversations.replies")) == 3


async def test_a_proxy_for_the_world_is_not_asked_for_this_machine(
    slack: SlackEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with open_slack(SlackAccess(slack.bot_token, slack.api_url)) as calls:
        assert (await calls.identity())["team_id"] == slack.team_id


# ---------------------------------------------------------------- what fails


async def test_a_refusal_says_slacks_word(calls: SlackCalls) -> None:
    with pytest.raises(SlackRefused) as caught:
        await calls.call("chat.postMessage", channel="C0NOWHERE1", text="hello")
    assert caught.value.error == "channel_not_found"


async def test_a_post_whose_reply_is_lost_is_not_repeated(slack: SlackEmulator, calls: SlackCalls) -> None:
    slack.fail("chat.postMessage", drop_reply=True)
    with pytest.raises(SlackAway) as caught:
        await calls.call("chat.postMessage", channel=CHANNEL, text="hello")
    assert caught.value.may_have_happened
    assert len(posted(slack)) == 1


async def test_an_edit_whose_reply_is_lost_is_repeated(slack: SlackEmulator, calls: SlackCalls) -> None:
    ts = (await calls.call("chat.postMessage", channel=CHANNEL, text="hello"))["ts"]
    slack.fail("chat.update", drop_reply=True)
    await calls.call("chat.update", channel=CHANNEL, ts=ts, text="good bye")
    assert [message["text"] for message in posted(slack)] == ["good bye"]
    assert len(slack.calls("chat.update")) == 2


@pytest.mark.parametrize(
    "fault", [{"status": 503}, {"error": "internal_error"}, {"error": "fatal_error"}, {"error": "request_timeout"}]
)
async def test_of_a_server_error_nobody_knows_what_it_did(
    slack: SlackEmulator, calls: SlackCalls, fault: dict[str, Any]
) -> None:
    slack.fail("chat.postMessage", **fault)
    with pytest.raises(SlackAway) as caught:
        await calls.call("chat.postMessage", channel=CHANNEL, text="hello")
    assert caught.value.may_have_happened


async def test_where_nobody_listens_nothing_has_happened() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/api/"
        async with open_slack(SlackAccess("xoxb-1", address, failure_tries=0)) as calls:
            with pytest.raises(SlackAway) as caught:
                await calls.call("chat.postMessage", channel=CHANNEL, text="hello")
    assert not caught.value.may_have_happened


async def test_a_slow_answer_is_an_unknown_one(slack: SlackEmulator) -> None:
    slack.fail("chat.postMessage", delay=0.6, times=1)
    async with open_slack(SlackAccess(slack.bot_token, slack.api_url, timeout_seconds=0.2)) as calls:
        with pytest.raises(SlackAway) as caught:
            await calls.call("chat.postMessage", channel=CHANNEL, text="hello")
    assert caught.value.may_have_happened


async def test_a_rate_limit_is_waited_out(slack: SlackEmulator, calls: SlackCalls) -> None:
    slack.fail("chat.postMessage", retry_after=0.0, times=2)
    await calls.call("chat.postMessage", channel=CHANNEL, text="hello")
    assert len(posted(slack)) == 1
    assert len(slack.calls("chat.postMessage")) == 3


async def test_a_rate_limit_without_end_is_no_answer_and_did_nothing(slack: SlackEmulator) -> None:
    slack.fail("chat.postMessage", retry_after=0.0, times=None)
    access = SlackAccess(slack.bot_token, slack.api_url, rate_limit_tries=1)
    async with open_slack(access) as calls:
        with pytest.raises(SlackAway) as caught:
            await calls.call("chat.postMessage", channel=CHANNEL, text="hello")
    assert not caught.value.may_have_happened


# ---------------------------------------------------------------- what only makes things nicer


async def test_a_method_without_its_scope_is_asked_for_once(
    slack: SlackEmulator, calls: SlackCalls, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    slack.behaviour.scopes.discard("assistant:write")
    where = {"channel_id": CHANNEL, "thread_ts": "1.1", "status": "is looking"}
    assert await calls.optional("assistant.threads.setStatus", **where) is None
    assert await calls.optional("assistant.threads.setStatus", **where) is None
    assert len(slack.calls("assistant.threads.setStatus")) == 1
    assert "needs the scope assistant:write" in caplog.text
    assert "proofthread manifest" in caplog.text


async def test_another_refusal_is_not_held_against_the_method(slack: SlackEmulator, calls: SlackCalls) -> None:
    where = {"thread_ts": "1.1", "status": "is looking"}
    assert await calls.optional("assistant.threads.setStatus", channel_id="C0RANDOM01", **where) is None
    assert await calls.optional("assistant.threads.setStatus", channel_id=CHANNEL, **where) is not None


# ---------------------------------------------------------------- pace


async def test_turns_of_one_key_are_a_second_apart_and_those_of_others_are_not_held_up() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))

    pacer = Pacer(1.0, now=lambda: 100.0, sleep=sleep)
    for key in ("C1", "C1", "C2", "C1"):
        await pacer.turn(key)
    assert slept == [1.0, 2.0]


async def test_a_pacer_forgets_what_was_long_ago() -> None:
    now = [0.0]
    pacer = Pacer(1.0, now=lambda: now[0])
    for number in range(5_000):
        now[0] += 1.0
        await pacer.turn(f"C{number}")
    assert pacer.kept < 2_000
