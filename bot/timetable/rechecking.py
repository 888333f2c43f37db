"""A second look: a while after a report, or when somebody asked for it, the thread hears once how it is by then."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from agents.contracts import Alert
from bot.blocks.reader import Reader
from bot.blocks.resolved import span_text
from bot.blocks.text import escape, phone_line
from bot.desk import Asked as Question
from bot.desk import Desk
from bot.incidents.intake import alerts_of
from bot.incidents.request import alert_language
from bot.incidents.still_firing import Asked, still_firing
from bot.jobs import RequestRefused
from bot.slack.client import SlackAway, SlackRefused
from bot.slack.people import LookupFailed
from bot.timetable.language import schedule_reader
from storage.errors import RunNotFound
from storage.incidents import Incident
from storage.jobs import JobKey
from storage.rechecks import Recheck, RecheckStore

EVENT_TYPE = "proofthread_recheck"
TRIGGER = "recheck"
HOLD_SECONDS = 120.0
MOST_TRIES = 5
NAMED, LINE_CHARS = 4, 600

log = logging.getLogger(__name__)


class Rechecks:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._store = desk, RecheckStore(desk.db)

    async def look(self) -> int:
        """Plan one for each new report, then do those that are due; how many were done. Raises StorageError."""
        desk, minutes = self._desk, self._desk.settings.recheck_minutes
        if minutes:
            await desk.db.call(self._store.follow_reports, timedelta(minutes=minutes))
        due = await desk.db.call(self._store.take_due, desk.place.clock(), desk.place.owner, HOLD_SECONDS)
        return sum([await self._done(one) for one in due])

    async def _done(self, one: Recheck) -> bool:
        """Slack or people that cannot be reached are tried again in a while, a few times."""
        try:
            # Also one that failed inside us is not tried for ever.
            outcome = await self._outcome(one) if one.tries <= MOST_TRIES else "given up"
        except (SlackAway, LookupFailed) as error:
            log.info("re-check %s is tried again: %s", one.id, error)
            if one.tries < MOST_TRIES:
                return False
            outcome = "given up"
        except SlackRefused as error:
            log.warning("re-check %s has no place: %s", one.id, error)
            outcome = "refused"
        await self._desk.db.call(self._store.done, one.id, outcome)
        return True

    async def _outcome(self, one: Recheck) -> str:
        desk = self._desk
        incident = await desk.db.call(desk.incidents.of_thread, one.team, one.channel, one.thread_ts)
        if incident is None:
            return await self._asked_again(one)
        if one.user_id is None and not incident.is_open:
            return "resolved before"  # its line in the thread has said so
        place = await self._place(incident, asked_for=one.user_id is not None)
        return "silent" if place is None else await self._said(one, incident, *place)

    async def _place(self, incident: Incident, *, asked_for: bool) -> tuple[str, str] | None:
        """Channel and thread; None where nobody wants to hear of it. Who asks gets an answer."""
        desk = self._desk
        standing = await desk.alert_channels.standing(incident.channel)
        if asked_for:
            return incident.channel, incident.root_ts
        if standing.muted_until or not standing.watched:
            return None
        if not standing.trial:
            return incident.channel, incident.root_ts
        job = await desk.db.call(desk.jobs.job, incident.run_id) if incident.run_id else None
        trial = job.details.get("trial") if job else None
        return (str(trial["channel"]), str(trial["ts"])) if isinstance(trial, dict) else None

    # ---------------------------------------------------------------- an incident

    async def _said(self, one: Recheck, incident: Incident, channel: str, thread_ts: str) -> str:
        desk = self._desk
        alerts = await desk.db.call(alerts_of, desk.incidents, incident.incident_id)
        firing = [alert for alert in alerts if alert.status != "resolved"]
        now = desk.place.clock()
        asked = Asked("unknown") if not incident.is_open else await still_firing(firing, desk.place.tools, now)
        reader = _reader(desk, alerts)
        text = escape(_text(incident, firing or alerts, asked, reader, now - one.since))
        await self._post(one, channel, thread_ts, f"<@{one.user_id}> {text}" if one.user_id else text)
        return "resolved" if not incident.is_open else asked.state if asked.state != "unknown" else "open"

    async def _post(self, one: Recheck, channel: str, thread_ts: str, text: str) -> None:
        """Once: whoever takes over looks first whether it stands there."""
        if one.tries > 1 and await self._stands(one, channel, thread_ts):
            return
        payload = {"recheck": one.id}
        await self._desk.slack.call(
            "chat.postMessage",
            channel=channel,
            thread_ts=thread_ts,
            text=text,
            unfurl_links=False,
            unfurl_media=False,
            metadata={"event_type": EVENT_TYPE, "event_payload": payload},
        )

    async def _stands(self, one: Recheck, channel: str, thread_ts: str) -> bool:
        where = {"channel": channel, "ts": thread_ts, "limit": 200}
        slack, us = self._desk.slack, self._desk.bot
        async for message in slack.pages("conversations.replies", "messages", include_all_metadata=True, **where):
            metadata = message.get("metadata") or {}
            is_ours = us.user_id == message.get("user") or us.bot_id == message.get("bot_id")
            payload = (metadata.get("event_payload") or {}) if metadata.get("event_type") == EVENT_TYPE else {}
            if is_ours and payload.get("recheck") == one.id:
                return True
        return False

    # ---------------------------------------------------------------- a question

    async def _asked_again(self, one: Recheck) -> str:
        """In a thread without an alert the question itself is asked again, by the one who wished for it."""
        desk = self._desk
        if one.user_id is None or one.run_id is None:
            return "nothing to look at"
        try:
            run = await desk.db.call(desk.trace.run, one.run_id)
            job = await desk.db.call(desk.jobs.job, one.run_id)
        except RunNotFound:
            return "the run is gone"
        if await desk.refusal(one.user_id, one.channel):
            return "not allowed"
        question = str(job.details.get("asked") or run.query)
        asked = Question(
            key=JobKey(one.team, one.channel, one.thread_ts, f"{TRIGGER}:{one.id}"),
            thread=job.thread,
            person=await desk.people.person(one.user_id),
            question=question,
            at=desk.place.clock(),
            details={"trigger": TRIGGER, "asked": question, "after": run.run_id},
        )
        try:
            await desk.submit(asked)
        except RequestRefused as error:
            return f"refused: {error}"[:64]
        return "asked"


# ---------------------------------------------------------------- words


def _reader(desk: Desk, alerts: Sequence[Alert]) -> Reader:
    reader = schedule_reader(desk)
    if desk.settings.language != "auto" or not alerts:
        return reader
    return Reader(reader.words, alert_language(alerts[0]), reader.zone)


def _text(incident: Incident, alerts: Sequence[Alert], asked: Asked, reader: Reader, lasted: timedelta) -> str:
    span, names = span_text(lasted, reader), [_name(alert) for alert in alerts]
    if not incident.is_open:
        when = reader.at(incident.resolved_at) if incident.resolved_at else ""
        return reader.say("recheck_resolved", alerts=_listed(names, reader), when=when)
    if asked.state == "over":
        return reader.say("recheck_over", span=span, source=asked.source, alerts=_listed(names, reader))
    if asked.state == "unknown":
        return reader.say("recheck_open", span=span, alerts=_listed(names, reader))
    shown = _listed([_since(_name(alert), one.since, reader) for alert, one in asked.firing], reader)
    if len(asked.firing) < len(alerts):
        return reader.say("recheck_some", span=span, firing=len(asked.firing), all=len(alerts), alerts=shown)
    return reader.say("recheck_firing", span=span, alerts=shown)


def _name(alert: Alert) -> str:
    return alert.alert_name or alert.sender


def _since(name: str, since: str, reader: Reader) -> str:
    try:
        moment = datetime.fromisoformat(since)
    except ValueError:
        return name
    return reader.say("recheck_since", alert=name, when=reader.at(moment)) if moment.tzinfo else name


def _listed(names: Sequence[str], reader: Reader) -> str:
    each = list(dict.fromkeys(names))
    more = [reader.say("patrol_more", count=len(each) - NAMED)] if len(each) > NAMED else []
    return phone_line(", ".join([*each[:NAMED], *more]), LINE_CHARS)
