"""What apps post, edit and take away where alerts are watched: it is read and stored here, before Slack is answered."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.alert_reading.parsed import ChangeNote, Parsed
from bot.alerts import parse_alerts
from bot.desk import UNFINISHED, Desk
from bot.incidents.channels import AlertChannels
from bot.incidents.intake import AlertPost
from bot.slack.incoming import instant
from bot.slack.ours import is_ours
from bot.slack.text import mentioned
from bot.worker import QUIET
from storage.change_events import ChangeEvent, ChangeEvents
from storage.incident_book import gone_key
from storage.incidents import Incident

# What Slack's ids and time stamps look like; nothing else is looked up or kept.
_ID, _TS = re.compile(r"[A-Z0-9]{1,32}"), re.compile(r"[0-9]{1,11}(?:\.[0-9]{1,12})?")
EDITED, DELETED, TOMBSTONE = "message_changed", "message_deleted", "tombstone"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Posted:
    """A message event of an app. `message` is the post as it is now; of a deletion, as it was."""

    team: str
    channel: str
    event: Mapping[str, Any]
    message: Mapping[str, Any]
    event_id: str | None
    is_gone: bool

    @property
    def is_edit(self) -> bool:
        return self.event.get("subtype") == EDITED

    @property
    def ts(self) -> str:
        return str(self.message.get("ts") or "")

    @property
    def thread_ts(self) -> str | None:
        """Of the thread that it replies to."""
        thread_ts = self.message.get("thread_ts")
        return str(thread_ts) if thread_ts and thread_ts != self.ts else None

    @property
    def is_persons(self) -> bool:
        return not self.message.get("bot_id") and self.message.get("subtype") != "bot_message"


async def hear_alert(desk: Desk, body: Mapping[str, Any]) -> bool:
    """Whether this was for us: an app's post, edit or deletion where alerts are watched. Raises StorageError: the event
    must stay unacknowledged then."""
    posted = _read(body, desk.bot.team)
    if posted is None or not _may_be_alert(posted, desk, desk.alert_channels):
        return False
    if not (await desk.alert_channels.standing(posted.channel)).watched:
        return False
    if posted.is_gone:
        await _taken_away(desk, posted)
    else:
        await _taken_in(desk, posted)
    return True


def _read(body: Mapping[str, Any], team: str) -> Posted | None:
    event = body.get("event")
    if not isinstance(event, Mapping):
        return None
    is_gone = _is_gone(event)
    message = event.get("previous_message") if is_gone else event.get("message") if event.get("subtype") == EDITED else event
    channel = event.get("channel")
    if not isinstance(message, Mapping) or not _is_id(channel) or not _is_ts(message.get("ts")):
        return None
    if not _is_ts(event.get("ts") or message["ts"]) or not _is_ts(message.get("thread_ts") or message["ts"]):
        return None
    return Posted(team, str(channel), event, message, str(body.get("event_id") or "") or None, is_gone)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_ts(value: object) -> bool:
    return isinstance(value, str) and _TS.fullmatch(value) is not None


def _is_gone(event: Mapping[str, Any]) -> bool:
    """Of a deleted post that has replies Slack says that it was changed into a tombstone."""
    message = event.get("message")
    is_tombstone = isinstance(message, Mapping) and message.get("subtype") == TOMBSTONE
    return event.get("subtype") == DELETED or (event.get("subtype") == EDITED and is_tombstone)


def _may_be_alert(posted: Posted, desk: Desk, channels: AlertChannels) -> bool:
    """A person who is listed as a sender passes alerts on, talks about them in threads, and asks by naming us."""
    message = posted.message
    if posted.is_persons and (posted.thread_ts or desk.bot.user_id in mentioned(str(message.get("text") or ""))):
        return False
    return channels.is_sender(message) and not is_ours(message, desk.bot)


# ---------------------------------------------------------------- in


async def _taken_in(desk: Desk, posted: Posted) -> None:
    parsed = parse_alerts(_to_read(posted), own_bot_ids=(desk.bot.bot_id, desk.bot.user_id))
    if parsed.change is not None:
        await desk.db.call(ChangeEvents(desk.db).add, _change(posted, parsed.change))
    heeded = desk.alert_channels.heeded(parsed)
    taken = await desk.db.call(desk.intake.take, _post(posted, heeded), heeded)
    if not taken:
        log.info("nothing new in %s: %s", posted.channel, parsed.ignored_reason or "ignored, or here before")
    for one in taken:
        incident = one.incident.incident_id if one.incident else "none"
        log.info("alert %s of incident %s: %s", one.alert.alert_name, incident, one.what)
    if taken:
        desk.alerts_changed()


def _to_read(posted: Posted) -> Mapping[str, Any]:
    """What a listed person passes on is read like an app's post."""
    if not posted.is_persons:
        return posted.event
    ours = ("user", "client_msg_id")
    message = {name: value for name, value in posted.message.items() if name not in ours}
    message |= {"subtype": "bot_message", "bot_id": posted.message.get("user")}
    return {**posted.event, "message": message} if posted.is_edit else message


def _post(posted: Posted, parsed: Parsed) -> AlertPost:
    """An edit has a time stamp of its own, and is about the post."""
    ts = str(posted.event.get("ts") or posted.ts)
    return AlertPost(
        team=posted.team,
        channel=posted.channel,
        ts=ts,
        thread_ts=posted.thread_ts,
        update_of_ts=parsed.update_of_ts or (posted.ts if posted.is_edit else None),
        at=instant(ts),
        event_id=posted.event_id,
        is_edit=posted.is_edit,
    )


def _change(posted: Posted, note: ChangeNote) -> ChangeEvent:
    """A post says when it was posted; that it happened then is the best that is known."""
    is_private = posted.event.get("channel_type") != "channel"
    details = note.model_dump(exclude={"summary", "service"}, exclude_none=True)
    at = instant(posted.ts)
    return ChangeEvent(posted.team, posted.channel, posted.ts, note.summary, at, note.service, details, is_private)


# ---------------------------------------------------------------- away


async def _taken_away(desk: Desk, posted: Posted) -> None:
    """Nobody wants to hear of an alert whose post is gone: its run ends, and says nothing. The post may be heard of after
    that: then it starts none."""
    await desk.note(gone_key(posted.team, posted.channel, posted.ts))
    for one in await desk.db.call(desk.intake.forget, posted.team, posted.channel, posted.ts, desk.place.clock()):
        if one.run_id is not None:
            await _ended_quietly(desk, one, one.run_id)
    desk.alerts_changed()


async def _ended_quietly(desk: Desk, incident: Incident, run_id: str) -> None:
    run = await desk.db.call(desk.trace.run, run_id)
    if run.status in UNFINISHED:
        await desk.db.call(desk.trace.put_evaluation, run_id, QUIET, {"why": "deleted"})
        await desk.cancel(run_id)
        log.info("run %s is stopped: the post of incident %s was deleted", run_id, incident.incident_id)
