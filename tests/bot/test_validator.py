"""Every limit of Slack that neither its SDK nor its schema checks, and the shapes that they do."""

from __future__ import annotations

from typing import Any

import pytest
from slack_schema import block_problems

from bot.slack.validator import check, refusal

TS = "1700000000.000100"


def section(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain("Evidence"), "action_id": "evidence", "value": "run-1", **more}


def feedback(**more: Any) -> dict[str, Any]:
    return {
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": {"text": plain("Useful"), "value": "run-1:useful"},
        "negative_button": {"text": plain("Not useful"), "value": "run-1:not_useful"},
        **more,
    }


def rich(text: str = "line") -> dict[str, Any]:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}]}


def task(**more: Any) -> dict[str, Any]:
    return {"type": "task_card", "task_id": "t1", "title": "query_logs", "status": "complete", "output": rich(), **more}


def table(rows: int = 2, cells: int = 2) -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * cells] * rows}


def posted(*blocks: Any, **more: Any) -> list[tuple[str, str]]:
    problems = check("chat.postMessage", {"channel": "C1", "blocks": list(blocks), "text": "fallback", **more})
    return [(problem.pointer, problem.code) for problem in problems]


def opened(view: dict[str, Any]) -> list[str]:
    return [problem.pointer for problem in check("views.open", {"trigger_id": "1.2", "view": view})]


def modal(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"type": "modal", "title": plain("Evidence"), "blocks": list(blocks or [section()]), **more}


GOOD_BLOCKS = [
    section(accessory=button()),
    {"type": "section", "fields": [{"type": "mrkdwn", "text": "x" * 1200}] * 10},
    {"type": "header", "text": plain("x" * 150)},
    {"type": "divider"},
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "footer"}]},
    {"type": "actions", "elements": [button(), button(action_id="trace")]},
    {"type": "context_actions", "elements": [feedback()]},
    {"type": "markdown", "text": "**x**"},
    {"type": "plan", "title": "Diagnosing", "tasks": [task(), task(task_id="t2", status="pending")]},
    task(),
    rich(),
    table(),
    {"type": "container", "title": plain("Evidence"), "child_blocks": [section()], "is_collapsible": True},
    {"type": "card", "title": {"type": "mrkdwn", "text": "x" * 150}, "body": {"type": "mrkdwn", "text": "y" * 200}},
    {"type": "image", "alt_text": "graph", "image_url": "https://example.org/a.png"},
]


@pytest.mark.parametrize("block", GOOD_BLOCKS, ids=lambda block: str(block["type"]))
def test_a_well_formed_block_passes(block: dict[str, Any]) -> None:
    assert posted(block) == []
    assert block_problems([block]) == []


BAD_BLOCKS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown type": ({"type": "sektion"}, "/blocks/0/type"),
    "no type": ({"text": "x"}, "/blocks/0/type"),
    "section without text": ({"type": "section"}, "/blocks/0"),
    "section 3001": (section("x" * 3001), "/blocks/0/text/text"),
    "section of emoji counted in UTF-16": (section("\N{FIRE}" * 1501), "/blocks/0/text/text"),
    "empty section": (section(""), "/blocks/0/text/text"),
    "blank section": (section(" \n"), "/blocks/0/text/text"),
    "text is a string": ({"type": "section", "text": "x"}, "/blocks/0/text"),
    "header 151": ({"type": "header", "text": plain("x" * 151)}, "/blocks/0/text/text"),
    "header with mrkdwn": ({"type": "header", "text": {"type": "mrkdwn", "text": "x"}}, "/blocks/0/text/type"),
    "markdown with an object": ({"type": "markdown", "text": plain("x")}, "/blocks/0/text"),
    "markdown 12001": ({"type": "markdown", "text": "x" * 12001}, "/blocks/0/text"),
    "11 fields": ({"type": "section", "fields": [plain("x")] * 11}, "/blocks/0/fields"),
    "field 2001": ({"type": "section", "fields": [plain("x" * 2001)]}, "/blocks/0/fields/0/text"),
    "context element 3001": ({"type": "context", "elements": [plain("x" * 3001)]}, "/blocks/0/elements/0/text"),
    "11 context elements": ({"type": "context", "elements": [plain("x")] * 11}, "/blocks/0/elements"),
    "26 actions": (
        {"type": "actions", "elements": [button(action_id=str(number)) for number in range(26)]},
        "/blocks/0/elements",
    ),
    "button text 76": (section(accessory=button(text=plain("x" * 76))), "/blocks/0/accessory/text/text"),
    "button value 2001": (section(accessory=button(value="x" * 2001)), "/blocks/0/accessory/value"),
    "action_id 256": (section(accessory=button(action_id="x" * 256)), "/blocks/0/accessory/action_id"),
    "script url": (section(accessory=button(url="javascript:alert(1)")), "/blocks/0/accessory/url"),
    "extra key": (section(colour="red"), "/blocks/0/colour"),
    "feedback_buttons in actions": ({"type": "actions", "elements": [feedback()]}, "/blocks/0/elements/0/type"),
    "button in context_actions": ({"type": "context_actions", "elements": [button()]}, "/blocks/0/elements/0/type"),
    "6 context_actions": (
        {"type": "context_actions", "elements": [feedback(action_id=str(number)) for number in range(6)]},
        "/blocks/0/elements",
    ),
    "feedback text 76": (
        {"type": "context_actions", "elements": [feedback(positive_button={"text": plain("x" * 76), "value": "v"})]},
        "/blocks/0/elements/0/positive_button/text/text",
    ),
    "same action_id twice": ({"type": "actions", "elements": [button(), button()]}, "/blocks/0/elements/1/action_id"),
    "icon other than trash": (
        {"type": "context_actions", "elements": [{"type": "icon_button", "icon": "star", "text": plain("x")}]},
        "/blocks/0/elements/0/icon",
    ),
    "alert in a message": ({"type": "alert", "text": plain("x")}, "/blocks/0/type"),
    "task output is a string": (task(output="found"), "/blocks/0/output"),
    "pending task outside a plan": (task(status="pending"), "/blocks/0/status"),
    "task status": (task(status="done"), "/blocks/0/status"),
    "51 tasks": (
        {"type": "plan", "title": "x", "tasks": [task(task_id=str(number)) for number in range(51)]},
        "/blocks/0/tasks",
    ),
    "same task twice": ({"type": "plan", "title": "x", "tasks": [task(), task()]}, "/blocks/0/tasks/1/task_id"),
    "markdown in a container": (
        {"type": "container", "title": plain("x"), "child_blocks": [{"type": "markdown", "text": "x"}]},
        "/blocks/0/child_blocks/0/type",
    ),
    "card body 201": ({"type": "card", "body": {"type": "mrkdwn", "text": "x" * 201}}, "/blocks/0/body/text"),
    "table 101 rows": (table(rows=101), "/blocks/0/rows"),
    "table 21 cells": (table(cells=21), "/blocks/0/rows/0"),
    "empty rich text": (rich(""), "/blocks/0/elements/0/elements/0/text"),
    "rich text of nothing": ({"type": "rich_text", "elements": []}, "/blocks/0/elements"),
}


@pytest.mark.parametrize(("block", "pointer"), BAD_BLOCKS.values(), ids=BAD_BLOCKS)
def test_a_bad_block_is_named_by_its_pointer(block: dict[str, Any], pointer: str) -> None:
    assert (pointer, "invalid_blocks") in posted(block)


def test_fifty_blocks_pass_and_one_more_does_not() -> None:
    assert posted(*[section()] * 50) == []
    assert posted(*[section()] * 51) == [("/blocks", "invalid_blocks")]


def test_markdown_is_counted_over_the_whole_message() -> None:
    assert posted({"type": "markdown", "text": "x" * 6000}, {"type": "markdown", "text": "x" * 6000}) == []
    assert posted({"type": "markdown", "text": "x" * 6000}, {"type": "markdown", "text": "x" * 6001}) == [
        ("/blocks", "invalid_blocks")
    ]


def test_all_blocks_together_have_a_limit_of_their_own() -> None:
    assert posted(*[section("x" * 2600)] * 5) == []
    assert posted(*[section("x" * 2601)] * 5) == [("/blocks", "msg_blocks_too_long")]


def test_a_block_id_may_stand_once_also_inside_a_container() -> None:
    inside = {"type": "container", "title": plain("x"), "child_blocks": [section(block_id="a")]}
    assert posted(section(block_id="a"), section(block_id="b")) == []
    assert posted(section(block_id="a"), inside) == [("/blocks/1/child_blocks/0/block_id", "invalid_blocks")]


def test_a_second_table_is_refused() -> None:
    assert posted(table(), table()) == [("/blocks/1", "only_one_table_allowed")]


def test_rows_of_a_table_are_as_wide_as_the_first() -> None:
    uneven = table()
    uneven["rows"] = [uneven["rows"][0], uneven["rows"][0][:1]]
    assert posted(uneven) == [("/blocks/0/rows/1", "invalid_blocks")]


def test_every_problem_is_reported_not_only_the_first() -> None:
    assert [pointer for pointer, _ in posted(section(""), section("x" * 3001), {"type": "x"})] == [
        "/blocks/0/text/text",
        "/blocks/1/text/text",
        "/blocks/2/type",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"text": "x" * 4000}, []),
        ({"text": "x" * 4001}, [("/text", "msg_too_long")]),
        ({"markdown_text": "x" * 12000}, []),
        ({"markdown_text": "x" * 12001}, [("/markdown_text", "msg_too_long")]),
        ({"markdown_text": "x", "text": "x"}, [("/markdown_text", "markdown_text_conflict")]),
        ({"markdown_text": "x", "blocks": [section()]}, [("/markdown_text", "markdown_text_conflict")]),
        ({}, [("", "no_text")]),
        ({"text": "  "}, [("", "no_text")]),
        ({"text": "x", "thread_ts": "now"}, [("/thread_ts", "invalid_arguments")]),
        ({"text": "x", "reply_broadcast": True}, [("/reply_broadcast", "invalid_arguments")]),
        ({"text": "x", "unfurl": False}, [("/unfurl", "invalid_arguments")]),
        ({"text": "x", "unfurl_links": "0"}, []),
        ({"blocks": "[{"}, [("/blocks", "invalid_blocks"), ("", "no_text")]),
        ({"blocks": '[{"type": "divider"}]'}, []),
        ({"text": "x", "attachments": [{"text": "x"}] * 101}, [("/attachments", "invalid_attachments")]),
        ({"text": "x", "attachments": [{"blocks": [section("")]}]}, [("/attachments/0/blocks/0/text/text", "invalid_attachments")]),
        ({"text": "x", "metadata": {"event_type": "answer", "event_payload": {"run_id": "run-1"}}}, []),
        ({"text": "x", "metadata": {"event_payload": {}}}, [("/metadata/event_type", "invalid_metadata_format")]),
        ({"text": "x", "metadata": {"event_type": "a", "event_payload": {"x": "y" * 8000}}}, [("/metadata", "metadata_too_large")]),
    ],
)  # fmt: skip
def test_the_arguments_of_a_post_are_checked(arguments: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    problems = check("chat.postMessage", {"channel": "C1", **arguments})
    assert [(problem.pointer, problem.code) for problem in problems] == expected


@pytest.mark.parametrize(
    ("method", "arguments", "pointers"),
    [
        ("chat.postMessage", {"text": "x"}, ["/channel"]),
        ("chat.update", {"channel": "C1", "text": "x"}, ["/ts"]),
        ("chat.update", {"channel": "C1", "ts": TS, "markdown_text": "x"}, []),
        ("chat.postEphemeral", {"channel": "C1", "text": "x"}, ["/user"]),
        ("chat.startStream", {"channel": "D1", "thread_ts": TS}, []),
        ("chat.startStream", {"channel": "C1", "thread_ts": TS}, ["/recipient_user_id", "/recipient_team_id"]),
        ("chat.startStream", {"channel": "D1", "thread_ts": TS, "task_display_mode": "list"}, ["/task_display_mode"]),
        ("chat.appendStream", {"channel": "C1", "ts": TS}, [""]),
        ("chat.appendStream", {"channel": "C1", "ts": TS, "markdown_text": "x", "chunks": [{"type": "plan_update", "title": "x"}]}, ["/markdown_text"]),
        ("chat.stopStream", {"channel": "C1", "ts": TS, "blocks": [section()] * 51}, ["/blocks"]),
        ("chat.stopStream", {"channel": "C1", "ts": TS, "markdown_text": "x", "blocks": [section()]}, []),
        ("views.open", {"view": modal()}, [""]),
        ("views.publish", {"user_id": "U1", "view": {"type": "home", "blocks": []}}, []),
        ("views.publish", {"user_id": "U1", "view": modal()}, ["/view/type", "/view/title"]),
        ("views.update", {"view_id": "V1", "view": {"type": "panel"}}, ["/view/type"]),
        ("reactions.add", {"channel": "C1", "timestamp": TS, "name": "thumbsup::skin-tone-3"}, []),
        ("reactions.add", {"channel": "C1", "timestamp": TS, "name": ":thumbsup:"}, ["/name"]),
        ("files.getUploadURLExternal", {"filename": "answer.txt", "length": "12"}, []),
        ("files.getUploadURLExternal", {"filename": "answer.txt", "length": 0}, ["/length"]),
        ("files.completeUploadExternal", {"files": [], "channel_id": "C1"}, ["/files"]),
        ("assistant.threads.setStatus", {"channel_id": "C1", "thread_ts": TS, "status": ""}, []),
        ("assistant.threads.setSuggestedPrompts", {"channel_id": "D1", "prompts": [{"title": "a", "message": "b"}] * 5}, ["/prompts"]),
        ("agents.sessions.setStatus", {"channel_id": "C1", "status": "done"}, ["/status"]),
        ("blocks.validate", {"blocks": [section("")]}, ["/blocks/0/text/text"]),
        ("users.info", {"whatever": 1}, []),
    ],
)  # fmt: skip
def test_the_arguments_of_a_method_are_checked(method: str, arguments: dict[str, Any], pointers: list[str]) -> None:
    assert [problem.pointer for problem in check(method, arguments)] == pointers


@pytest.mark.parametrize(
    ("chunk", "pointers"),
    [
        ({"type": "markdown_text", "text": " "}, []),
        ({"type": "markdown_text", "text": "x" * 12000}, []),
        ({"type": "markdown_text", "text": "x" * 12001}, ["/chunks/0/text", "/chunks"]),
        ({"type": "plan_update", "title": ""}, ["/chunks/0/title"]),
        ({"type": "task_update", "id": "1", "title": "x", "status": "complete", "output": "found"}, []),
        ({"type": "task_update", "id": "1", "title": "x", "status": "complete", "output": rich()}, ["/chunks/0/output"]),
        ({"type": "task_update", "id": "1", "title": "x" * 257, "status": "complete"}, ["/chunks/0/title"]),
        ({"type": "task_update", "id": "1", "title": "x"}, ["/chunks/0/status"]),
        ({"type": "blocks", "blocks": [section("")]}, ["/chunks/0/blocks/0/text/text"]),
        ({"type": "text"}, ["/chunks/0/type"]),
    ],
)
def test_a_chunk_of_a_stream_is_checked(chunk: dict[str, Any], pointers: list[str]) -> None:
    problems = check("chat.appendStream", {"channel": "C1", "ts": TS, "chunks": [chunk]})
    assert [problem.pointer for problem in problems] == pointers


def test_a_modal_is_held_to_its_own_limits() -> None:
    assert opened(modal(private_metadata="x" * 3000, callback_id="evidence", close=plain("Close"))) == []
    assert opened(modal(title=plain("x" * 25))) == ["/view/title/text"]
    assert opened(modal(private_metadata="x" * 3001)) == ["/view/private_metadata"]
    assert opened(modal(*[section()] * 100)) == []
    assert opened(modal(*[section()] * 101)) == ["/view/blocks"]
    assert opened(modal({"type": "alert", "text": plain("x"), "level": "warning"})) == []
    assert opened(modal({"type": "context_actions", "elements": [feedback()]})) == ["/view/blocks/0/type"]


def test_a_modal_that_asks_something_needs_a_submit_button() -> None:
    asking = {"type": "input", "label": plain("Why?"), "element": {"type": "plain_text_input", "action_id": "why"}}
    assert opened(modal(asking)) == ["/view/submit"]
    assert opened(modal(asking, submit=plain("Send"))) == []
    focused = asking | {"element": {"type": "plain_text_input", "focus_on_load": True}}
    assert opened(modal(focused, focused, submit=plain("Send"))) == ["/view"]


def test_a_refusal_has_the_form_of_slacks_own() -> None:
    problems = check("chat.postMessage", {"channel": "C1", "text": "x", "blocks": [section(), section("")]})
    assert refusal(problems) == {
        "ok": False,
        "error": "invalid_blocks",
        "errors": ["must be more than 0 characters [json-pointer:/blocks/1/text/text]"],
        "response_metadata": {
            "messages": ["[ERROR] must be more than 0 characters [json-pointer:/blocks/1/text/text]"]
        },
    }
