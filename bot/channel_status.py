"""What `/proofthread status` and `/proofthread cases` say of a channel: to one person, who can read it."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from bot.alert_commands import watch_lines
from bot.answers.times import window_text
from bot.blocks.text import escape, phone_line
from bot.desk import UNFINISHED, Desk
from bot.slack.people import Person
from storage.audience import Audience
from storage.budget import Spent, workspace
from storage.jobs import Job
from storage.records import Run

RECENT = 30
ENDED_SHOWN = 3
CASES_SHOWN = 10


async def status_text(desk: Desk, channel: str, person: Person, language: str) -> str:
    """What runs and waits here, what ended last, how alerts are treated, and what the day has cost."""
    found = await desk.db.call(desk.jobs.recent, [channel], RECENT)
    active = [(job, run) for job, run in reversed(found) if run.status in UNFINISHED]
    ended = [(job, run) for job, run in found if run.status not in UNFINISHED][:ENDED_SHOWN]
    places = {job.run_id: await desk.db.call(desk.jobs.place_in_line, job.run_id) for job, _ in active}
    now = desk.place.clock()
    lines = [_active(desk, job, run, places[job.run_id], now, language) for job, run in active]
    lines = lines or [desk.says(language, "status_none")]
    lines += [_ended(desk, run, language) for _, run in ended]
    spent = await desk.db.call(desk.budget.spent, now.date(), workspace(desk.bot.team))
    if not channel.startswith("D"):
        lines += await watch_lines(desk, channel, person, language)
    return "\n".join([*lines, _spent(desk, spent, language)])


async def cases_text(desk: Desk, channel: str, language: str) -> str:
    """The cases that whoever reads this channel may see, newest first."""
    audience = Audience(desk.bot.team, channel)
    cases = await desk.db.call(desk.cases.searchable, audience, CASES_SHOWN)
    lines = [
        desk.says(language, "case_line", title=escape(phone_line(case.title)), cause=escape(phone_line(case.root_cause, 300)))
        for case in cases
    ]
    return "\n".join(lines or [desk.says(language, "cases_none")])


def _active(desk: Desk, job: Job, run: Run, place: int, now: datetime, language: str) -> str:
    question = escape(phone_line(run.query))
    if place:
        return desk.says(language, "status_waiting", place=place, question=question)
    since = run.started_at or job.placed_at
    return desk.says(language, "status_running", seconds=max(0, round((now - since).total_seconds())), question=question)


def _ended(desk: Desk, run: Run, language: str) -> str:
    when = window_text(run.finished_at.isoformat(), "", ZoneInfo(run.zone)) if run.finished_at else ""
    question = escape(phone_line(run.query))
    verdict = desk.reader(language).say(f"verdict_{(run.verdict or 'none').lower()}")
    return desk.says(language, "status_ended", verdict=verdict, when=when, question=question)


def _spent(desk: Desk, spent: Spent, language: str) -> str:
    """An unknown price shows tokens alone, never 0.00."""
    cost = "" if spent.cost is None else desk.says(language, "status_cost", amount=f"{spent.cost:.4f}")
    return desk.says(language, "status_spent", tokens=f"{spent.tokens:,}", cost=cost)


