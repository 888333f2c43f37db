"""Incidents that are due become runs: one an incident, whichever process gets to it, within what alerts may spend."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bot.blocks.text import escape, phone_line
from bot.budget import ALERT_TRIGGER
from bot.desk import Desk
from bot.incidents.channels import Standing
from bot.incidents.enrichment import enriched
from bot.incidents.intake import alerts_of
from bot.incidents.request import triage_request
from bot.jobs import RequestRefused, new_run
from bot.looking import look_without_end
from bot.slack.client import SlackAway, SlackRefused
from bot.triaging.apart import apart
from bot.triaging.budget import AlertBudget
from storage.incidents import Incident
from storage.jobs import Job, JobKey, NewJob
from storage.records import NewRun
from storage.trace import TraceStore

# Why an incident has no run although it may cost one: what a person decided (bot/triaging/budget.py tells none of these).
MUTED, UNWATCHED, MINOR = "muted", "unwatched", "below_min_severity"
# Why there is none although its place was taken: the request is refused, or the trial channel takes no post.
FAILED, NO_TRIAL = "failed", "no_trial_channel"
_RANKS = {"info": 0, "warning": 1, "high": 2, "critical": 3}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Placed:
    incident: Incident
    standing: Standing
    run_id: str


class Triaging:
    """`wake_line` tells this process's queue that there is a run. `poll` seconds lie between two looks for what other
    processes took in, or what has become due."""

    def __init__(self, desk: Desk, budget: AlertBudget, wake_line: Callable[[], None], *, poll: float = 1.0) -> None:
        self._desk, self._budget, self._wake_line, self._poll = desk, budget, wake_line, poll
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """An incident has changed. Call from the event loop."""
        self._woken.set()

    async def run(self) -> None:
        """Without end."""
        await look_without_end(self.look, self._woken, self._poll, "no alerts are triaged")

    async def look(self) -> None:
        """Take up what is due. Raises storage's errors: the rest is due still."""
        waiting, placed = 0, list[_Placed]()
        for incident in await self._desk.db.call(self._desk.incidents.due, self._desk.place.clock()):
            found = await apart(self._taken_up(incident, waiting + 1), _name(incident), otherwise=False)
            waiting += found is True
            placed += [found] if isinstance(found, _Placed) else []
        # At once: a source of labels that hangs holds none but its own up.
        await asyncio.gather(*(self._started(one) for one in placed))

    async def _taken_up(self, incident: Incident, position: int) -> _Placed | bool:
        """Its run's place; else whether it waits in the line, at that position."""
        standing = await self._desk.alert_channels.standing(incident.channel)
        reason = self._reason(incident, standing)
        if reason is None:
            return await self._admitted(incident, standing, position)
        await self._skip(incident, reason)
        return False

    def _reason(self, incident: Incident, standing: Standing) -> str | None:
        """Why there is to be no run. An unknown severity counts as a warning."""
        if not standing.watched:
            return UNWATCHED
        if standing.muted_until:
            return MUTED
        least = _RANKS[self._desk.settings.alert_min_severity]
        return MINOR if _RANKS.get(incident.severity or "", _RANKS["warning"]) < least else None

    async def _skip(self, incident: Incident, reason: str) -> None:
        log.info("incident %s is not looked into: %s", incident.incident_id, reason)
        await self._desk.db.call(self._desk.incidents.skipped, incident.incident_id, incident.occurrence, reason)

    # ---------------------------------------------------------------- its run

    async def _admitted(self, incident: Incident, standing: Standing, position: int) -> _Placed | bool:
        run_id = self._desk.place.new_id()
        found = await self._desk.db.call(self._budget.admit, incident, run_id, position=position)
        if found.what == "start":
            return _Placed(incident, standing, run_id)
        if found.what == "skip":
            log.warning("incident %s is not looked into: %s", incident.incident_id, found.reason)
        return found.what == "wait"

    async def _started(self, one: _Placed) -> None:
        """A fault of ours is told in the thread: the next try would fail as well, and cost others their places."""
        if not await apart(self._start(one.incident, one.standing, one.run_id), _name(one.incident), otherwise=False):
            await self._desk.db.call(self._desk.incidents.give_back, one.run_id, FAILED)

    async def _start(self, incident: Incident, standing: Standing, run_id: str) -> bool:
        """Its place is taken. Where Slack or the database is away it stays so, and the incident is due again in a minute."""
        desk, run = self._desk, await self._made(incident, run_id)
        if run is None:
            return True
        details: dict[str, Any] = {"trigger": "alert", "incident": incident.incident_id, "occurrence": incident.occurrence}
        if standing.trial:
            ts = await self._trial_post(incident, standing.trial, run_id)
            if ts is None:
                return True
            details["trial"] = {"channel": standing.trial, "ts": ts}
        await desk.db.call(desk.jobs.add, _job(incident, run, details))
        log.info("run %s looks into incident %s: %s", run.run_id, incident.incident_id, incident.title)
        self._wake_line()
        return True

    async def _made(self, incident: Incident, run_id: str) -> NewRun | None:
        desk = self._desk
        alerts = await desk.db.call(alerts_of, desk.incidents, incident.incident_id)
        firing = [alert for alert in alerts if alert.status != "resolved"]
        if not firing:
            await desk.db.call(desk.incidents.give_back, run_id, None)
            return None
        request = triage_request(
            await enriched(firing, desk.place.tools, desk.place.clock()),
            session_id=incident.thread.session_id,
            language=desk.settings.language,
            zone=desk.zone,
            now=(desk.clock or desk.place.clock)(),
            seconds=desk.settings.alert_max_seconds,
        )
        try:
            return new_run(request, desk.place, run_id)
        except RequestRefused as error:
            log.error("incident %s cannot be looked into: %s", incident.incident_id, error)
            await desk.db.call(desk.incidents.give_back, run_id, FAILED)
            return None

    async def _trial_post(self, incident: Incident, channel: str, run_id: str) -> str | None:
        """A post in the trial channel that the report stands under; None where Slack does not take it: in vain where it
        refuses, and again in a minute where it is away."""
        desk = self._desk
        found = await desk.slack.optional("chat.getPermalink", channel=incident.channel, message_ts=incident.root_ts)
        link = str((found or {}).get("permalink") or "")
        language = desk.settings.language if desk.settings.language != "auto" else "en"
        title = escape(phone_line(incident.title))
        shown = f"<{link}|{title.replace('|', '¦')}>" if link else title
        text = desk.says(language, "trial_root", title=shown, channel=incident.channel)
        try:
            posted = await desk.slack.call(
                "chat.postMessage", channel=channel, text=text, unfurl_links=False, unfurl_media=False
            )
        except SlackAway as error:
            log.warning("incident %s is looked into later, on trial: %s", incident.incident_id, error)
            return None
        except SlackRefused as error:
            log.error("the report of incident %s has no place in the trial channel: %s", incident.incident_id, error)
            await desk.db.call(desk.incidents.give_back, run_id, NO_TRIAL)
            return None
        return str(posted["ts"])


def _name(incident: Incident) -> str:
    return f"incident {incident.incident_id}"


def _job(incident: Incident, run: NewRun, details: dict[str, Any]) -> NewJob:
    """Who has the incident's run is decided before; an occurrence may have a later one."""
    trigger = f"{ALERT_TRIGGER}{incident.occurrence}:{run.run_id}"[:64]
    key = JobKey(incident.team, incident.channel, incident.root_ts, trigger)
    return NewJob(key=key, run=run, thread=incident.thread, user_id=None, details=details)


def noting_ends(desk: Desk, then: Callable[[Job], Awaitable[None]]) -> Callable[[Job], Awaitable[None]]:
    """For the worker: once a report stands, its incident knows; `then` follows."""

    async def ended(job: Job) -> None:
        if job.user_id is None:
            run = await desk.db.call(TraceStore(desk.db).run, job.run_id)
            verdict = None if run.status == "CANCELLED" else run.verdict
            await desk.db.call(desk.incidents.ended, job.run_id, verdict)
            desk.alerts_changed()
        await then(job)

    return ended
