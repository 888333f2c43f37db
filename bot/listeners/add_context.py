"""*Add context*: what a person knows, or a pasted log, becomes a tool call of a new run, so that it can be quoted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.gaps import add_context_view
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.buttons.again import ask_again
from bot.buttons.clicks import Denied, Fill, Subject, about, note_view, open_modal, read_click
from bot.desk import Desk
from bot.jobs import RequestRefused
from tools.contracts import Addition

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        found = ids.number_of(click.value)
        if found is not None:
            await open_modal(desk, click, found[0], _form(found[1], click.message_ts))
        await ack()

    async def submitted(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        reader = desk.reader(desk.shown_language(body))
        try:
            added = await _added(desk, str(body["user"]["id"]), body["view"])
        except (Denied, RequestRefused) as error:
            said = desk.says(reader.language, error.key) if isinstance(error, Denied) else str(error)
            await ack(response_action="update", view=note_view(reader, said))
            return
        if added:
            await ack()
        else:
            await ack(response_action="errors", errors={"context": desk.says(reader.language, "nothing_added")})

    app.action(ids.ADD_CONTEXT)(pressed)
    app.view(ids.ADD_CONTEXT)(submitted)


def _form(gap: int, message_ts: str) -> Fill:
    async def form(subject: Subject, reader: Reader) -> View:
        return add_context_view(subject.run.run_id, gap, subject.gap(gap), reader, message_ts=message_ts)

    return form


async def _added(desk: Desk, user: str, view: Mapping[str, Any]) -> bool:
    """False where nothing was written. One run a form, however often it is sent."""
    carried, values = ids.carried_by(view), view.get("state", {}).get("values", {})
    text = (values.get("context", {}).get("context", {}).get("value") or "").strip()
    if not text:
        return False
    subject = await about(desk, user, str(carried.get("run_id") or ""))
    now = desk.place.clock()
    addition = Addition(text=text, by=subject.person.name or subject.person.id, at=now)
    ts, key = str(carried.get("message_ts") or ""), str(view.get("id") or "")
    await ask_again(desk, subject, ts, ids.ADD_CONTEXT, now, key=key, additions=(addition,))
    return True
