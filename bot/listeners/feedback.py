"""The buttons *Useful* and *Not useful* under an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.feedback import why_not_view
from bot.buttons.clicks import Click, Denied, about, read_click, say
from bot.buttons.voting import Ballot, vote
from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        await _voted(desk, read_click(body))
        await ack()

    app.action(ids.FEEDBACK)(pressed)


async def _voted(desk: Desk, click: Click) -> None:
    found = ids.vote_of(click.value)
    if found is None:
        return
    run_id, choice = found
    try:
        subject = await about(desk, click.user, run_id, click.channel)
        await vote(desk, subject, Ballot(choice, "button", click.at))
    except Denied as error:
        say(desk, click, error.key)
        return
    if choice == "not_useful":
        view = why_not_view(run_id, desk.reader(subject.run.language))
        await desk.slack.optional("views.open", trigger_id=click.trigger_id, view=view)
