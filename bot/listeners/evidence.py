"""*Evidence*: each statement and the lines that it rests on, page by page, for those who can read the channel."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bot.answers.stored_answer import stored_answer
from bot.blocks import ids
from bot.blocks.evidence import evidence_loading, evidence_view, proofs_of
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.buttons.clicks import Fill, Subject
from bot.buttons.modals import Pages, register_pages
from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


def register(app: AsyncApp, desk: Desk) -> None:
    turns = (ids.EVIDENCE_PREVIOUS, ids.EVIDENCE_NEXT)
    register_pages(app, desk, Pages(ids.EVIDENCE, turns, evidence_loading, partial(_page, desk)))


def _page(desk: Desk, page: int) -> Fill:
    async def fill(subject: Subject, reader: Reader) -> View:
        run = subject.run
        invocations = await desk.db.call(desk.trace.invocations, run.run_id)
        return evidence_view(run.run_id, proofs_of(stored_answer(run).claims, invocations), page, reader)

    return fill
