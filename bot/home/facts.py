"""What App Home shows a person: only what they can read in their channels."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from agents.state import StateUnreadable
from bot.answers.stored_answer import stored_answer
from bot.blocks.home import HomeBudget, HomeFacts, HomeModel, HomeRun, HomeView, home_view
from bot.blocks.parts import paragraph
from bot.blocks.reader import Reader
from bot.blocks.text import phone_line
from bot.desk import UNFINISHED, Desk
from bot.doctor.systems import Finding
from bot.home.alerts import watched_channels
from bot.home.sources import source_advice, source_shown
from storage.budget import workspace
from storage.jobs import Job
from storage.records import Run

RUNS_READ, RUNS_SHOWN, OPEN_SHOWN = 100, 15, 10
CHANNELS_ASKED = 50
OPENAI = "api.openai.com"

Found = Sequence[tuple[Job, Run]]


async def home_of(desk: Desk, user: str) -> HomeView:
    """Raises StorageError and LookupFailed."""
    person = await desk.people.person(user)
    language = desk.language(person)
    reader = desk.reader(language, person.zone)
    refused = desk.admission.refuses_person(person)
    if refused:
        why = desk.says(language, "home_refused", why=desk.says(language, refused))
        return {"type": "home", "callback_id": "home", "blocks": [paragraph(why, reader)]}
    return home_view(await facts_for(desk, user, language), reader)


async def facts_for(desk: Desk, user: str, language: str) -> HomeFacts:
    reader = desk.reader(language, (await desk.people.person(user)).zone)
    channels = await _readable(desk, user, await desk.db.call(desk.jobs.channels, CHANNELS_ASKED))
    found = await desk.db.call(desk.jobs.recent, channels, RUNS_READ)
    votes = await desk.db.call(desk.feedback.rate, channels)
    findings = await desk.health()
    alerts, any_watched = await watched_channels(desk, user, language)
    hints = _hints(desk, findings, reader)
    return HomeFacts(
        runs=await asyncio.gather(*(_run(desk, job, run) for job, run in found[:RUNS_SHOWN])),
        open_questions=_open(found),
        verdicts=dict(Counter(run.verdict for _, run in found if run.verdict)),
        sources=[source_shown(desk, finding, reader) for finding in findings],
        alerts=alerts,
        channels=await _channels(desk, user, language),
        people=await asyncio.gather(*(_name(desk, one) for one in desk.settings.slack_users)),
        useful=votes.useful,
        not_useful=votes.not_useful,
        model=_model(desk),
        budget=await _budget(desk),
        hints=hints if any_watched else [*hints, desk.says(language, "home_hint_alerts")],
    )


async def _readable(desk: Desk, user: str, channels: Sequence[str]) -> list[str]:
    may = await asyncio.gather(*(desk.people.may_read(user, channel) for channel in channels))
    return [channel for channel, mine in zip(channels, may, strict=True) if mine]


async def _run(desk: Desk, job: Job, run: Run) -> HomeRun:
    answer = await desk.slack.optional("chat.getPermalink", channel=job.channel, message_ts=job.thread_ts)
    link = (answer or {}).get("permalink")
    verdict = None if run.status in UNFINISHED else run.verdict or "REJECT"
    return HomeRun(run.query, verdict, job.placed_at, str(link) if link else None)


def _open(found: Found) -> list[str]:
    """What the latest run of a thread could not prove, with the first thing that was missing."""
    latest = {job.session_id: run for job, run in reversed(found)}
    unproven = [run for run in latest.values() if run.verdict in ("LOW_CONFID", "REJECT")]
    newest = sorted(unproven, key=lambda run: run.created_at, reverse=True)[:OPEN_SHOWN]
    return [f"{phone_line(run.query)}{_missing(run)}" for run in newest]


def _missing(run: Run) -> str:
    try:
        gaps = stored_answer(run).gaps
    except StateUnreadable:
        return ""
    return f" – {phone_line(gaps[0])}" if gaps else ""


async def _channels(desk: Desk, user: str, language: str) -> list[str]:
    """The allow-list. The names of private channels are theirs who are in them."""
    listed = desk.settings.slack_channels
    mine = await _readable(desk, user, listed)
    names = [f"#{(await desk.people.place(channel)).name or channel}" for channel in mine]
    left = len(listed) - len(mine)
    return [*names, *([desk.says(language, "home_others", count=left)] if left else [])]


async def _name(desk: Desk, user: str) -> str:
    return (await desk.people.person(user)).name or user


def _model(desk: Desk) -> HomeModel | None:
    settings = desk.settings
    names = sorted({settings.model, *settings.role_models.values()} - {"offline"})
    names = [name for name in names if not name.startswith("scripted:")]
    if not names:
        return None
    return HomeModel(", ".join(names), urlsplit(settings.base_url).hostname or OPENAI)


async def _budget(desk: Desk) -> HomeBudget:
    today = desk.place.clock().date()
    spent = await desk.db.call(desk.budget.spent, today, workspace(desk.bot.team))
    return HomeBudget(spent.tokens, desk.settings.daily_tokens, spent.cost, desk.settings.daily_cost)


def _hints(desk: Desk, findings: Sequence[Finding], reader: Reader) -> list[str]:
    language = reader.language
    hints = [
        desk.says(language, "home_hint_scope", scope=scope.name, without=scope.lost(language)) for scope in desk.bot.missing
    ]
    looked_at = [finding for finding in findings if finding.name != "knowledge"]
    if looked_at and all(finding.state == "off" for finding in looked_at):
        hints.append(desk.says(language, "home_hint_nothing"))
    hints += [source_advice(desk, one, reader) for one in findings if one.state in ("fail", "warn")]
    return hints
