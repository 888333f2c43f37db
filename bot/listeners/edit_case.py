"""*Edit before saving*: a person's words make the case, and keep it whatever is voted later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.feedback import CaseDraft, case_of, edit_case_view
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.buttons.clicks import GONE, Denied, Fill, Subject, about, note_view, open_modal, read_click
from bot.buttons.voting import is_private
from bot.desk import Desk
from storage.cases import CaseText
from storage.errors import CaseNotFound, RunNotFound

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        await open_modal(desk, click, click.value, _form(desk))
        await ack()

    async def submitted(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        reader = desk.reader(desk.shown_language(body))
        failed = await _saved(desk, str(body["user"]["id"]), body["view"])
        if failed == "case_no_title":
            await ack(response_action="errors", errors={"title": desk.says(reader.language, failed)})
        elif failed is not None:
            await ack(response_action="update", view=note_view(reader, desk.says(reader.language, failed)))
        else:
            said = note_view(reader, desk.says(reader.language, "case_saved"))
            await ack(response_action="update", view=said)

    app.action(ids.EDIT_CASE)(pressed)
    app.view(ids.EDIT_CASE)(submitted)


def _form(desk: Desk) -> Fill:
    async def form(subject: Subject, reader: Reader) -> View:
        if desk.library is None:
            return note_view(reader, desk.says(reader.language, "not_now"))
        text = await desk.library.draft(subject.run.run_id)
        return edit_case_view(
            subject.run.run_id, CaseDraft(text.title, text.fault_category, text.root_cause, text.solution), reader
        )

    return form


async def _saved(desk: Desk, user: str, view: Mapping[str, Any]) -> str | None:
    """The name of what went wrong, None where it is saved."""
    run_id, draft = str(ids.carried_by(view).get("run_id") or ""), case_of(view)
    if not draft.title:
        return "case_no_title"
    if desk.library is None:
        return "not_now"
    text = CaseText(draft.title, draft.root_cause, draft.solution, draft.fault_category or "GENERAL")
    try:
        subject = await about(desk, user, run_id)
        await desk.library.edit(run_id, text, user, is_private=await is_private(desk, subject.job.channel))
    except Denied as error:
        return error.key
    except (CaseNotFound, RunNotFound):
        return GONE
    return None
