"""A thumb under any message of an answer is a vote; taken away, the vote is withdrawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.buttons.clicks import Denied, about
from bot.buttons.voting import Ballot, choice_of, vote, withdraw
from bot.desk import Desk
from bot.slack.incoming import instant

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


def register(app: AsyncApp, desk: Desk) -> None:
    async def added(event: Mapping[str, Any]) -> None:
        await _reacted(desk, event, withdrawn=False)

    async def removed(event: Mapping[str, Any]) -> None:
        await _reacted(desk, event, withdrawn=True)

    app.event("reaction_added")(added)
    app.event("reaction_removed")(removed)


async def _reacted(desk: Desk, event: Mapping[str, Any], *, withdrawn: bool) -> None:
    """Other signs, and messages that are no answers, mean nothing to us; nor do people who may not ask."""
    choice = choice_of(str(event.get("reaction") or ""), check_marks=desk.settings.check_mark_votes)
    item: Mapping[str, Any] = event.get("item") or {}
    user, channel, ts = str(event.get("user") or ""), str(item.get("channel") or ""), str(item.get("ts") or "")
    if choice is None or not (user and channel and ts) or user == desk.bot.user_id:
        return
    run_id = await desk.db.call(desk.jobs.run_of_message, channel, ts)
    if run_id is None:
        return
    ballot = Ballot(choice, "reaction", instant(str(event.get("event_ts") or "")))
    try:
        subject = await about(desk, user, run_id, channel)
        await (withdraw if withdrawn else vote)(desk, subject, ballot)
    except Denied:
        return
