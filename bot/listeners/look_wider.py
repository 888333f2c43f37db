"""*Look further back*: the same question over a wider window, a run of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.buttons.again import ask_again
from bot.buttons.clicks import Click, Denied, about, read_click, say
from bot.desk import Desk
from storage.jobs import Duplicate
from storage.trace import StoredInvocation

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


TIMES_WIDER = 4
LEAST_HOURS, MOST_HOURS = 6, 168


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        await _look(desk, read_click(body))
        await ack()

    app.action(ids.LOOK_WIDER)(pressed)


async def _look(desk: Desk, click: Click) -> None:
    """One run a message, however often and by how many people the button is pressed."""
    found = ids.number_of(click.value)
    if found is None:
        return
    try:
        subject = await about(desk, click.user, found[0], click.channel)
    except Denied as error:
        say(desk, click, error.key)
        return
    calls = await desk.db.call(desk.trace.invocations, found[0])
    hours = wider_hours(calls)
    result = await ask_again(desk, subject, click.message_ts, ids.LOOK_WIDER, click.at, hours=hours)
    say(desk, click, "wider_before" if isinstance(result, Duplicate) else "wider_taken", hours=hours)


def wider_hours(calls: list[StoredInvocation]) -> int:
    """How far back to look, in hours: four times the widest window that was looked at."""
    widest = max((width for call in calls for width in _widths(call)), default=timedelta())
    return min(MOST_HOURS, max(LEAST_HOURS, round(widest * TIMES_WIDER / timedelta(hours=1))))


def _widths(call: StoredInvocation) -> list[timedelta]:
    refs = call.retrieval_details.get("evidence_refs", ())
    scopes = [ref.get("scope", {}) for ref in refs]
    windows = {(scope.get("window_from", ""), scope.get("window_to", "")) for scope in scopes}
    return [width for start, end in windows if (width := _width(start, end)) is not None]


def _width(start: str, end: str) -> timedelta | None:
    try:
        return datetime.fromisoformat(end.replace("Z", "+00:00")) - datetime.fromisoformat(start.replace("Z", "+00:00"))
    except (ValueError, TypeError):
        return None
