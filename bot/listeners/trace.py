"""*Trace*: what the run did, page by page, for those who can read the channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.blocks.trace import trace_loading, trace_view
from bot.clicks import Click, Fill, Subject, open_modal, read_click, turn_page
from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        await open_modal(desk, click, click.value, _page(desk, 1), trace_loading)
        await ack()

    async def turned(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        _turn(desk, read_click(body), body)
        await ack()

    app.action(ids.TRACE)(pressed)
    app.action(ids.TRACE_PREVIOUS)(turned)
    app.action(ids.TRACE_NEXT)(turned)


def _turn(desk: Desk, click: Click, body: Mapping[str, Any]) -> None:
    found = ids.number_of(click.value)
    if found is not None:
        run_id, page = found
        turn_page(desk, click, run_id, _page(desk, page), desk.shown_language(body))


def _page(desk: Desk, page: int) -> Fill:
    async def fill(subject: Subject, reader: Reader) -> View:
        run = subject.run
        steps = await desk.db.call(desk.trace.steps, run.run_id)
        invocations = await desk.db.call(desk.trace.invocations, run.run_id)
        return trace_view(run, steps, invocations, page, reader)

    return fill
