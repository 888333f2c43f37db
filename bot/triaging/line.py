"""The teller: keeps one line in each incident's thread and one reaction on its alert's post true.

The database says which threads are behind and who tells one, so that two processes tell once and a killed one is taken over.
Slack has no idempotency key: before the line is posted that is written down, and whoever takes over looks for it first.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.blocks.incident import IncidentLine, IncidentView, incident_line, reaction_of
from bot.blocks.reader import Reader
from bot.incidents.course import Times
from bot.looking import look_without_end
from bot.slack.client import SlackAway, SlackCalls, SlackRefused
from bot.slack.pacing import Pacer
from bot.triaging.apart import apart
from bot.triaging.told_thread import EVENT_TYPE, TakenOver, ToldThread
from storage.engine import Database
from storage.incidents import Incident, IncidentStore, StoredAlert

LINE = "line"
AT_A_TIME = 50
STALE = timedelta(seconds=Times.stale)
# Somebody took the message or its place away: it is not put there again.
GONE = frozenset({"message_not_found", "cant_update_message", "thread_not_found", "edit_window_closed"})
NO_PLACE = frozenset({"channel_not_found", "is_archived", "not_in_channel", "no_permission", "restricted_action"})
# As good as done.
DONE = frozenset({"already_reacted", "no_reaction", "message_not_found", "bad_timestamp", "too_many_reactions"})

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TellerTimes:
    """Seconds. `edit_pace`: between two edits of lines in this process, and `reaction_pace` of reactions (Slack allows about 50
    a minute for the workspace); `rest`: how long a thread that was told is left alone, `busy` one whose channel took
    nothing, `retry` one that could not be told; `lease`: how long a teller may take."""

    poll: float = 1.0
    busy: float = 1.0
    edit_pace: float = 2.5
    reaction_pace: float = 1.3
    rest: float = 3.0
    retry: float = 5.0
    settle: float = 1.0
    lease: float = 60.0
    heal: float = 30.0


@dataclass(frozen=True)
class Telling:
    """How an incident is told: for whom, and whether nothing new is posted (a channel on trial, muted or not watched). What
    stands there already is kept true: edits ring nowhere. `is_gone`: the post is deleted, and with it the thread."""

    reader: Reader
    is_silent: bool = False
    is_gone: bool = False


How = Callable[[Incident, StoredAlert | None], Awaitable[Telling]]


class IncidentTeller:
    """`how` says for whom an incident, with the alert to stay on, is told. `owner` names this process. With a `clock`, incidents
    of which nothing is heard any more are taken as over."""

    def __init__(
        self,
        calls: SlackCalls,
        db: Database,
        how: How,
        owner: str,
        *,
        flapping_from: int = 3,
        clock: Callable[[], datetime] | None = None,
        times: TellerTimes | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._calls, self._db, self._how, self._owner = calls, db, how, owner
        self._store = IncidentStore(db)
        self._times, self._flapping_from, self._sleep = times or TellerTimes(), flapping_from, sleep
        self._clock = clock
        self._edits, self._reactions = Pacer(self._times.edit_pace), Pacer(self._times.reaction_pace)
        self._woken = asyncio.Event()
        self._healed_at = float("-inf")

    def wake(self) -> None:
        """An incident has changed. Call from the event loop."""
        self._woken.set()

    async def run(self) -> None:
        """Without end."""
        await look_without_end(self._heal_and_look, self._woken, self._times.poll, "no incident's thread is told")

    async def _heal_and_look(self) -> None:
        await self._heal()
        await self.look()

    async def look(self) -> int:
        """Tell what is behind, the most severe first, as far as Slack takes it now; how many were told. Raises storage's
        errors."""
        told = 0
        for incident in await self._db.call(self._store.dirty, AT_A_TIME):
            name = f"the thread of incident {incident.incident_id}"
            told += await apart(self._tell(incident), name, otherwise=False)
        return told

    async def _heal(self) -> None:
        """Runs that ended without their incident being told: their process died in between. And incidents that nobody ends."""
        now = asyncio.get_running_loop().time()
        if now - self._healed_at < self._times.heal:
            return
        self._healed_at = now
        for run_id, verdict in await self._db.call(self._store.unended, self._times.heal):
            await self._db.call(self._store.ended, run_id, verdict)
        if self._clock is not None and (left := await self._db.call(self._store.leave, self._clock() - STALE)):
            log.info("%d incidents are taken as over: nothing was heard of them for %s", left, STALE)

    # ---------------------------------------------------------------- one incident

    async def _tell(self, seen: Incident) -> bool:
        """Whether it is told. Where Slack takes nothing now, it is left for later."""
        taken = await self._db.call(self._store.take_telling, seen.incident_id, self._owner, self._times.lease)
        if taken is None:
            return False
        one = ToldThread(self._calls, self._db, self._store, taken, self._owner)
        rest = self._times.retry
        try:
            if await self._told(one):
                return await one.finish(self._times.rest)
            rest = self._times.busy
        except TakenOver:
            return False
        except SlackAway as error:
            log.info("the thread of incident %s is told later: %s", taken.incident_id, error)
        except SlackRefused as error:
            log.warning("the thread of incident %s cannot be told: %s", taken.incident_id, error)
            if error.error in NO_PLACE:
                return await one.finish(self._times.rest)
        await self._db.call(self._store.let_go, taken.incident_id, self._owner, rest)
        return False

    async def _told(self, one: ToldThread) -> bool:
        incident = one.incident
        alerts = await self._db.call(self._store.alerts_of, incident.incident_id)
        how = await self._how(incident, alerts[0] if alerts else None)
        if how.is_gone or (how.is_silent and one.line is None and not one.perhaps):
            return True
        await self._react(one, reaction_of(incident, how.reader))
        line = incident_line(await self._view(one, alerts), how.reader)
        if line is None or _digest(line) == one.digest or (how.is_silent and one.line is None):
            return True
        return await self._say(one, line)

    async def _view(self, one: ToldThread, alerts: list[StoredAlert]) -> IncidentView:
        incident, whole = one.incident, None
        if incident.merged_into is not None:
            found = await self._db.call(self._store.get, incident.merged_into)
            whole = found.title if found else incident.merged_into
        return IncidentView(incident, alerts, self._flapping_from, whole, has_line=one.line is not None)

    async def _react(self, one: ToldThread, wanted: str | None) -> None:
        """The wanted reaction first, then the others away: the post is never without one."""
        if wanted is not None and wanted not in one.reactions:
            await one.note(adding=wanted)
            await self._reacted("reactions.add", one, wanted)
            await one.note(reactions=[*one.reactions, wanted], adding=None)
        for name in [name for name in one.perhaps if name != wanted]:
            await self._reacted("reactions.remove", one, name)
        if one.perhaps != ([wanted] if wanted else []):
            await one.note(reactions=[wanted] if wanted else [], adding=None)

    async def _reacted(self, method: str, one: ToldThread, name: str) -> None:
        await self._reactions.turn("")
        incident = one.incident
        try:
            await self._calls.call(method, channel=incident.channel, timestamp=incident.root_ts, name=name)
        except SlackRefused as error:
            if error.error not in DONE:
                log.warning("%s", error)

    async def _say(self, one: ToldThread, line: IncidentLine) -> bool:
        """False where the channel takes no message now."""
        if one.is_gone:
            return True
        if one.line is None and one.is_posting:
            await self._sleep(self._times.settle)
            await one.find()
        if one.line is None:
            return await self._post(one, line)
        await self._edits.turn("")
        try:
            await self._calls.call("chat.update", channel=one.incident.channel, ts=one.line, **_content(one, line))
        except SlackRefused as error:
            if error.error not in GONE:
                raise
            await one.note(gone=True)
            return True
        await one.note(digest=_digest(line))
        return True

    async def _post(self, one: ToldThread, line: IncidentLine) -> bool:
        incident = one.incident
        await one.note(posting=True)
        try:
            posted = await self._calls.post_at_once(
                incident.channel,
                thread_ts=incident.root_ts,
                unfurl_links=False,
                unfurl_media=False,
                **_content(one, line),
            )
        except SlackAway as error:
            if not error.may_have_happened:
                await one.note(posting=False)
            raise
        if posted is None:
            await one.note(posting=False)
            return False
        await one.note(line=str(posted["ts"]), digest=_digest(line), posting=False)
        return True


def _content(one: ToldThread, line: IncidentLine) -> dict[str, Any]:
    payload = {"incident": one.incident.incident_id, "part": LINE}
    return {
        "text": line.text,
        "blocks": line.blocks,
        "metadata": {"event_type": EVENT_TYPE, "event_payload": payload},
    }


def _digest(line: IncidentLine) -> str:
    return hashlib.sha256(json.dumps([line.text, line.blocks]).encode()).hexdigest()[:16]
