"""What a run must know of its thread before it starts: what people and alert senders wrote, and what we found earlier.

Read by the worker, not by the listener. Background for reading the question; never evidence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from agents.contracts import HistoryTurn
from agents.state import RunState
from bot.desk import Desk
from bot.people import LookupFailed
from bot.recall import proven_claims
from bot.slack_client import SlackAway, SlackRefused
from bot.slack_text import message_text
from bot.times import window_text
from storage.jobs import Job
from storage.records import Run

EARLIER_RUNS = 5
MESSAGES_READ = 200
MESSAGES_TOLD = 30
MESSAGE_CHARS = 1_500
ROOT_CHARS = 6_000
SECONDS = 8.0
CLICKED = ("shortcut", "look_wider", "add_context")

log = logging.getLogger(__name__)


def completing(desk: Desk) -> Callable[[Job], Callable[[RunState], Awaitable[RunState]]]:
    """For the worker: gives each job's run its history. A thread that cannot be read leaves it empty."""

    def complete(job: Job) -> Callable[[RunState], Awaitable[RunState]]:
        async def completed(state: RunState) -> RunState:
            return replace(state, history=await history(desk, job, state.language))

        return completed

    return complete


async def history(desk: Desk, job: Job, language: str) -> tuple[HistoryTurn, ...]:
    """The thread up to the question, then earlier answers of the session, oldest first. Secrets are masked."""
    earlier, asked = await desk.db.call(_earlier, desk, job)
    said = await _thread(desk, job, asked)
    turns = [*_background(desk, said, language), *(turn for run in earlier for turn in _answered(desk, run, language))]
    mask = desk.place.redactor.text
    return tuple(turn.model_copy(update={"text": mask(turn.text)}) for turn in turns)


@dataclass(frozen=True)
class Said:
    author: str
    text: str


def _earlier(desk: Desk, job: Job) -> tuple[list[Run], set[str]]:
    """The answered runs of the session before this one, and the messages that asked for them."""
    runs = desk.sessions.runs(job.session_id)
    at = next((place for place, run in enumerate(runs) if run.run_id == job.run_id), len(runs))
    answered = [run for run in runs[:at] if run.answer][-EARLIER_RUNS:]
    return answered, {desk.jobs.job(run.run_id).ts for run in answered}


async def _thread(desk: Desk, job: Job, asked: set[str]) -> list[Said]:
    """What others wrote before the question, the root first. Our own messages and the questions to them are left out:
    those come from the database, not from their rendering."""
    try:
        messages = await asyncio.wait_for(_read(desk, job), SECONDS)
    except (SlackAway, SlackRefused, TimeoutError) as error:
        log.warning("the thread of run %s cannot be read: %s", job.run_id, error or "no answer in time")
        return []
    others = [each for each in messages if each["ts"] not in asked and not _is_ours(desk, each)]
    before = [each for each in others if float(each["ts"]) < _limit(job)]
    return [Said(await _author(desk, each), message_text(each)) for each in before]


async def _read(desk: Desk, job: Job) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
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
