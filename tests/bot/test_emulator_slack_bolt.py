"""slack_sdk and Bolt, unmodified, over HTTP and over Socket Mode, against the loopback Slack."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.emulator.slack import SlackEmulator

ALERTS = Path(__file__).parents[3] / "shared" / "alerts"
SCHEMA = Path(__file__).parent.parent / "data" / "slack_schema.json"
FEEDBACK = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "feedback",
            "positive_button": {"text": {"type": "plain_text", "text": "Useful"}, "value": "run-1:useful"},
            "negative_button": {"text": {"type": "plain_text", "text": "Not useful"}, "value": "run-1:not_useful"},
        }
    ],
}
MODAL = {
    "type": "modal",
    "callback_id": "why_not",
    "title": {"type": "plain_text", "text": "Why not?"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "What was wrong?"},
            "element": {"type": "plain_text_input", "action_id": "reason"},
        }
    ],
}


def bolt(slack: SlackEmulator, session: aiohttp.ClientSession) -> tuple[AsyncApp, list[Any]]:
    client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, session=session)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=3))
    app = AsyncApp(client=client, signing_secret=slack.signing_secret, process_before_response=True)
    heard: list[Any] = []

    @app.event("app_mention")
    async def on_mention(event: dict[str, Any], say_stream: Any, set_status: Any) -> None:
        await set_status("is looking at it", loading_messages=["Reading logs"])
        stream = await say_stream(task_display_mode="plan")
        await stream.append(
            chunks=[
                {"type": "plan_update", "title": "Looking"},
                {"type": "task_update", "id": "t1", "title": "query_logs", "status": "in_progress"},
            ]
        )
        await stream.append(markdown_text="**No** database ")
        await stream.append(
            chunks=[
                {"type": "task_update", "id": "t1", "title": "query_logs", "status": "complete", "output": "19 lines"}
            ]
        )
        await stream.stop(markdown_text="error.", blocks=[FEEDBACK])
        heard.append(("mention", event["text"]))

    @app.event("message")
    async def on_message(event: dict[str, Any]) -> None:
        heard.append(("message", event.get("subtype")))

    @app.event("reaction_added")
    async def on_reaction(event: dict[str, Any]) -> None:
        heard.append(("reaction", event["reaction"]))

    @app.action("feedback")
    async def on_feedback(ack: Any, body: dict[str, Any], action: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        heard.append(("feedback", action["value"]))
        opened = await client.views_open(trigger_id=body["trigger_id"], view=MODAL)
        await client.views_update(view_id=opened["view"]["id"], hash=opened["view"]["hash"], view=MODAL)

    @app.view("why_not")
    async def on_why(ack: Any, view: dict[str, Any]) -> None:
        reason = view["state"]["values"]["why"]["reason"]["value"]
        if len(reason) < 5:
            await ack(response_action="errors", errors={"why": "Say a little more."})
            return
        await ack()
        heard.append(("why", reason))

    @app.shortcut("diagnose_message")
    async def on_shortcut(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        heard.append(("shortcut", body["message"]["text"]))

    @app.command("/proofthread")
    async def on_command(ack: Any, command: dict[str, Any]) -> None:
        await ack(f"You said {command['text']}")
        heard.append(("command", command["text"]))

    return app, heard


@asynccontextmanager
async def connected(slack: SlackEmulator, mode: str) -> AsyncIterator[tuple[AsyncApp, list[Any]]]:
    async with aiohttp.ClientSession() as session:
        app, heard = bolt(slack, session)
        if mode == "http":
            runner = web.AppRunner(app.server(port=0).web_app)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            slack.deliver_to(f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events")
            try:
                yield app, heard
            finally:
                await runner.cleanup()
        else:
            handler = AsyncSocketModeHandler(app, slack.app_token)
            await handler.connect_async()
            await slack.wait_for(lambda: slack.sockets == 1)
            try:
                yield app, heard
            finally:
                await handler.close_async()


@pytest.mark.parametrize("mode", ["http", "socket"])
async def test_a_mention_becomes_a_stream_whose_button_opens_a_form(mode: str) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with connected(slack, mode) as (_, heard):
            root = slack.post("incidents", "ana", f"{slack.mention} why 504?")
            await slack.wait_for(lambda: len(heard) >= 2)
            answer = slack.messages("incidents", root)[-1]
            assert slack.refused == []
            assert sorted(heard, key=str) == [("mention", "<@U0BOT> why 504?"), ("message", None)]
            assert answer["streaming_state"] == "completed"
            assert answer["text"] == "**No** database error."
            assert [block["type"] for block in answer["blocks"]] == ["plan", "markdown", "context_actions"]
            assert answer["blocks"][0]["tasks"][0]["status"] == "complete"
            assert slack.status("incidents", root) == ""

            slack.click("incidents", answer["ts"], "feedback", "ana", "negative")
            view = (await slack.wait_for(lambda: len(slack.calls("views.update")) == 1 and slack.views("ana")))[-1]
            assert ("feedback", "run-1:not_useful") in heard
            slack.submit_view(view["id"], "ana", {"reason": "no"})
            await slack.wait_for(lambda: slack.views("ana")[-1].get("errors") == {"why": "Say a little more."})
            slack.submit_view(view["id"], "ana", {"reason": "the wrong service"})
            await slack.wait_for(lambda: not slack.views("ana"))
            assert ("why", "the wrong service") in heard

            slack.react("incidents", answer["ts"], "ben", "+1")
            slack.shortcut("diagnose_message", "incidents", root, "ana")
            slack.slash("/proofthread", "help", "incidents", "ana")
            await slack.wait_for(lambda: {each[0] for each in heard} >= {"reaction", "shortcut", "command"})
            await slack.wait_for(lambda: slack.ephemerals("incidents", "ana"))
            assert slack.ephemerals("incidents", "ana")[0]["text"] == "You said help"
            assert slack.refused == []
            await slack.wait_for(lambda: all(each.outcome == "taken" for each in slack.deliveries))


async def test_a_rate_limit_is_waited_for_by_the_sdk() -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.fail("chat.postMessage", retry_after=1)
        async with aiohttp.ClientSession() as session:
            app, _ = bolt(slack, session)
            await app.client.chat_postMessage(channel="C0INCIDENT", text="hello")
        assert [call.status for call in slack.call_log("chat.postMessage")] == [429, 200]
        assert [message["text"] for message in slack.messages("incidents")] == ["hello"]


async def test_a_file_is_uploaded_in_three_steps() -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        root = slack.post("incidents", "ana", "look")
        async with aiohttp.ClientSession() as session:
            app, _ = bolt(slack, session)
            await app.client.files_upload_v2(
                channel="C0INCIDENT",
                thread_ts=root,
                content="line 1\nline 2",
                filename="evidence.txt",
                title="Evidence",
            )
        reply = slack.messages("incidents", root)[-1]
        assert reply["files"][0]["title"] == "Evidence"
        assert slack.files()[0].content == b"line 1\nline 2"
        assert slack.refused == []


async def test_two_connections_share_the_events_between_them() -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.behaviour.subscriptions = {"message.channels"}
        async with connected(slack, "socket") as (_, first), aiohttp.ClientSession() as session:
            app, second = bolt(slack, session)
            handler = AsyncSocketModeHandler(app, slack.app_token)
            await handler.connect_async()
            await slack.wait_for(lambda: slack.sockets == 2)
            for number in range(40):
                slack.post("incidents", "ana", f"line {number}")
            await slack.wait_for(lambda: len(first) + len(second) == 40)
            assert len(first) > 5
            assert len(second) > 5
            await handler.close_async()
            await asyncio.sleep(0)


@pytest.mark.parametrize("how", ["abort", "close", "refresh_requested"])
async def test_bolt_comes_back_after_its_socket_is_gone(how: Any) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.behaviour.subscriptions = {"message.channels"}
        slack.behaviour.retry_delays = (0.0, 0.1, 0.2)
        async with aiohttp.ClientSession() as session:
            app, heard = bolt(slack, session)
            handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=0.2)
            await handler.connect_async()
            await slack.wait_for(lambda: slack.sockets == 1)
            slack.drop_sockets(how)
            opened = await slack.wait_for(
                lambda: len(slack.call_log("apps.connections.open")) == 2 and slack.sockets == 1
            )
            slack.post("incidents", "ana", "still there?")
            await slack.wait_for(lambda: heard == [("message", None)])
            await handler.close_async()
        assert opened


async def test_a_request_address_is_verified() -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        async with connected(slack, "http"):
            check = slack.send_payload({"type": "url_verification", "token": "loopback", "challenge": "abc"})
            await slack.wait_for(lambda: check.outcome == "taken")
            assert check.answer in ("abc", {"challenge": "abc"})


@pytest.mark.skipif(not ALERTS.is_dir(), reason="the recorded alert events lie beside the clone, in shared/alerts")
async def test_recorded_events_reach_bolt_and_its_own_message_is_filtered() -> None:
    recorded = [json.loads(path.read_text(encoding="utf-8"))["event"] for path in sorted(ALERTS.glob("*.json"))]
    own = [event for event in recorded if event.get("user") == "U0BOT"]
    with SlackEmulator() as slack:
        async with connected(slack, "http") as (_, heard):
            for event in recorded:
                slack.send_event(event)
            await slack.wait_for(lambda: {each.outcome for each in slack.deliveries} == {"taken"})
            assert len(own) == 1
            assert len(heard) == len(recorded) - 1
