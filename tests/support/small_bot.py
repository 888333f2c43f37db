"""A bot of a few lines for the page: streams a plan and an answer, opens modals, counts votes and reactions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.emulator.slack import SlackEmulator


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def button(label: str, action_id: str, value: str = "run-1", **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain(label), "action_id": action_id, "value": value, **more}


FEEDBACK = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "feedback",
            "positive_button": {"text": plain("Useful"), "value": "run-1:useful"},
            "negative_button": {"text": plain("Not useful"), "value": "run-1:not_useful"},
        }
    ],
}
BUTTONS = {
    "type": "actions",
    "elements": [
        button("Evidence", "evidence"),
        button("Form", "form"),
        {
            "type": "static_select",
            "action_id": "pick",
            "placeholder": plain("Pick a window"),
            "options": [{"text": plain("one hour"), "value": "60"}, {"text": plain("one day"), "value": "1440"}],
        },
    ],
}
FORM = {
    "type": "modal",
    "callback_id": "form",
    "title": plain("Tell more"),
    "submit": plain("Send"),
    "close": plain("Cancel"),
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": plain("What was wrong?"),
            "element": {"type": "plain_text_input", "action_id": "reason", "multiline": True},
        },
        {
            "type": "input",
            "block_id": "who",
            "optional": True,
            "label": plain("Whom to ask?"),
            "element": {"type": "users_select", "action_id": "person"},
        },
        {
            "type": "input",
            "block_id": "kind",
            "optional": True,
            "label": plain("Kind"),
            "element": {
                "type": "radio_buttons",
                "action_id": "kind",
                "options": [{"text": plain("cause"), "value": "cause"}, {"text": plain("evidence"), "value": "evidence"}],
            },
        },
    ],
}


def evidence(page: int) -> dict[str, Any]:
    text = f"*Page {page}*: `level=ERROR count=19`"
    step = button("Next", "evidence_page", "2") if page == 1 else button("Previous", "evidence_page", "1")
    return {
        "type": "modal",
        "callback_id": "evidence",
        "title": plain("Evidence"),
        "close": plain("Close"),
        "blocks": [
            {"type": "section", "text": {"type": "mrkdwn", "text": text}},
            {"type": "actions", "elements": [step, button("Deeper", "deeper")]},
        ],
    }


def note(title: str, text: str) -> dict[str, Any]:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]
    return {"type": "modal", "callback_id": "note", "title": plain(title), "close": plain("Close"), "blocks": blocks}


def made(client: AsyncWebClient, slack: SlackEmulator, heard: list[Any], go_on: threading.Event) -> AsyncApp:
    """`go_on`: the stream waits for it between its first card and the answer."""
    app = AsyncApp(client=client, signing_secret=slack.signing_secret, process_before_response=True)
    hear_talk(app, heard, go_on)
    hear_clicks(app, heard)
    hear_forms(app, heard)
    return app


def hear_talk(app: AsyncApp, heard: list[Any], go_on: threading.Event) -> None:
    works: set[asyncio.Task[None]] = set()

    async def answer(say_stream: Any) -> None:
        stream = await say_stream(task_display_mode="plan")
        await stream.append(chunks=[{"type": "plan_update", "title": "Looking"}])
        await stream.append(chunks=[task("in_progress")])
        await asyncio.to_thread(go_on.wait, 20)
        await stream.append(chunks=[task("complete", "19 lines")])
        await stream.append(markdown_text="**checkout-service** waits for ")
        await stream.append(markdown_text="`order-service`.")
        await stream.stop(blocks=[BUTTONS, FEEDBACK])

    @app.event("app_mention")
    async def on_mention(event: dict[str, Any], say_stream: Any, set_status: Any) -> None:
        heard.append(("mention", event["text"]))
        await set_status("is looking at it")
        work = asyncio.create_task(answer(say_stream))
        works.add(work)
        work.add_done_callback(works.discard)

    @app.event("message")
    async def on_message(event: dict[str, Any]) -> None:
        heard.append(("message", event.get("subtype")))

    @app.event("reaction_added")
    async def on_added(event: dict[str, Any]) -> None:
        heard.append(("added", event["reaction"]))

    @app.event("reaction_removed")
    async def on_removed(event: dict[str, Any]) -> None:
        heard.append(("removed", event["reaction"]))

    @app.event("app_home_opened")
    async def on_home(event: dict[str, Any], client: AsyncWebClient) -> None:
        blocks = [{"type": "header", "text": plain("Recent runs")}, {"type": "actions", "elements": [button("Again", "again")]}]
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})


def hear_clicks(app: AsyncApp, heard: list[Any]) -> None:
    @app.action("feedback")
    async def on_feedback(ack: Any, action: dict[str, Any], body: dict[str, Any], respond: Any) -> None:
        await ack()
        heard.append(("feedback", action["value"], body["user"]["id"]))
        await respond(text="Thank you.", replace_original=False)

    @app.action("pick")
    async def on_pick(ack: Any, action: dict[str, Any]) -> None:
        await ack()
        heard.append(("pick", action["selected_option"]["value"]))

    @app.action("again")
    async def on_again(ack: Any) -> None:
        await ack()
        heard.append(("again",))


def hear_forms(app: AsyncApp, heard: list[Any]) -> None:
    @app.action("evidence")
    async def on_evidence(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        opened = await client.views_open(trigger_id=body["trigger_id"], view=note("Evidence", "Loading …"))
        await client.views_update(view_id=opened["view"]["id"], view=evidence(1))

    @app.action("evidence_page")
    async def on_page(ack: Any, body: dict[str, Any], action: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_update(view_id=body["view"]["id"], view=evidence(int(action["value"])))

    @app.action("deeper")
    async def on_deeper(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_push(trigger_id=body["trigger_id"], view=note("Deeper", "The whole line."))

    @app.action("form")
    async def on_form(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=FORM)

    @app.view("form")
    async def on_submitted(ack: Any, view: dict[str, Any]) -> None:
        values = view["state"]["values"]
        if len(values["why"]["reason"]["value"]) < 5:
            await ack(response_action="errors", errors={"why": "Say a little more."})
            return
        await ack()
        kind = (values["kind"]["kind"]["selected_option"] or {}).get("value")
        heard.append(("form", values["why"]["reason"]["value"], values["who"]["person"]["selected_user"], kind))

    @app.command("/proofthread")
    async def on_command(ack: Any, command: dict[str, Any]) -> None:
        await ack(f"You said {command['text']}")

    @app.shortcut("diagnose_message")
    async def on_shortcut(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        heard.append(("shortcut", body["message"]["text"]))


def task(status: str, output: str | None = None) -> dict[str, Any]:
    chunk = {"type": "task_update", "id": "t1", "title": "query_logs checkout-service", "status": status}
    return chunk | {"output": output} if output else chunk


class Running:
    def __init__(self, heard: list[Any], go_on: threading.Event) -> None:
        self.heard = heard
        self.go_on = go_on


@contextmanager
def small_bot(slack: SlackEmulator) -> Iterator[Running]:
    """Runs in a thread of its own, over Socket Mode, until the block ends."""
    running = Running([], threading.Event())
    ready, end = threading.Event(), threading.Event()

    async def run() -> None:
        async with aiohttp.ClientSession() as session:
            client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, session=session)
            app = made(client, slack, running.heard, running.go_on)
            handler = AsyncSocketModeHandler(app, slack.app_token, web_client=client)
            await handler.connect_async()
            ready.set()
            await asyncio.to_thread(end.wait)
            await handler.close_async()

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="small-bot")
    thread.start()
    try:
        assert ready.wait(10), "the bot did not connect"
        yield running
    finally:
        running.go_on.set()
        end.set()
        thread.join(10)
