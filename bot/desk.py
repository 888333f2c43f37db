"""What listeners may reach: the stores, the people, the way into the queue. A listener inserts and returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from agents.replies import Replies
from agents.state import RunRequest
from bot.admission import Admission
from bot.blocks.reader import Reader, slack_words
from bot.blocks.rich import Block
from bot.greetings import usage
from bot.incidents.channels import AlertChannels
from bot.incidents.course import Times
from bot.incidents.grouping import Topology
from bot.incidents.intake import Intake
from bot.inputs import language_of
from bot.jobs import MAX_QUESTION_CHARS, Workplace, new_run
from bot.later import Later
from bot.settings import Settings
from bot.slack.client import SlackAway, SlackCalls, SlackRefused
from bot.slack.identity import Identity
from bot.slack.people import People, Person
from storage.budget import BudgetStore
from storage.cases import CaseStore
from storage.engine import Database
from storage.feedback import FeedbackStore
from storage.incidents import IncidentStore
from storage.jobs import Added, Duplicate, JobKey, JobStore, NewJob
from storage.sessions import SessionStore, Thread
from storage.trace import TraceStore
from tools.contracts import Addition

if TYPE_CHECKING:
    from bot.cases import Cases
    from bot.doctor.systems import Finding

TALK = Path(__file__).with_name("talk")
UNFINISHED = ("QUEUED", "RUNNING")


def _nothing_changed() -> None:
    return


async def _nothing_known() -> Sequence[Finding]:
    return ()


@dataclass(frozen=True)
class Asked:
    """A request as a listener reads it. `at` is when it was said, `details` what the worker needs and nobody else."""

    key: JobKey
    thread: Thread
    person: Person
    question: str
    at: datetime
    event_id: str | None = None
    reply_to: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    additions: tuple[Addition, ...] = ()


@dataclass(frozen=True)
class Desk:
    """`wake` tells the queue of this process which run came in, `cancel` stops a run
    wherever it runs, `alerts_changed` says that an incident did. `later` is for what need not precede the
    acknowledgement. `unhandled` counts what came in and has no listener, by type. `library` makes cases of votes;
    `health` says how the sources are; `clock` is when the asked about takes place, where that is not now."""

    settings: Settings
    zone: str
    place: Workplace
    slack: SlackCalls
    bot: Identity
    people: People
    talk: Replies
    wake: Callable[[str], None]
    cancel: Callable[[str], Awaitable[None]]
    alerts_changed: Callable[[], None] = _nothing_changed
    later: Later = field(default_factory=Later)
    unhandled: Counter[str] = field(default_factory=Counter)
    library: Cases | None = None
    health: Callable[[], Awaitable[Sequence[Finding]]] = _nothing_known
    clock: Callable[[], datetime] | None = None

    @property
    def db(self) -> Database:
        return self.place.db

    @property
    def jobs(self) -> JobStore:
        return JobStore(self.db)

    @property
    def sessions(self) -> SessionStore:
        return SessionStore(self.db)

    @property
    def trace(self) -> TraceStore:
        return TraceStore(self.db)

    @property
    def feedback(self) -> FeedbackStore:
        return FeedbackStore(self.db)

    @property
    def cases(self) -> CaseStore:
        return CaseStore(self.db)

    @property
    def budget(self) -> BudgetStore:
        return BudgetStore(self.db)

    @property
    def incidents(self) -> IncidentStore:
        return IncidentStore(self.db)

    @property
    def intake(self) -> Intake:
        settings = self.settings
        debounce = settings.alert_debounce_seconds
        times = Times(
            window=settings.alert_window_seconds,
            debounce=debounce,
            debounce_critical=min(Times.debounce_critical, debounce),
            cooldown=settings.alert_cooldown_seconds,
        )
        return Intake(self.incidents, times=times, topology=Topology.of(self.settings.topology), clock=self.place.clock)

    @property
    def alert_channels(self) -> AlertChannels:
        return AlertChannels(self.db, self.settings, self.bot.team, self.place.clock)

    @property
    def admission(self) -> Admission:
        return Admission.of(self.settings)

    # ---------------------------------------------------------------- coming in

    async def submit(self, asked: Asked) -> Added | Duplicate:
        """The job is stored when this returns, and the queue knows of it.

        Raises bot.jobs.RequestRefused (the message is for the person) and StorageError (leave the event
        unacknowledged: it comes again).
        """
        new = self._job(asked)
        result = await self.db.call(self._store, new, asked)
        if isinstance(result, Added):
            self.wake(result.run_id)
        return result

    async def note(self, key: str) -> bool:
        """Remember an event that starts no run, by its key alone; False where it was here before."""
        return await self.db.call(self.jobs.note_event, key)

    async def refusal(self, user: str, channel: str) -> str | None:
        """Why this person may not ask here (the name of the sentence in bot/talk), or None. Raises LookupFailed."""
        return self.admission.refuses_channel(channel) or self.admission.refuses_person(await self.people.person(user))

    async def stop_thread(self, thread: Thread) -> int:
        """Ask every unfinished run of the thread to stop; how many there were."""
        jobs = await self.db.call(self.jobs.unfinished, thread)
        for job in jobs:
            await self.cancel(job.run_id)
        return len(jobs)

    # ---------------------------------------------------------------- words

    def language(self, person: Person, text: str = "") -> str:
        """The setting's, else the text's, else the person's own."""
        chosen = self.settings.language
        return language_of(text, default=person.language or "en") if chosen == "auto" else chosen

    def shown_language(self, body: Mapping[str, Any]) -> str:
        """Of a payload's modal: that of its own words."""
        view = body.get("view") or {}
        title = str((view.get("title") or {}).get("text") or "")
        return "en" if title.isascii() else "zh"

    def says(self, language: str, name: str, /, **values: object) -> str:
        return self.talk.text(language, name, **values)

    @cached_property
    def words(self) -> Replies:
        return slack_words(self.place.replies)

    def reader(self, language: str, zone: str = "") -> Reader:
        host = urlsplit(self.settings.prometheus_url).hostname
        return Reader(self.words, language, ZoneInfo(zone or self.zone), (host,) if host else ())

    def usage(self, language: str) -> str:
        return usage(language)

    def post_later(self, channel: str, thread_ts: str | None, text: str) -> None:
        """A short remark that belongs to no run."""
        self.later.start(self._post(channel, thread_ts, text))

    def whisper_later(
        self, channel: str, user: str, thread_ts: str | None, text: str, blocks: Sequence[Block] | None = None
    ) -> None:
        """Only this person sees it."""
        self.later.start(self.whisper(channel, user, thread_ts, text, blocks))

    async def _post(
        self, channel: str, thread_ts: str | None, text: str, blocks: Sequence[Block] | None = None
    ) -> None:
        content = {"text": text, "blocks": list(blocks) if blocks else None}
        await self.slack.optional(
            "chat.postMessage", channel=channel, thread_ts=thread_ts, unfurl_links=False, unfurl_media=False, **content
        )

    async def whisper(
        self, channel: str, user: str, thread_ts: str | None, text: str, blocks: Sequence[Block] | None = None
    ) -> None:
        """As `whisper_later`, done when this returns."""
        content = {"text": text, "blocks": list(blocks) if blocks else None}
        try:
            await self.slack.call("chat.postEphemeral", channel=channel, user=user, thread_ts=thread_ts, **content)
        except SlackRefused:
            # Nothing is whispered in a direct message, nor where the bot or the person is not: say it directly.
            here = channel.startswith("D")
            await self._post(channel if here else user, thread_ts if here else None, text, blocks)
        except SlackAway:
            return

    # ---------------------------------------------------------------- storing

    def _job(self, asked: Asked) -> NewJob:
        request = RunRequest(
            session_id=asked.thread.session_id,
            question=asked.question[:MAX_QUESTION_CHARS],
            language=self.language(asked.person, asked.question),
            zone=asked.person.zone or self.zone,
            now=(self.clock or self.place.clock)(),
            deadline_seconds=self.settings.max_seconds,
            additions=asked.additions,
        )
        return NewJob(
            key=asked.key,
            run=new_run(request, self.place),
            thread=asked.thread,
            user_id=asked.person.id,
            event_id=asked.event_id,
            reply_to=asked.reply_to,
            details=dict(asked.details),
        )

    def _store(self, new: NewJob, asked: Asked) -> Added | Duplicate:
        result = self.jobs.add(new)
        if isinstance(result, Added):
            self.sessions.addressed(new.thread.session_id, asked.person.id, asked.at)
        return result


def load_talk() -> Replies:
    return Replies.load(TALK)
