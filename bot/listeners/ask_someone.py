"""*Ask someone*: a colleague is asked in the thread, in the name of the one who pressed the button."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.gaps import ask_someone_view
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.blocks.text import escape
from bot.buttons.clicks import Denied, Fill, Subject, about, note_view, open_modal, read_click
from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        found = ids.number_of(click.value)
        if found is not None:
            await open_modal(desk, click, found[0], _form(found[1]))
        await ack()

    async def submitted(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        try:
            await _asked(desk, str(body["user"]["id"]), body["view"])
        except Denied as error:
            reader = desk.reader(desk.shown_language(body))
            await ack(response_action="update", view=note_view(reader, desk.says(reader.language, error.key)))
        else:
            await ack()

    app.action(ids.ASK_SOMEONE)(pressed)
    app.view(ids.ASK_SOMEONE)(submitted)


def _form(gap: int) -> Fill:
    async def form(subject: Subject, reader: Reader) -> View:
        return ask_someone_view(subject.run.run_id, gap, subject.gap(gap), reader)

    return form


async def _asked(desk: Desk, user: str, view: Mapping[str, Any]) -> None:
    """Posted once, however often the form is sent."""
    values = view.get("state", {}).get("values", {})
    person = values.get("person", {}).get("person", {}).get("selected_user")
    question = (values.get("question", {}).get("question", {}).get("value") or "").strip()
    subject = await about(desk, user, str(ids.carried_by(view).get("run_id") or ""))
    if not person or not await desk.note(f"{desk.bot.team}:{view.get('id')}:asked"):
        return
    job = subject.job
    text = desk.says(subject.run.language, "asked_someone", user=user, person=person, question=escape(question))
    desk.post_later(job.channel, job.thread_ts, text)
