"""*Evidence*: each statement and the lines that it rests on, page by page, for those who can read the channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.evidence import evidence_loading, evidence_view, proofs_of
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.clicks import Click, Fill, Subject, open_modal, read_click, turn_page
from bot.desk import Desk
from bot.stored_answer import stored_answer

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        await open_modal(desk, click, click.value, _page(desk, 1), evidence_loading)
        await ack()

    async def turned(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        _turn(desk, read_click(body), body)
        await ack()

    app.action(ids.EVIDENCE)(pressed)
    app.action(ids.EVIDENCE_PREVIOUS)(turned)
    app.action(ids.EVIDENCE_NEXT)(turned)


def _turn(desk: Desk, click: Click, body: Mapping[str, Any]) -> None:
    found = ids.number_of(click.value)
    if found is not None:
        run_id, page = found
        turn_page(desk, click, run_id, _page(desk, page), desk.shown_language(body))


def _page(desk: Desk, page: int) -> Fill:
    async def fill(subject: Subject, reader: Reader) -> View:
        run = subject.run
        invocations = await desk.db.call(desk.trace.invocations, run.run_id)
        return evidence_view(run.run_id, proofs_of(stored_answer(run).claims, invocations), page, reader)

    return fill
