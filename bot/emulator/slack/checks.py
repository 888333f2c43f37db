"""What Slack refuses in a payload before it looks at anything else, and under which error code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.emulator.slack.refusals import Problem, Refused, refused_for
from bot.emulator.slack.world import World

TEXT, MARKDOWN, ALL_BLOCKS = 4_000, 12_000, 13_200
WRITES = (
    "chat.postMessage", "chat.update", "chat.postEphemeral", "chat.startStream", "chat.appendStream", "chat.stopStream",
    "views.open", "views.publish", "views.push", "views.update", "assistant.threads.setStatus",
    "assistant.threads.setSuggestedPrompts", "agents.sessions.setStatus", "agents.sessions.rename",
    "files.getUploadURLExternal", "files.completeUploadExternal",
)  # fmt: skip
CODES = {
    "text": "msg_too_long", "markdown_text": "msg_too_long", "blocks": "invalid_blocks", "chunks": "invalid_chunks",
    "attachments": "invalid_attachments", "metadata": "invalid_metadata_format",
}  # fmt: skip


def refuse_invalid(world: World, method: str, arguments: Mapping[str, Any]) -> None:
    """Lengths first, then every check of this world; raises Slack's refusal."""
    if method not in WRITES:
        return
    _refuse_long(arguments)
    # Bolt adds the team to every call; Slack takes it everywhere.
    given = {name: value for name, value in arguments.items() if name != "team_id"}
    problems = [problem for check in world.checks for problem in check(method, given)]
    if problems:
        raise refused_for(_code(problems), problems)


def _refuse_long(arguments: Mapping[str, Any]) -> None:
    if len(str(arguments.get("text") or "")) > TEXT or len(str(arguments.get("markdown_text") or "")) > MARKDOWN:
        raise Refused("msg_too_long")
    chunks = arguments.get("chunks")
    for chunk in chunks if isinstance(chunks, list) else ():
        if isinstance(chunk, dict) and len(str(chunk.get("text") or "")) > MARKDOWN:
            raise Refused("msg_too_long")
    if sum(len(text) for text in _texts(arguments.get("blocks"))) > ALL_BLOCKS:
        raise Refused("msg_blocks_too_long")


def _texts(value: Any) -> Iterator[str]:
    """Every string that a reader would see."""
    if isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, str):
                if name in ("text", "title", "alt_text"):
                    yield part
            else:
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _code(problems: list[Problem]) -> str:
    """Slack names one code: that of the first problem, or of the argument where it lies."""
    return problems[0].code or CODES.get(problems[0].pointer.strip("/").partition("/")[0], "invalid_arguments")
