"""What people do in the loopback Slack: forms, pickers, files, commands, response URLs, and the page's own API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.emulator.slack import ActRefused, Behaviour, SlackEmulator

SCHEMA = Path(__file__).parent.parent / "data" / "slack_schema.json"
CHANNEL = "C0INCIDENT"


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    behaviour = Behaviour(subscriptions=set(), ack_seconds=2.0)
    with SlackEmulator(schema=SCHEMA, behaviour=behaviour) as running:
        yield running


@pytest.fixture
async def client(slack: SlackEmulator) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, session=session)


@pytest.fixture
async def socket(slack: SlackEmulator) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {slack.app_token}"}) as http:
        async with http.post(f"{slack.api_url}apps.connections.open") as response:
            url = (await response.json())["url"]
        async with http.ws_connect(url) as ws:
            assert (await ws.receive_json())["type"] == "hello"
            yield ws


async def answered(ws: aiohttp.ClientWebSocketResponse, payload: dict[str, Any] | None = None) -> dict[str, Any]:
    """The next payload, acknowledged with `payload`."""
    envelope: dict[str, Any] = await ws.receive_json()
    await ws.send_json({"envelope_id": envelope["envelope_id"]} | ({"payload": payload} if payload else {}))
    arrived: dict[str, Any] = envelope["payload"]
    return arrived


def plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}


def button(action_id: str, value: str) -> dict[str, Any]:
    return {"type": "button", "action_id": action_id, "value": value, "text": plain(value)}


FORM = {
    "type": "modal",
    "callback_id": "form",
    "notify_on_close": True,
    "title": plain("Form"),
    "submit": plain("Send"),
    "blocks": [
        {
            "type": "input",
            "block_id": "who",
            "label": plain("Who?"),
            "element": {"type": "users_select", "action_id": "person"},
        },
        {
            "type": "input",
            "block_id": "why",
            "label": plain("Why?"),
            "element": {
                "type": "radio_buttons",
                "action_id": "reason",
                "options": [
                    {"text": plain("Wrong cause"), "value": "wrong"},
                    {"text": plain("Other"), "value": "other"},
                ],
            },
        },
        {
            "type": "input",
            "block_id": "note",
            "optional": True,
            "label": plain("Note"),
            "element": {
                "type": "plain_text_input",
                "action_id": "note",
                "initial_value": "as it was",
                "max_length": 20,
            },
        },
        {"type": "actions", "elements": [button("page", "2")]},
    ],
}


async def opened(slack: SlackEmulator, client: AsyncWebClient, ws: aiohttp.ClientWebSocketResponse) -> str:
    ts = (
        await client.chat_postMessage(
            channel=CHANNEL, text="x", blocks=[{"type": "actions", "elements": [button("a", "1")]}]
        )
    )["ts"]
    slack.click("incidents", ts, "a", "ana")
    trigger = (await answered(ws))["trigger_id"]
    return str((await client.views_open(trigger_id=trigger, view=FORM))["view"]["id"])


async def test_a_form_sends_every_field_in_slacks_form(
    slack: SlackEmulator, client: AsyncWebClient, socket: aiohttp.ClientWebSocketResponse
) -> None:
    view_id = await opened(slack, client, socket)
    slack.submit_view(view_id, "ana", {"person": "U0BEN00001", "why": "wrong"})
    sent = await answered(socket)
    values = sent["view"]["state"]["values"]
    assert sent["type"] == "view_submission"
    assert values["who"]["person"] == {"type": "users_select", "selected_user": "U0BEN00001"}
    assert values["why"]["reason"]["selected_option"]["value"] == "wrong"
    assert values["note"]["note"]["value"] == "as it was"
    await slack.wait_for(lambda: slack.views("ana") == [])


async def test_an_incomplete_form_does_not_leave_the_page(
    slack: SlackEmulator, client: AsyncWebClient, socket: aiohttp.ClientWebSocketResponse
) -> None:
    view_id = await opened(slack, client, socket)
    with pytest.raises(ActRefused, match="person"):
        slack.submit_view(view_id, "ana", {"reason": "wrong"})
    with pytest.raises(ActRefused, match="no field"):
        slack.submit_view(view_id, "ana", {"person": "U0BEN00001", "reason": "wrong", "unknown": "x"})
    with pytest.raises(ActRefused, match="20 characters"):
        slack.submit_view(view_id, "ana", {"person": "U0BEN00001", "reason": "wrong", "note": "x" * 21})
    with pytest.raises(ActRefused, match="no open view"):
        slack.submit_view(view_id, "ben", {})


async def test_an_answer_can_push_update_and_clear(
    slack: SlackEmulator, client: AsyncWebClient, socket: aiohttp.ClientWebSocketResponse
) -> None:
    view_id = await opened(slack, client, socket)
    values = {"person": "U0BEN00001", "reason": "other"}
    second = FORM | {"callback_id": "second"}
    slack.submit_view(view_id, "ana", values)
    await answered(socket, {"response_action": "push", "view": second})
    stack = await slack.wait_for(lambda: len(slack.views("ana")) == 2 and slack.views("ana"))
    assert stack[1]["previous_view_id"] == view_id
    slack.submit_view(stack[1]["id"], "ana", values)
    await answered(socket, {"response_action": "update", "view": FORM | {"callback_id": "third"}})
    await slack.wait_for(lambda: slack.views("ana")[1]["callback_id"] == "third")
    slack.submit_view(stack[1]["id"], "ana", values)
    await answered(socket, {"response_action": "clear"})
    await slack.wait_for(lambda: slack.views("ana") == [])


async def test_a_modals_button_carries_its_view_and_can_push_another(
    slack: SlackEmulator, client: AsyncWebClient, socket: aiohttp.ClientWebSocketResponse
) -> None:
    view_id = await opened(slack, client, socket)
    slack.click_view(view_id, "page", "ana")
    clicked = await answered(socket)
    await client.views_push(trigger_id=clicked["trigger_id"], view=FORM)
    assert clicked["container"] == {"type": "view", "view_id": view_id}
    assert len(slack.views("ana")) == 2
    slack.close_view(view_id, "ana")
    assert (await answered(socket))["type"] == "view_closed"
    assert slack.views("ana") == []


async def test_a_click_that_is_not_acknowledged_is_told_to_the_person_and_not_repeated(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    slack.behaviour.ack_seconds = 0.05
    ts = (
        await client.chat_postMessage(
            channel=CHANNEL, text="x", blocks=[{"type": "actions", "elements": [button("a", "1")]}]
        )
    )["ts"]
    click = slack.click("incidents", ts, "a", "ana")
    await slack.wait_for(lambda: click.outcome == "given_up")
    assert len(click.attempts) == 1


async def test_one_of_several_buttons_is_picked_by_its_value(
    slack: SlackEmulator, client: AsyncWebClient, socket: aiohttp.ClientWebSocketResponse
) -> None:
    blocks = [
        {"type": "section", "text": plain(name), "accessory": button("look_wider", name)}
        for name in ("logs", "metrics")
    ]
    ts = (await client.chat_postMessage(channel=CHANNEL, text="x", blocks=blocks))["ts"]
    slack.click("incidents", ts, "look_wider", "ana", "metrics")
    clicked = await answered(socket)
    assert clicked["actions"][0]["value"] == "metrics"
    assert clicked["container"]["message_ts"] == ts
    with pytest.raises(ActRefused, match="look_wider"):
        slack.click("incidents", ts, "nothing", "ana")


async def test_a_response_url_answers_replaces_and_deletes(
    slack: SlackEmulator, client: AsyncWebClient, socket: aiohttp.ClientWebSocketResponse
) -> None:
    ts = (
        await client.chat_postMessage(
            channel=CHANNEL, text="x", blocks=[{"type": "actions", "elements": [button("a", "1")]}]
        )
    )["ts"]
    slack.click("incidents", ts, "a", "ana")
    url = (await answered(socket))["response_url"]
    async with aiohttp.ClientSession() as http:
        for answer in ({"text": "for you"}, {"replace_original": True, "text": "done"}, {"delete_original": True}):
            async with http.post(url, json=answer) as response:
                assert response.status == 200
            if answer.get("replace_original"):
                assert [message["text"] for message in slack.messages("incidents")] == ["done"]
    assert slack.messages("incidents") == []
    assert [message["text"] for message in slack.ephemerals("incidents", "ana")] == ["for you"]


async def test_a_command_and_a_shortcut_carry_what_slack_sends(
    slack: SlackEmulator, socket: aiohttp.ClientWebSocketResponse
) -> None:
    ts = slack.post_as_bot("alerts", {"attachments": [{"title": "[FIRING:1]"}], "username": "AlertManager"})
    slack.slash("/proofthread", "ask why", "incidents", "ben")
    command = await answered(socket, {"response_type": "in_channel", "text": "here"})
    slack.shortcut("diagnose_message", "alerts", ts, "ben")
    shortcut = await answered(socket)
    assert (command["command"], command["text"], command["user_id"]) == ("/proofthread", "ask why", "U0BEN00001")
    assert shortcut["message"]["attachments"] == [{"title": "[FIRING:1]"}]
    assert shortcut["callback_id"] == "diagnose_message"
    await slack.wait_for(lambda: [message["text"] for message in slack.messages("incidents")] == ["here"])


async def test_a_persons_file_can_be_read_with_the_bots_token(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ts = slack.post("incidents", "ana", "the log", files=[{"name": "app.log", "content": "ERROR 42"}])
    message = slack.message("incidents", ts)
    assert message is not None
    url = message["files"][0]["url_private"]
    async with aiohttp.ClientSession() as http:
        async with http.get(url, headers={"Authorization": f"Bearer {slack.bot_token}"}) as response:
            assert await response.text() == "ERROR 42"
        async with http.get(url) as response:
            assert response.status == 403
    assert (await client.files_info(file=message["files"][0]["id"]))["file"]["name"] == "app.log"


async def test_the_manifest_decides_what_the_app_may_and_hears(slack: SlackEmulator) -> None:
    slack.install(
        {
            "features": {
                "shortcuts": [{"type": "message", "callback_id": "diagnose_message", "name": "Diagnose this message"}],
                "slash_commands": [{"command": "/proofthread"}],
            },
            "oauth_config": {"scopes": {"bot": ["chat:write"]}},
            "settings": {"event_subscriptions": {"bot_events": ["app_mention"]}},
        }
    )
    assert slack.behaviour.scopes == {"chat:write"}
    assert slack.behaviour.subscriptions == {"app_mention"}


async def test_the_page_reads_the_state_and_hears_of_changes(slack: SlackEmulator) -> None:
    async with aiohttp.ClientSession() as http, http.get(f"{slack.page_url}page/events") as events:
        assert (await told(events))["kind"] == "hello"
        act = {"act": "post", "channel": CHANNEL, "user": "U0ANA00001", "text": "from the page"}
        async with http.post(f"{slack.page_url}page/act", json=act) as response:
            ts = (await response.json())["ts"]
        change = await told(events)
        async with http.get(f"{slack.page_url}page/state") as response:
            state = await response.json()
    assert (change["kind"], change["message"]["ts"]) == ("message", ts)
    assert [message["ts"] for message in state["messages"][CHANNEL]] == [ts]
    assert {"ana", "ben"} <= {user["name"] for user in state["users"]}
    assert state["revision"] == change["revision"]


@pytest.mark.parametrize(
    "act",
    [
        {"act": "dance"},
        {"act": "post", "channel": "C0NOWHERE1", "user": "ana", "text": "x"},
        {"act": "click", "channel": CHANNEL, "ts": "1.000001", "action_id": "a", "user": "ana"},
        {"act": "react", "channel": CHANNEL},
    ],
)
async def test_an_act_that_cannot_be_is_answered_with_the_reason(slack: SlackEmulator, act: dict[str, Any]) -> None:
    async with aiohttp.ClientSession() as http, http.post(f"{slack.page_url}page/act", json=act) as response:
        answer = await response.json()
    assert answer["ok"] is False
    assert answer["error"]


async def test_a_thread_reads_as_plain_text(slack: SlackEmulator, client: AsyncWebClient) -> None:
    root = slack.post("incidents", "ana", "<@U0BOT> why?")
    blocks = [
        {"type": "markdown", "text": "**Because** of the pool."},
        {"type": "actions", "elements": [button("evidence", "Evidence")]},
    ]
    await client.chat_postMessage(channel=CHANNEL, thread_ts=root, text="because", blocks=blocks)
    expected = "Ana Ruiz: <@U0BOT> why?\n\nProofthread: **Because** of the pool.\n[Evidence]"
    assert slack.thread_text("incidents", root) == expected


async def told(events: aiohttp.ClientResponse) -> dict[str, Any]:
    while True:
        line = await events.content.readline()
        if line.startswith(b"data: "):
            change: dict[str, Any] = json.loads(line[6:])
            return change
