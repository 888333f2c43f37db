"""What a run must know of its thread before it starts: what people and alert senders wrote, and what we found earlier.

Read by the worker, not by the listener. Background for reading the question; never evidence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from agents.contracts import HistoryTurn
from agents.state import RunState
from bot.answers.times import window_text
from bot.desk import Desk
from bot.hearing.attached import Attached, additions_of, attached_to
from bot.hearing.recall import proven_claims
from bot.jobs import Complete
from bot.slack.client import SlackAway, SlackRefused
from bot.slack.people import LookupFailed
from bot.slack.text import message_text
from storage.jobs import Job
from storage.records import Run

EARLIER_RUNS = 5
MESSAGES_READ = 200
MESSAGES_TOLD = 30
MESSAGE_CHARS = 1_500
ROOT_CHARS = 6_000
SECONDS = 8.0
CLICKED = ("shortcut", "look_wider", "add_context")

Message = Mapping[str, Any]

log = logging.getLogger(__name__)


def completing(desk: Desk) -> Callable[[Job], Complete | None]:
    """For the worker: gives each job's run its history. A thread that cannot be read leaves it empty. An alert's run
    has its alerts already."""

    def complete(job: Job) -> Complete | None:
        if job.user_id is None:
            return None

        async def completed(state: RunState) -> RunState:
            messages = await _messages(desk, job)
            told = await history(desk, job, state.language, messages)
            files = await additions_of(desk, await _files(desk, job, messages))
            # A run that goes on from another has what that one was given.
            added = tuple(dict.fromkeys((*state.additions, *files)))
            return replace(state, history=told, additions=added)

        return completed

    return complete


async def history(
    desk: Desk, job: Job, language: str, messages: Sequence[Message] | None = None
) -> tuple[HistoryTurn, ...]:
    """The thread up to the question, then earlier answers of the session, oldest first. Secrets are masked. `messages`
    are the thread's, read here where they are not given."""
    earlier, asked = await desk.db.call(_earlier, desk, job)
    said = await _thread(desk, job, asked, await _messages(desk, job) if messages is None else messages)
    turns = [*_background(desk, said, language), *(turn for run in earlier for turn in _answered(desk, run, language))]
    mask = desk.place.redactor.text
    return tuple(turn.model_copy(update={"text": mask(turn.text)}) for turn in turns)


@dataclass(frozen=True)
class Said:
    author: str
    text: str


def _earlier(desk: Desk, job: Job) -> tuple[list[Run], set[str]]:
    """The answered runs of the session before this one, and the messages of people that asked for them: an alert's own
    post is what its thread is about."""
    runs = desk.sessions.runs(job.session_id)
    at = next((place for place, run in enumerate(runs) if run.run_id == job.run_id), len(runs))
    answered = [run for run in runs[:at] if run.answer][-EARLIER_RUNS:]
    asked = (desk.jobs.job(run.run_id) for run in answered)
    return answered, {job.ts for job in asked if job.user_id is not None}


async def _messages(desk: Desk, job: Job) -> list[Message]:
    """What others wrote up to the question and in it, the root first."""
    try:
        async with asyncio.timeout(SECONDS):
            messages = await _read(desk, job)
    except (SlackAway, SlackRefused, TimeoutError) as error:
        log.warning("the thread of run %s cannot be read: %s", job.run_id, error or "no answer in time")
        return []
    return [each for each in messages if float(each["ts"]) <= _limit(job) and not _is_ours(desk, each)]


async def _thread(desk: Desk, job: Job, asked: set[str], messages: Sequence[Message]) -> list[Said]:
    """Our own messages and the questions to them are left out: those come from the database, not from their
    rendering."""
    before = [each for each in messages if each["ts"] not in asked and float(each["ts"]) < _limit(job)]
    return [Said(await _author(desk, each), message_text(each)) for each in before]


async def _files(desk: Desk, job: Job, messages: Sequence[Message]) -> list[Attached]:
    """Files posted with the question, or before it since the last one that was answered."""
    _, asked = await desk.db.call(_earlier, desk, job)
    since = max((float(ts) for ts in asked), default=0.0)
    late = [each for each in messages if float(each["ts"]) > since and each.get("files")]
    return [file for each in late for file in attached_to(each, await _author(desk, each))]


async def _read(desk: Desk, job: Job) -> list[Message]:
    found: list[Message] = []
    async for message in desk.slack.pages(
        "conversations.replies", "messages", channel=job.channel, ts=job.thread_ts, limit=MESSAGES_READ
    ):
        found.append(message)
        if len(found) >= MESSAGES_READ * 5:
            break
    return found


def _limit(job: Job) -> float:
    """Up to the question; where a click asks (a shortcut, a button) the whole thread counts."""
    try:
        asked = float(job.ts)
    except ValueError:
        return float("inf")
    return float("inf") if job.details.get("trigger") in CLICKED else asked


def _is_ours(desk: Desk, message: Mapping[str, Any]) -> bool:
    return message.get("user") == desk.bot.user_id or message.get("bot_id") == desk.bot.bot_id


async def _author(desk: Desk, message: Mapping[str, Any]) -> str:
    profile = message.get("bot_profile") or {}
    name = message.get("username") or profile.get("name")
    if name or not message.get("user") or message.get("bot_id"):
        return str(name or "app")
    try:
        person = await desk.people.person(str(message["user"]))
    except LookupFailed:
        return f"@{message['user']}"
    return person.name or f"@{person.id}"


def _background(desk: Desk, said: list[Said], language: str) -> Iterator[HistoryTurn]:
    """The root always, then the newest messages: an alert stands at the root."""
    told = [one for one in said if one.text]
    if not told:
        return
    root, rest = told[0], told[1:]
    left_out = max(0, len(rest) - MESSAGES_TOLD)
    lines = [desk.says(language, "thread_so_far"), f"{root.author}: {_cut(root.text, ROOT_CHARS)}"]
    if left_out:
        lines.append(desk.says(language, "thread_left_out", count=left_out))
    lines += [f"{one.author}: {_cut(one.text, MESSAGE_CHARS)}" for one in rest[left_out:]]
    yield HistoryTurn(role="user", text="\n".join(lines))


def _answered(desk: Desk, run: Run, language: str) -> Iterator[HistoryTurn]:
    yield HistoryTurn(role="user", text=run.query)
    when = window_text(run.finished_at.isoformat(), "", ZoneInfo(run.zone)) if run.finished_at else ""
    lines = [desk.says(language, "earlier_answer", when=when, verdict=run.verdict or ""), run.answer or ""]
    claims = proven_claims(run)
    if claims:
        lines.append(desk.says(language, "earlier_claims", claims=" | ".join(claims)))
    yield HistoryTurn(role="assistant", text="\n".join(lines), run_id=run.run_id)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rsplit(None, 1)[0]} …"
