"""How the loopback Slack delivers: signatures, retries, order and copies over HTTP; connections and acks over sockets."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from bot.emulator.slack import Behaviour, SlackEmulator

FAST = (0.0, 0.02, 0.02)
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def receiver(answer: Answer) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/slack/events", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


class Received:
    """Keeps what arrives; answers with `statuses` in turn, then 200."""

    def __init__(self, *statuses: int, headers: dict[str, str] | None = None) -> None:
        self.statuses = list(statuses)
        self.headers = headers or {}
        self.requests: list[tuple[dict[str, str], bytes]] = []

    async def take(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((dict(request.headers), await request.read()))
        return web.Response(status=self.statuses.pop(0) if self.statuses else 200, headers=self.headers)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]


async def test_a_mention_arrives_signed_and_twice_with_ids_of_their_own() -> None:
    received = Received()
    async with receiver(received.take) as url:
        with SlackEmulator(request_url=url) as slack:
            root = slack.post("incidents", "ana", "hello")
            slack.post("incidents", "ana", "<@U0BOT> why?", thread_ts=root)
            await slack.wait_for(lambda: len(received.requests) == 3)
            secret = slack.signing_secret.encode()
    for headers, body in received.requests:
        base = f"v0:{headers['X-Slack-Request-Timestamp']}:".encode() + body
        assert headers["X-Slack-Signature"] == "v0=" + hmac.new(secret, base, hashlib.sha256).hexdigest()
    mention = next(each["event"] for each in received.events if each["event"]["type"] == "app_mention")
    said = next(each["event"] for each in received.events if each["event"].get("parent_user_id"))
    assert len({each["event_id"] for each in received.events}) == 3
    assert mention["ts"] == said["ts"]
    assert mention["thread_ts"] == root
    assert "parent_user_id" not in mention
    assert "channel_type" not in mention


async def test_a_failed_delivery_is_repeated_with_slacks_headers() -> None:
    received = Received(500, 500)
    async with receiver(received.take) as url:
        with SlackEmulator(request_url=url, behaviour=Behaviour(retry_delays=FAST)) as slack:
            slack.post("incidents", "ana", "hello")
            await slack.wait_for(lambda: slack.deliveries[0].outcome == "taken")
            assert [attempt.reason for attempt in slack.deliveries[0].attempts] == ["http_error", "http_error", ""]
    numbers = [headers.get("X-Slack-Retry-Num") for headers, _ in received.requests]
    reasons = [headers.get("X-Slack-Retry-Reason") for headers, _ in received.requests]
    assert numbers == [None, "1", "2"]
    assert reasons == [None, "http_error", "http_error"]
    assert len({each["event_id"] for each in received.events}) == 1


async def test_no_retry_is_heeded_and_three_retries_are_all() -> None:
    received = Received(500, headers={"X-Slack-No-Retry": "1"})
    failing = Received(500, 500, 500, 500)
    async with receiver(received.take) as once, receiver(failing.take) as often:
        with SlackEmulator(request_url=once, behaviour=Behaviour(retry_delays=FAST)) as slack:
            slack.post("incidents", "ana", "hello")
            await slack.wait_for(lambda: slack.deliveries[0].outcome == "given_up")
            slack.deliver_to(often)
            slack.post("incidents", "ana", "hello again")
            await slack.wait_for(lambda: slack.deliveries[1].outcome == "given_up")
    assert (len(received.requests), len(failing.requests)) == (1, 4)


async def test_a_slow_answer_is_a_timeout() -> None:
    async def slow(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with receiver(slow) as url:
        behaviour = Behaviour(ack_seconds=0.05, retry_delays=())
        with SlackEmulator(request_url=url, behaviour=behaviour) as slack:
            slack.post("incidents", "ana", "hello")
            await slack.wait_for(lambda: slack.deliveries[0].outcome == "given_up")
            assert slack.deliveries[0].attempts[0].reason == "http_timeout"


@pytest.mark.parametrize(("order", "first"), [("app_mention_first", "app_mention"), ("message_first", "message")])
async def test_the_order_of_a_mentions_two_events_can_be_set(order: Any, first: str) -> None:
    received = Received()
    async with receiver(received.take) as url:
        behaviour = Behaviour(mention_order=order, mention_gap=(0.05, 0.05))
        with SlackEmulator(request_url=url, behaviour=behaviour) as slack:
            slack.post("incidents", "ana", "<@U0BOT> why?")
            await slack.wait_for(lambda: len(received.requests) == 2)
    assert received.events[0]["event"]["type"] == first


async def test_each_event_can_come_several_times_at_several_processes() -> None:
    one, two = Received(), Received()
    async with receiver(one.take) as first, receiver(two.take) as second:
        with SlackEmulator(request_url=[first, second], behaviour=Behaviour(copies=(3, 3), jitter=(0, 0.05))) as slack:
            slack.post("incidents", "ana", "hello")
            await slack.wait_for(lambda: len(one.requests) + len(two.requests) == 3)
    ids = {each["event_id"] for each in one.events + two.events}
    assert len(ids) == 1
    assert one.requests
    assert two.requests


async def test_only_what_the_app_subscribed_to_and_can_see_is_delivered() -> None:
    received = Received()
    async with receiver(received.take) as url:
        with SlackEmulator(request_url=url) as slack:
            slack.post("random", "ana", "<@U0BOT> not there")
            slack.behaviour.subscriptions = {"app_mention"}
            slack.post("incidents", "ana", "not to the bot")
            slack.post("incidents", "ana", "<@U0BOT> here")
            await slack.wait_for(lambda: received.requests)
            assert [each.payload["event"]["type"] for each in slack.deliveries] == ["app_mention"]


async def test_edits_deletions_and_reactions_are_told() -> None:
    received = Received()
    async with receiver(received.take) as url:
        with SlackEmulator(request_url=url) as slack:
            alert = slack.post_as_bot("alerts", {"username": "AlertManager", "attachments": [{"title": "[FIRING:1]"}]})
            slack.edit("alerts", alert, None, attachments=[{"title": "[RESOLVED]"}])
            slack.react("alerts", alert, "ana", "+1")
            slack.behaviour.with_item_user = False
            slack.unreact("alerts", alert, "ana", "+1")
            slack.delete("alerts", alert)
            slack.open_home("ana")
            await slack.wait_for(lambda: len(received.requests) == 6)
            events = [each.payload["event"] for each in slack.deliveries]
    assert [event.get("subtype") or event["type"] for event in events] == [
        "bot_message",
        "message_changed",
        "reaction_added",
        "reaction_removed",
        "message_deleted",
        "app_home_opened",
    ]
    assert events[1]["previous_message"]["attachments"] == [{"title": "[FIRING:1]"}]
    assert "thread_ts" not in events[2]
    assert events[2]["item"] == {"type": "message", "channel": "C0ALERTS01", "ts": alert}


async def test_a_socket_that_does_not_acknowledge_gets_the_event_again() -> None:
    behaviour = Behaviour(ack_seconds=0.2, retry_delays=FAST, subscriptions={"message.channels"})
    with SlackEmulator(behaviour=behaviour) as slack:
        async with socket(slack) as ws:
            hello = await ws.receive_json()
            slack.post("incidents", "ana", "hello")
            first, second = await ws.receive_json(), await ws.receive_json()
            await ws.send_json({"envelope_id": second["envelope_id"]})
            await slack.wait_for(lambda: slack.deliveries[0].outcome == "taken")
    assert hello["type"] == "hello"
    assert hello["num_connections"] == 1
    assert (first["retry_attempt"], second["retry_attempt"]) == (0, 1)
    assert second["retry_reason"] == "timeout"
    assert first["envelope_id"] != second["envelope_id"]
    assert first["payload"]["event_id"] == second["payload"]["event_id"]


async def test_an_event_waits_for_a_socket_and_survives_its_end() -> None:
    behaviour = Behaviour(retry_delays=FAST, subscriptions={"message.channels"})
    with SlackEmulator(behaviour=behaviour) as slack:
        slack.post("incidents", "ana", "hello")
        async with socket(slack) as ws:
            assert (await ws.receive_json())["type"] == "hello"
            assert (await ws.receive_json())["payload"]["event"]["text"] == "hello"
            assert slack.drop_sockets() == 1
            assert (await ws.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
        async with socket(slack) as again:
            assert (await again.receive_json())["type"] == "hello"
            envelope = await again.receive_json()
            await again.send_json({"envelope_id": envelope["envelope_id"]})
            await slack.wait_for(lambda: slack.deliveries[0].outcome == "taken")
        assert envelope["retry_attempt"] >= 1


async def test_sockets_are_pinged_and_answer_pings_until_they_stall() -> None:
    with SlackEmulator(behaviour=Behaviour(ping_seconds=0.05)) as slack:
        async with socket(slack, autoping=False) as ws:
            assert (await ws.receive_json())["type"] == "hello"
            assert (await ws.receive()).type is aiohttp.WSMsgType.PING
            await ws.ping(b"mine")
            while (message := await ws.receive()).type is not aiohttp.WSMsgType.PONG:
                assert message.type is aiohttp.WSMsgType.PING
            assert message.data == b"mine"


async def test_disconnect_messages_are_sent_and_an_eleventh_socket_is_too_many() -> None:
    with SlackEmulator(behaviour=Behaviour(max_sockets=1)) as slack:
        async with socket(slack) as ws:
            assert (await ws.receive_json())["type"] == "hello"
            async with socket(slack) as eleventh:
                assert await eleventh.receive_json() == {"type": "disconnect", "reason": "too_many_websockets"}
            slack.drop_sockets("refresh_requested")
            assert (await ws.receive_json())["reason"] == "refresh_requested"


async def test_sockets_are_refused_for_a_while() -> None:
    with SlackEmulator() as slack:
        slack.refuse_sockets(60)
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {slack.app_token}"}) as http:
            async with http.post(f"{slack.api_url}apps.connections.open") as response:
                assert (await response.json())["error"] == "internal_error"
            slack.clear_faults()
            async with http.post(f"{slack.api_url}apps.connections.open") as response:
                assert (await response.json())["ok"] is True


@asynccontextmanager
async def socket(slack: SlackEmulator, **options: Any) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {slack.app_token}"}) as http:
        async with http.post(f"{slack.api_url}apps.connections.open") as response:
            url = (await response.json())["url"]
        async with http.ws_connect(url, **options) as ws:
            yield ws


async def test_the_end_cuts_off_what_is_under_way_and_leaves_no_task_behind() -> None:
    slack = SlackEmulator()
    async with aiohttp.ClientSession() as session, slack:
        slack.fail("api.test", delay=600)
        asking = asyncio.create_task(session.post(f"{slack.api_url}api.test"))
        await slack.wait_for(lambda: bool(_unfinished(slack)))
    with pytest.raises(aiohttp.ClientError):
        await asking
    assert _unfinished(slack) == []


def _unfinished(slack: SlackEmulator) -> list[str]:
    names = [repr(task.get_coro()) for task in asyncio.all_tasks(slack._loop) if not task.done()]
    return [name for name in names if "_handle_request" in name or "RequestHandler" in name]
