"""The arguments of the Web API methods that carry something of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.shapes.contents import ANY_VIEW, HOME, MARKDOWN_CHARS, MODAL, attachments, blocks, chunks, metadata
from bot.shapes.rules import (
    Problem,
    Rule,
    anything,
    at_least_one_of,
    boolean,
    choice,
    coded,
    listed,
    number,
    shape,
    string,
)

# The documentation says 40,000; in practice longer ones were refused with msg_too_long.
TEXT_CHARS = 4_000

CHANNEL = string()
TS = string(pattern=r"\d+\.\d+")
_LONG = {
    "text": coded("msg_too_long", string(TEXT_CHARS, low=0)),
    "markdown_text": coded("msg_too_long", string(MARKDOWN_CHARS, low=0)),
}
_CONTENT = _LONG | {"blocks": blocks("message"), "attachments": attachments}
_FACE = {"icon_emoji": string(), "icon_url": string(), "username": string()}
_PARSING = {"as_user": boolean, "link_names": boolean, "parse": choice("full", "none")}
_UNFURLS = {"unfurl_links": boolean, "unfurl_media": boolean}


def _arguments(required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None, *also: Rule) -> Rule:
    return shape(required, {"token": string()} | dict(optional or {}), *also)


# ---------------------------------------------------------------- what a message must have


def _says_something(value: object, at: str) -> Iterator[Problem]:
    if isinstance(value, Mapping) and not any(_given(value, key) for key in _CONTENT):
        yield Problem(at, "a message needs text, blocks, attachments or markdown_text", "no_text")


def _given(value: Mapping[str, object], key: str) -> bool:
    part = value.get(key)
    return bool(part.strip()) if isinstance(part, str) else bool(part)


def _markdown_alone(value: object, at: str) -> Iterator[Problem]:
    others = [key for key in ("text", "blocks", "chunks") if isinstance(value, Mapping) and value.get(key)]
    if isinstance(value, Mapping) and value.get("markdown_text") and others:
        message = f"markdown_text cannot stand beside {' or '.join(others)}"
        yield Problem(f"{at}/markdown_text", message, "markdown_text_conflict")


def _broadcast_in_thread(value: object, at: str) -> Iterator[Problem]:
    if isinstance(value, Mapping) and value.get("reply_broadcast") and not value.get("thread_ts"):
        yield Problem(f"{at}/reply_broadcast", "needs thread_ts", "invalid_arguments")


def _recipient(value: object, at: str) -> Iterator[Problem]:
    """Outside a direct message a stream must say for whom it is."""
    if isinstance(value, Mapping) and not str(value.get("channel", "")).startswith("D"):
        for key in ("recipient_user_id", "recipient_team_id"):
            if not value.get(key):
                yield Problem(f"{at}/{key}", "required outside direct messages", f"missing_{key}")


# ---------------------------------------------------------------- methods

_POST = {"channel": CHANNEL}
_STREAM = {"markdown_text": _LONG["markdown_text"], "chunks": chunks}
_PROMPT = shape({"title": string(), "message": string()})
_FILES = listed(shape({"id": string()}, {"title": string()}), 1)
_EMOJI = string(pattern=r"[a-z0-9_+'\u0080-\uffff-]+(::skin-tone-[2-6])?")
_REACTION = _arguments({"channel": CHANNEL, "timestamp": TS, "name": _EMOJI})

METHODS: dict[str, Rule] = {
    "chat.postMessage": _arguments(
        _POST,
        _CONTENT
        | _FACE
        | _PARSING
        | _UNFURLS
        | {"thread_ts": TS, "reply_broadcast": boolean, "mrkdwn": boolean, "metadata": metadata},
        _says_something,
        _markdown_alone,
        _broadcast_in_thread,
    ),
    "chat.postEphemeral": _arguments(
        _POST | {"user": string()}, _CONTENT | _FACE | _PARSING | {"thread_ts": TS}, _says_something, _markdown_alone
    ),
    "chat.update": _arguments(
        _POST | {"ts": TS},
        _CONTENT | _PARSING | {"file_ids": listed(string()), "reply_broadcast": boolean, "metadata": metadata},
        _says_something,
        _markdown_alone,
    ),
    "chat.delete": _arguments(_POST | {"ts": TS}, {"as_user": boolean}),
    "chat.startStream": _arguments(
        _POST | {"thread_ts": TS},
        _STREAM
        | _FACE
        | {
            "recipient_user_id": string(),
            "recipient_team_id": string(),
            "task_display_mode": choice("timeline", "plan"),
        },
        _markdown_alone,
        _recipient,
    ),
    "chat.appendStream": _arguments(
        _POST | {"ts": TS}, _STREAM, _markdown_alone, at_least_one_of("markdown_text", "chunks")
    ),
    "chat.stopStream": _arguments(
        _POST | {"ts": TS},
        _STREAM
        | {
            "blocks": blocks("message"),
            "metadata": metadata,
            "session_status": choice("processing", "active", "suspended", "closed"),
        },
        lambda value, at: _markdown_alone({key: part for key, part in _object(value) if key != "blocks"}, at),
    ),
    "views.open": _arguments(
        {"view": MODAL},
        {"trigger_id": string(), "interactivity_pointer": string()},
        at_least_one_of("trigger_id", "interactivity_pointer"),
    ),
    "views.push": _arguments(
        {"view": MODAL},
        {"trigger_id": string(), "interactivity_pointer": string()},
        at_least_one_of("trigger_id", "interactivity_pointer"),
    ),
    "views.update": _arguments(
        {"view": ANY_VIEW},
        {"view_id": string(), "external_id": string(), "hash": string()},
        at_least_one_of("view_id", "external_id"),
    ),
    "views.publish": _arguments({"user_id": string(), "view": HOME}, {"hash": string()}),
    "reactions.add": _REACTION,
    "reactions.remove": _REACTION,
    "files.getUploadURLExternal": _arguments(
        {"filename": string(), "length": number(1)}, {"snippet_type": string(), "alt_txt": string(1000)}
    ),
    "files.completeUploadExternal": _arguments(
        {"files": _FILES},
        {
            "channel_id": CHANNEL,
            "channels": string(),
            "thread_ts": TS,
            "initial_comment": string(TEXT_CHARS, low=0),
            "blocks": anything,
        },
    ),
    "assistant.threads.setStatus": _arguments(
        {"channel_id": CHANNEL, "thread_ts": TS, "status": string(low=0)},
        _FACE | {"loading_messages": listed(string(), 0, 10)},
    ),
    "assistant.threads.setTitle": _arguments({"channel_id": CHANNEL, "thread_ts": TS, "title": string()}),
    "assistant.threads.setSuggestedPrompts": _arguments(
        {"channel_id": CHANNEL, "prompts": listed(_PROMPT, 1, 4)}, {"thread_ts": TS, "title": string()}
    ),
    "agents.sessions.setStatus": _arguments(
        {"channel_id": CHANNEL, "status": choice("processing", "active", "suspended", "closed")},
        {"thread_ts": TS, "title": string(), "initiator_user_id": string()},
    ),
    "agents.sessions.rename": _arguments({"channel_id": CHANNEL, "title": string()}, {"thread_ts": TS}),
    "blocks.validate": _arguments(
        {},
        {
            "blocks": blocks("message"),
            "view": ANY_VIEW,
            "message": shape({}, _CONTENT | {"metadata": metadata}, _says_something, _markdown_alone),
        },
        at_least_one_of("blocks", "message", "view"),
    ),
}


def _object(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, Mapping) else []
