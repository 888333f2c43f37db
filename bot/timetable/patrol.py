"""A patrol: what fires now, looked into by the clock. Where nothing fires nobody hears of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from agents.alert_interest import is_of_interest
from agents.state import RunRequest
from bot.blocks.reader import Reader
from bot.blocks.text import escape, phone_line
from bot.budget import ALERT_TRIGGER
from bot.desk import Desk
from bot.jobs import RequestRefused, new_run
from bot.setting_types import Patrol
from bot.timetable.language import schedule_reader
from storage.jobs import JobKey, NewJob
from storage.schedule import ScheduleStore
from storage.sessions import Thread
from tools.active_alerts import ActiveAlert, active_alerts
from tools.errors import ToolFailed

NAMED, LINE_CHARS = 5, 400
TRIGGER = f"{ALERT_TRIGGER}patrol"
EVENT_TYPE = "proofthread_patrol"
QUIET, BLIND, MUTED = "nothing fires", "could not look", "the channel is muted"
_ORDER = ("critical", "page", "high", "error", "major", "warning")

log = logging.getLogger(__name__)


class Patrols:
    """`wake_line` tells this process's queue that there is a run."""

    def __init__(self, desk: Desk, wake_line: Callable[[], None]) -> None:
        self._desk, self._wake_line = desk, wake_line

    async def go(self, job: str, patrol: Patrol, slot: datetime) -> str:
        """What came of the slot. Raises SlackAway, SlackRefused and StorageError: then there is no report."""
        desk = self._desk
        standing = await desk.alert_channels.standing(patrol.channel)
        if standing.muted_until:
            return MUTED
        channel, tools = standing.trial or patrol.channel, desk.place.tools
        try:
            found = await active_alerts(tools.prometheus, tools.alertmanager, desk.place.clock())
        except ToolFailed as error:
            return await self._blind(job, patrol, channel, slot, str(error))
        for failure in found.failures:
            log.warning("%s saw only a part: %s", job, failure)
        alerts = [alert for alert in found.alerts if is_of_interest(alert.fields, desk.settings.alerts_ignore)]
        if not alerts:
            return await self._clear(patrol, channel, slot)
        return await self._report(patrol, channel, slot, sorted(alerts, key=_rank))

    async def _clear(self, patrol: Patrol, channel: str, slot: datetime) -> str:
        if self._desk.settings.patrol_all_clear:
            reader = schedule_reader(self._desk, zone=patrol.zone or "")
            await self._post(channel, slot, reader.say("patrol_clear", name=_name(patrol, reader), when=reader.at(slot)))
        return QUIET

    async def _blind(self, job: str, patrol: Patrol, channel: str, slot: datetime, why: str) -> str:
        """Said once, not at every slot as long as it lasts."""
        before = await self._desk.db.call(ScheduleStore(self._desk.db).before, job, slot)
        if before is None or not (before.outcome or "").startswith(BLIND):
            reader = schedule_reader(self._desk, zone=patrol.zone or "")
            said = reader.say("patrol_blind", name=_name(patrol, reader), when=reader.at(slot), why=phone_line(why, LINE_CHARS))
            await self._post(channel, slot, said)
        return f"{BLIND}: {why}"

    async def _report(self, patrol: Patrol, channel: str, slot: datetime, alerts: Sequence[ActiveAlert]) -> str:
        """A post of its own, and a run whose report stands under it."""
        desk = self._desk
        reader = schedule_reader(desk, " ".join(alert.summary for alert in alerts), patrol.zone or "")
        said = reader.say(
            "patrol_found",
            name=_name(patrol, reader),
            when=reader.at(slot),
            count=len(alerts),
            alerts=_listed(alerts, reader),
        )
        thread = Thread(desk.bot.team, channel, await self._post(channel, slot, said))
        try:
            run = new_run(self._request(thread, reader), desk.place)
        except RequestRefused as error:
            return f"refused: {error}"
        key = JobKey(thread.team, thread.channel, thread.ts, TRIGGER)
        details = {"trigger": "patrol", "slot": slot.isoformat()}
        await desk.db.call(desk.jobs.add, NewJob(key=key, run=run, thread=thread, user_id=None, details=details))
        self._wake_line()
        return f"{len(alerts)} firing, run {run.run_id}"

    def _request(self, thread: Thread, reader: Reader) -> RunRequest:
        desk = self._desk
        return RunRequest(
            session_id=thread.session_id,
            question=reader.say("patrol_question"),
            language=reader.language,
            zone=reader.zone.key,
            now=(desk.clock or desk.place.clock)(),
            agent_flow="AI_OPS",
            deadline_seconds=desk.settings.alert_max_seconds,
            mode="AUTO_DISCOVERY",
        )

    async def _post(self, channel: str, slot: datetime, text: str) -> str:
        payload = {"slot": slot.isoformat()}
        posted = await self._desk.slack.call(
            "chat.postMessage",
            channel=channel,
            text=escape(text),
            unfurl_links=False,
            unfurl_media=False,
            metadata={"event_type": EVENT_TYPE, "event_payload": payload},
        )
        return str(posted["ts"])


def _name(patrol: Patrol, reader: Reader) -> str:
    word = reader.say("patrol_name")
    return f"{word} {patrol.name}" if patrol.name else word


def _rank(alert: ActiveAlert) -> int:
    severity = alert.labels.get("severity", "").lower()
    return _ORDER.index(severity) if severity in _ORDER else len(_ORDER)


def _listed(alerts: Sequence[ActiveAlert], reader: Reader) -> str:
    """The worst first, each name once."""
    names = list(dict.fromkeys(_shown(alert) for alert in alerts))
    more = [reader.say("patrol_more", count=len(names) - NAMED)] if len(names) > NAMED else []
    return phone_line(", ".join([*names[:NAMED], *more]), LINE_CHARS)


def _shown(alert: ActiveAlert) -> str:
    severity = alert.labels.get("severity")
    return f"{alert.name} ({severity})" if severity else alert.name
