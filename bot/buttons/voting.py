"""A vote is stored before Slack is answered; the case, the search and the thanks follow."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from bot.blocks import ids
from bot.blocks.parts import actions, button, paragraph
from bot.blocks.rich import Block
from bot.buttons.clicks import GONE, Denied, Subject
from bot.desk import Desk
from bot.slack.people import LookupFailed
from storage.cases import Case
from storage.errors import RunNotFound
from storage.feedback import Vote
from storage.jobs import Job

THUMBS: dict[str, Vote] = {"+1": "useful", "thumbsup": "useful", "-1": "not_useful", "thumbsdown": "not_useful"}
CHECK_MARKS: dict[str, Vote] = {
    "white_check_mark": "useful",
    "heavy_check_mark": "useful",
    "x": "not_useful",
    "negative_squared_cross_mark": "not_useful",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ballot:
    """`at` is the event's own time: of two votes the later one stands, however they arrive."""

    choice: Vote
    source: str
    at: datetime


def choice_of(reaction: str, *, check_marks: bool) -> Vote | None:
    """The vote that an emoji is, in any skin tone; None for all others."""
    name = reaction.partition("::")[0]
    return THUMBS.get(name) or (CHECK_MARKS.get(name) if check_marks else None)


async def vote(desk: Desk, subject: Subject, ballot: Ballot) -> None:
    """Raises Denied for a run that went away, and StorageError."""
    args = (subject.run.run_id, subject.person.id, ballot.choice, ballot.source, ballot.at)
    try:
        tally = await desk.db.call(desk.feedback.vote, *args)
    except RunNotFound as error:
        raise Denied(GONE) from error
    if tally.changed:
        desk.later.start(_follow(desk, subject, ballot, thanks=True))


async def withdraw(desk: Desk, subject: Subject, ballot: Ballot) -> None:
    """As `vote`. One who has voted otherwise since keeps that."""
    args = (subject.run.run_id, subject.person.id, ballot.choice, ballot.source, ballot.at)
    try:
        tally = await desk.db.call(desk.feedback.retract, *args)
    except RunNotFound as error:
        raise Denied(GONE) from error
    if tally.changed:
        desk.later.start(_follow(desk, subject, ballot, thanks=False))


async def settle(desk: Desk, run_id: str, channel: str) -> Case | None:
    """The run's case as the votes want it. None where nobody finds it useful, or it has not ended."""
    if desk.library is None:
        return None
    try:
        return await desk.library.after_vote(run_id, is_private=await is_private(desk, channel))
    except RunNotFound:
        return None


def early_votes(desk: Desk) -> Callable[[Job], Awaitable[None]]:
    """For the worker: votes on the progress, given before there was anything to keep, count now."""

    async def afterwards(job: Job) -> None:
        if (await desk.db.call(desk.feedback.tally, job.run_id)).useful:
            await settle(desk, job.run_id, job.channel)

    return afterwards


async def is_private(desk: Desk, channel: str) -> bool:
    """What Slack does not tell us stays in its channel."""
    try:
        place = await desk.people.place(channel)
    except LookupFailed as error:
        log.warning("%s", error)
        return True
    return place.is_private or not place.is_known


async def _follow(desk: Desk, subject: Subject, ballot: Ballot, *, thanks: bool) -> None:
    case = await settle(desk, subject.run.run_id, subject.job.channel)
    if thanks:
        text, blocks = _thanks(desk, subject, ballot, case)
        await desk.whisper(subject.job.channel, subject.person.id, subject.job.thread_ts, text, blocks)


def _thanks(desk: Desk, subject: Subject, ballot: Ballot, case: Case | None) -> tuple[str, list[Block]]:
    """A vote by a button that finds nothing useful has opened the form already; a reaction cannot."""
    language, run_id = subject.run.language, subject.run.run_id
    reader = desk.reader(language)
    if ballot.choice == "useful":
        text = desk.says(language, _saved(case))
        offered = [button(reader.say("button_edit_case"), ids.EDIT_CASE, run_id)] if case is not None else []
    else:
        text = desk.says(language, "vote_not_useful")
        why = button(desk.says(language, "button_why_not"), ids.WHY_NOT, run_id)
        offered = [why] if ballot.source == "reaction" else []
    return text, [paragraph(text, reader), *([actions(*offered)] if offered else [])]


def _saved(case: Case | None) -> str:
    if case is None:
        return "vote_useful"
    return "vote_useful_saved" if case.status == "active" else "vote_useful_draft"
