"""Why an answer was not useful: a form, opened after the vote, and what was written into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.feedback import REASONS, why_not_view
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.buttons.clicks import GONE, Denied, Subject, about, note_view, open_modal, read_click
from bot.desk import Desk
from storage.errors import RunNotFound

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        await open_modal(desk, click, click.value, _form)
        await ack()

    async def submitted(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        failed = await _stored(desk, str(body["user"]["id"]), body["view"])
        if failed is None:
            await ack()
        else:
            reader = desk.reader(desk.shown_language(body))
            await ack(response_action="update", view=note_view(reader, desk.says(reader.language, failed)))

    app.action(ids.WHY_NOT)(pressed)
    app.view(ids.WHY_NOT)(submitted)


async def _form(subject: Subject, reader: Reader) -> View:
    return why_not_view(subject.run.run_id, reader)


async def _stored(desk: Desk, user: str, view: Mapping[str, Any]) -> str | None:
    """The name of what went wrong, None where the reason is kept."""
    run_id = str(ids.carried_by(view).get("run_id") or "")
    try:
        await about(desk, user, run_id)
        await desk.db.call(desk.feedback.reason, run_id, user, desk.place.redactor.text(_reason(view)))
    except Denied as error:
        return error.key
    except RunNotFound:
        return GONE
    return None


def _reason(view: Mapping[str, Any]) -> str:
    """`wrong_cause: the pool was fine`."""
    values = view.get("state", {}).get("values", {})
    chosen = (values.get("reason", {}).get("reason", {}).get("selected_option") or {}).get("value") or REASONS[-1]
    note = values.get("note", {}).get("note", {}).get("value") or ""
    return f"{chosen}: {note}" if note.strip() else str(chosen)
