"""What the loopback Slack's Web API takes and what it refuses, in Slack's form."""

from __future__ import annotations

import json
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


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator(schema=SCHEMA) as running:
        yield running


@pytest.fixture
async def client(slack: SlackEmulator) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, session=session)


async def refusal(call: Any) -> dict[str, Any]:
    with pytest.raises(SlackApiError) as caught:
        await call
    answer: dict[str, Any] = caught.value.response.data
    return answer


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def modal(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "modal", "title": {"type": "plain_text", "text": "Evidence"}, "blocks": list(blocks), **more}


async def test_arguments_may_stand_in_the_query_the_form_or_the_body(slack: SlackEmulator) -> None:
    blocks = json.dumps([section("hello")])
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {slack.bot_token}"}) as http:
        for sent in (
            http.post(f"{slack.api_url}chat.postMessage", params={"channel": CHANNEL, "text": "a", "blocks": blocks}),
            http.post(f"{slack.api_url}chat.postMessage", data={"channel": CHANNEL, "text": "b", "blocks": blocks}),
            http.post(
                f"{slack.api_url}chat.postMessage?channel={CHANNEL}", json={"text": "c", "blocks": [section("hello")]}
            ),
            http.get(f"{slack.api_url}chat.postMessage", params={"channel": CHANNEL, "text": "d", "blocks": blocks}),
        ):
            async with sent as response:
                assert (await response.json())["ok"] is True
    posted = slack.messages("incidents")
    assert [message["text"] for message in posted] == ["a", "b", "c", "d"]
    assert all(message["blocks"][0]["text"]["text"] == "hello" for message in posted)
    assert len({message["blocks"][0]["block_id"] for message in posted}) == 4


@pytest.mark.parametrize(
    ("token", "error"), [(None, "not_authed"), ("xoxb-wrong", "invalid_auth"), ("app", "not_allowed_token_type")]
)
async def test_a_wrong_token_is_refused(slack: SlackEmulator, token: str | None, error: str) -> None:
    given = slack.app_token if token == "app" else token
    async with aiohttp.ClientSession() as session:
        stranger = AsyncWebClient(token=given, base_url=slack.api_url, session=session)
        assert (await refusal(stranger.auth_test()))["error"] == error


async def test_a_revoked_token_is_refused(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.revoke(slack.bot_token)
    assert (await refusal(client.auth_test()))["error"] == "token_revoked"


async def test_the_granted_scopes_stand_in_a_header_and_a_missing_one_is_named(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    slack.behaviour.scopes.discard("reactions:write")
    headers = (await client.auth_test()).headers
    ts = slack.post("incidents", "ana", "hello")
    answer = await refusal(client.reactions_add(channel=CHANNEL, timestamp=ts, name="eyes"))
    assert "reactions:write" not in headers["X-OAuth-Scopes"]
    assert answer["error"] == "missing_scope"
    assert answer["needed"] == "reactions:write"
    assert "chat:write" in answer["provided"]


@pytest.mark.parametrize(
    ("channel", "error"),
    [
        ("C0NOWHERE1", "channel_not_found"),
        ("C0RANDOM01", "not_in_channel"),
        ("C0ARCHIVED", "is_archived"),
        ("G0SECRET01", "channel_not_found"),
    ],
)
async def test_a_channel_that_the_bot_cannot_post_to_is_refused(
    slack: SlackEmulator, client: AsyncWebClient, channel: str, error: str
) -> None:
    slack.add_channel("secret", id="G0SECRET01", kind="group", members=["ana"], bot=False)
    assert (await refusal(client.chat_postMessage(channel=channel, text="hi")))["error"] == error
    assert [call.error for call in slack.refused] == [error]


async def test_invalid_blocks_are_named_with_their_pointer(client: AsyncWebClient) -> None:
    answer = await refusal(
        client.chat_postMessage(channel=CHANNEL, text="x", blocks=[section("ok"), section("y" * 3001)])
    )
    assert answer["error"] == "invalid_blocks"
    assert "[json-pointer:/blocks/1/text" in answer["errors"][0]
    assert answer["response_metadata"]["messages"][0].startswith("[ERROR] ")


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "nonsense"}],
        [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
        [section("same", block_id="b"), section("same", block_id="b")],
        [{"type": "alert", "text": {"type": "mrkdwn", "text": "only in modals"}, "level": "info"}],
        [section("x")] * 51,
        [{"type": "context_actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "x"}}]}],
        [{"type": "section"}],
    ],
)
async def test_blocks_that_slack_does_not_take_are_refused(
    client: AsyncWebClient, blocks: list[dict[str, Any]]
) -> None:
    assert (await refusal(client.chat_postMessage(channel=CHANNEL, text="x", blocks=blocks)))[
        "error"
    ] == "invalid_blocks"


async def test_too_much_text_is_refused(client: AsyncWebClient) -> None:
    long_blocks = [section("y" * 2900) for _ in range(5)]
    assert (await refusal(client.chat_postMessage(channel=CHANNEL, text="x" * 4001)))["error"] == "msg_too_long"
    assert (await refusal(client.chat_postMessage(channel=CHANNEL, markdown_text="x" * 12_001)))[
        "error"
    ] == "msg_too_long"
    answer = await refusal(client.chat_postMessage(channel=CHANNEL, text="x", blocks=long_blocks))
    assert answer["error"] == "msg_blocks_too_long"
    assert (await refusal(client.api_call("chat.postMessage", json={"channel": CHANNEL})))["error"] == "no_text"


async def test_an_edit_with_text_alone_takes_the_blocks_away(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ts = (await client.chat_postMessage(channel=CHANNEL, text="a", blocks=[section("a")]))["ts"]
    await client.chat_update(channel=CHANNEL, ts=ts, text="b")
    assert "blocks" not in slack.messages("incidents")[0]
    await client.chat_update(channel=CHANNEL, ts=ts, markdown_text="**c**")
    edited = slack.messages("incidents")[0]
    assert edited["blocks"][0] | {"block_id": ""} == {"type": "markdown", "text": "**c**", "block_id": ""}
    await client.chat_delete(channel=CHANNEL, ts=ts)
    assert slack.messages("incidents") == []


async def test_only_its_own_messages_can_be_changed_by_the_bot(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ts = slack.post("incidents", "ana", "mine")
    assert (await refusal(client.chat_update(channel=CHANNEL, ts=ts, text="no")))["error"] == "cant_update_message"
    assert (await refusal(client.chat_delete(channel=CHANNEL, ts=ts)))["error"] == "cant_delete_message"
    assert (await refusal(client.chat_update(channel=CHANNEL, ts="1.000001", text="no")))[
        "error"
    ] == "message_not_found"


async def test_a_thread_is_read_with_its_root_and_metadata_only_when_asked(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    root = slack.post("incidents", "ana", "why?")
    slack.post("incidents", "ben", "me too", thread_ts=root)
    metadata = {"event_type": "proofthread_answer", "event_payload": {"run_id": "r1", "part": 1}}
    answer = await client.chat_postMessage(channel=CHANNEL, thread_ts=root, text="because", metadata=metadata)
    plain = await client.conversations_replies(channel=CHANNEL, ts=root)
    whole = await client.conversations_replies(channel=CHANNEL, ts=answer["ts"], include_all_metadata=True)
    history = await client.conversations_history(channel=CHANNEL)
    assert [message["text"] for message in plain["messages"]] == ["why?", "me too", "because"]
    assert "metadata" not in plain["messages"][2]
    assert whole["messages"][2]["metadata"] == metadata
    assert plain["messages"][0]["reply_count"] == 2
    assert [message["text"] for message in history["messages"]] == ["why?"]
    assert (await refusal(client.conversations_replies(channel=CHANNEL, ts="1.000001")))["error"] == "thread_not_found"


async def test_a_long_thread_comes_in_pages(slack: SlackEmulator, client: AsyncWebClient) -> None:
    root = slack.post("incidents", "ana", "0")
    for number in range(1, 5):
        slack.post("incidents", "ana", str(number), thread_ts=root)
    first = await client.conversations_replies(channel=CHANNEL, ts=root, limit=3)
    second = await client.conversations_replies(
        channel=CHANNEL, ts=root, limit=3, cursor=first["response_metadata"]["next_cursor"]
    )
    assert [message["text"] for message in [*first["messages"], *second["messages"]]] == ["0", "1", "2", "3", "4"]
    assert (first["has_more"], second["has_more"]) == (True, False)


async def test_a_deleted_root_leaves_a_tombstone_and_its_thread(slack: SlackEmulator, client: AsyncWebClient) -> None:
    root = slack.post("incidents", "ana", "why?")
    await client.chat_postMessage(channel=CHANNEL, thread_ts=root, text="because")
    slack.delete("incidents", root, "ana")
    found = (await client.conversations_replies(channel=CHANNEL, ts=root))["messages"]
    assert [message.get("subtype") for message in found] == ["tombstone", None]


async def test_who_is_who(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ben = (await client.users_info(user="U0BEN00001", include_locale=True))["user"]
    stranger = (await client.users_info(user="U0OTHER001"))["user"]
    direct = (await client.conversations_open(users="U0ANA00001"))["channel"]["id"]
    named = (await client.conversations_list(types="public_channel,private_channel"))["channels"]
    assert (ben["tz"], ben["locale"]) == ("Asia/Shanghai", "zh-CN")
    assert stranger["team_id"] != slack.team_id
    assert (await client.auth_test())["bot_id"] == slack.bot_id
    assert (await client.bots_info(bot=slack.bot_id))["bot"]["user_id"] == slack.bot_user_id
    assert (await client.team_info())["team"]["id"] == slack.team_id
    assert direct == slack.open_dm("ana")
    assert (await client.conversations_info(channel=direct))["channel"]["user"] == "U0ANA00001"
    assert {channel["name"] for channel in named} == {"incidents", "alerts", "random", "war-room", "shared", "archived"}
    assert (await refusal(client.users_info(user="U0NOBODY01")))["error"] == "user_not_found"


async def test_a_reaction_counts_once_a_person(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ts = slack.post("incidents", "ana", "hello")
    await client.reactions_add(channel=CHANNEL, timestamp=ts, name="eyes")
    slack.react("incidents", ts, "ben", "eyes")
    answer = await refusal(client.reactions_add(channel=CHANNEL, timestamp=ts, name="eyes"))
    found = (await client.reactions_get(channel=CHANNEL, timestamp=ts))["message"]["reactions"]
    assert answer["error"] == "already_reacted"
    assert found == [{"name": "eyes", "users": [slack.bot_user_id, "U0BEN00001"], "count": 2}]
    await client.reactions_remove(channel=CHANNEL, timestamp=ts, name="eyes")
    assert (await refusal(client.reactions_remove(channel=CHANNEL, timestamp=ts, name="eyes")))[
        "error"
    ] == "no_reaction"


async def test_an_ephemeral_message_is_in_no_history(slack: SlackEmulator, client: AsyncWebClient) -> None:
    await client.chat_postEphemeral(channel=CHANNEL, user="U0ANA00001", text="only you")
    assert slack.messages("incidents") == []
    assert [message["text"] for message in slack.ephemerals("incidents", "ana")] == ["only you"]
    outsider = client.chat_postEphemeral(channel="C0ALERTS01", user="U0GUEST001", text="x")
    assert (await refusal(outsider))["error"] == "user_not_in_channel"


async def test_status_session_and_prompts_are_shown_and_a_post_ends_the_status(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    root = slack.post("incidents", "ana", "why?")
    await client.assistant_threads_setStatus(channel_id=CHANNEL, thread_ts=root, status="is reading logs")
    await client.agents_sessions_setStatus(channel_id=CHANNEL, thread_ts=root, status="processing", title="504")
    await client.agents_sessions_rename(channel_id=CHANNEL, thread_ts=root, title="504s")
    dm = slack.open_dm("ana")
    await client.assistant_threads_setSuggestedPrompts(channel_id=dm, prompts=[{"title": "t", "message": "m"}])
    assert slack.status("incidents", root) == "is reading logs"
    session = slack.session("incidents", root)
    assert session is not None
    assert (session["status"], session["title"]) == ("processing", "504s")
    assert slack.prompts(dm) == [{"title": "t", "message": "m"}]
    await client.chat_postMessage(channel=CHANNEL, thread_ts=root, text="because")
    assert slack.status("incidents", root) == ""


async def test_a_permalink_leads_into_the_thread(slack: SlackEmulator, client: AsyncWebClient) -> None:
    root = slack.post("incidents", "ana", "why?")
    reply = slack.post("incidents", "ben", "me too", thread_ts=root)
    link = (await client.chat_getPermalink(channel=CHANNEL, message_ts=reply))["permalink"]
    assert link.endswith(f"/archives/{CHANNEL}/p{reply.replace('.', '')}?thread_ts={root}&cid={CHANNEL}")


async def test_a_trigger_opens_one_modal_within_its_time(slack: SlackEmulator, client: AsyncWebClient) -> None:
    button = {"type": "button", "action_id": "evidence", "text": {"type": "plain_text", "text": "Evidence"}}
    actions = {"type": "actions", "elements": [button]}
    message = await client.chat_postMessage(channel=CHANNEL, text="x", blocks=[actions])
    trigger = slack.click("incidents", message["ts"], "evidence", "ana").payload["trigger_id"]
    view = (await client.views_open(trigger_id=trigger, view=modal(section("loading"))))["view"]
    pushed = slack.views("ana")
    assert [each["id"] for each in pushed] == [view["id"]]
    again = client.views_open(trigger_id=trigger, view=modal(section("again")))
    assert (await refusal(again))["error"] == "exchanged_trigger_id"
    slack.behaviour.trigger_seconds = -1
    late = slack.click("incidents", message["ts"], "evidence", "ana").payload["trigger_id"]
    assert (await refusal(client.views_open(trigger_id=late, view=modal(section("x")))))[
        "error"
    ] == "expired_trigger_id"
    unknown = client.views_open(trigger_id="nonsense", view=modal(section("x")))
    assert (await refusal(unknown))["error"] == "invalid_trigger_id"


async def test_a_view_is_updated_by_hash_and_is_gone_once_closed(slack: SlackEmulator, client: AsyncWebClient) -> None:
    home = {"type": "home", "blocks": [section("1")]}
    first = (await client.views_publish(user_id="U0ANA00001", view=home))["view"]
    second = (await client.views_publish(user_id="U0ANA00001", view=home, hash=first["hash"]))["view"]
    stale = client.views_publish(user_id="U0ANA00001", view=home, hash=first["hash"])
    assert (await refusal(stale))["error"] == "hash_conflict"
    assert first["id"] == second["id"]
    button = {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "A"}}
    ts = (await client.chat_postMessage(channel=CHANNEL, text="x", blocks=[section("x", accessory=button)]))["ts"]
    trigger = slack.click("incidents", ts, "a", "ben").payload["trigger_id"]
    view = (await client.views_open(trigger_id=trigger, view=modal(section("x"), external_id="e1")))["view"]
    await client.views_update(external_id="e1", view=modal(section("y")))
    slack.close_view(view["id"], "ben")
    gone = client.views_update(view_id=view["id"], view=modal(section("z")))
    assert (await refusal(gone))["error"] == "not_found"


async def test_blocks_validate_names_what_is_wrong(client: AsyncWebClient) -> None:
    assert (await client.blocks_validate(blocks=[section("fine")]))["errors"] == []
    answer = await refusal(client.blocks_validate(blocks=[section("x" * 3001)]))
    assert answer["errors"][0]["pointer"].startswith("/blocks/0/text")


async def test_an_unknown_method_is_refused(client: AsyncWebClient) -> None:
    assert (await refusal(client.api_call("chat.sing")))["error"] == "unknown_method"


async def test_injected_faults_hit_as_told_and_do_not_count_as_refusals(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    slack.fail("chat.postMessage", error="internal_error", after=1, times=1)
    await client.chat_postMessage(channel=CHANNEL, text="1")
    assert (await refusal(client.chat_postMessage(channel=CHANNEL, text="2")))["error"] == "internal_error"
    await client.chat_postMessage(channel=CHANNEL, text="3")
    slack.fail("*", status=503, times=None)
    assert (await refusal(client.auth_test()))["error"] == "service_unavailable"
    slack.clear_faults()
    await client.auth_test()
    assert [message["text"] for message in slack.messages("incidents")] == ["1", "3"]
    assert slack.refused == []


async def test_a_lost_reply_leaves_the_message_posted(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.fail("chat.postMessage", drop_reply=True)
    client.retry_handlers.clear()
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=CHANNEL, text="once")
    assert [message["text"] for message in slack.messages("incidents")] == ["once"]


async def test_slack_can_be_away_for_a_while(slack: SlackEmulator, client: AsyncWebClient) -> None:
    client.retry_handlers.clear()
    slack.away(60)
    with pytest.raises(aiohttp.ClientError):
        await client.auth_test()
    slack.clear_faults()
    assert (await client.auth_test())["ok"] is True


async def test_posts_come_too_fast_when_limits_are_on(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.behaviour.rate_limits = True
    for number in range(3):
        await client.chat_postMessage(channel=CHANNEL, text=str(number))
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=CHANNEL, text="3")
    assert caught.value.response.status_code == 429
    assert int(caught.value.response.headers["Retry-After"]) >= 1
