"""*Trace*: what the run did, page by page, for those who can read the channel."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bot.blocks import ids
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.blocks.trace import trace_loading, trace_view
from bot.buttons.clicks import Fill, Subject
from bot.buttons.modals import Pages, register_pages
from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


def register(app: AsyncApp, desk: Desk) -> None:
    turns = (ids.TRACE_PREVIOUS, ids.TRACE_NEXT)
    register_pages(app, desk, Pages(ids.TRACE, turns, trace_loading, partial(_page, desk)))


def _page(desk: Desk, page: int) -> Fill:
    async def fill(subject: Subject, reader: Reader) -> View:
        run = subject.run
        steps = await desk.db.call(desk.trace.steps, run.run_id)
        invocations = await desk.db.call(desk.trace.invocations, run.run_id)
        return trace_view(run, steps, invocations, page, reader)

    return fill
