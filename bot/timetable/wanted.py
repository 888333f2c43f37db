"""What the settings want done by the clock: the same list for the bot and for `proofthread schedule`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from bot.setting_types import Patrol
from bot.settings import Settings, zone_of

DIGEST, KNOWLEDGE, RETENTION, RECHECK, RECOVERY = "digest", "knowledge", "retention", "re-check", "recovery"
PATROL = "patrol"


@dataclass(frozen=True)
class Entry:
    """`name` is unique, and the key of its slots. `catch_up`: how late a missed slot is still made up for."""

    name: str
    kind: Literal["patrol", "digest", "knowledge", "retention"]
    cron: str
    zone: ZoneInfo
    does: str
    patrol: Patrol | None = None
    catch_up: timedelta = timedelta()


@dataclass(frozen=True)
class Every:
    """What the leader does again and again, without slots."""

    name: str
    minutes: float
    does: str


@dataclass(frozen=True)
class NotSet:
    """What is not done, and the setting that would have it done."""

    name: str
    advice: str


def timetable(settings: Settings, zone: ZoneInfo) -> list[Entry]:
    """Patrols first, in the settings' order."""
    found = _patrols(settings, zone)
    day = timedelta(hours=24)
    if settings.digest_channel and settings.digest_cron:
        does = f"posts the calibration digest in {settings.digest_channel}"
        found.append(Entry(DIGEST, "digest", settings.digest_cron, zone, does, catch_up=timedelta(hours=12)))
    if settings.knowledge_dir and settings.knowledge_cron:
        does = f"syncs the knowledge base with {settings.knowledge_dir}"
        found.append(Entry(KNOWLEDGE, "knowledge", settings.knowledge_cron, zone, does, catch_up=day))
    if settings.retention_cron:
        does = f"deletes what is older than {settings.retention_days} days"
        found.append(Entry(RETENTION, "retention", settings.retention_cron, zone, does, catch_up=day))
    return found


def beats(settings: Settings) -> list[Every]:
    found = []
    if settings.recheck_minutes:
        does = f"says {settings.recheck_minutes} minutes after a report whether its alert still fires"
        found.append(Every(RECHECK, settings.recheck_minutes, does))
    if settings.recovery_minutes:
        does = (
            f"every {settings.recovery_minutes:g} minutes ends runs that nobody finishes; "
            "the queue itself takes up those of a process that died"
        )
        found.append(Every(RECOVERY, settings.recovery_minutes, does))
    return found


def not_set(settings: Settings) -> list[NotSet]:
    found = []
    if not settings.patrols:
        advice = "to look for alerts by the clock, add [[patrols]] with cron and channel to proofthread.toml"
        found.append(NotSet(PATROL, advice))
    elif not (settings.prometheus_url or settings.alertmanager_url):
        found.append(NotSet(PATROL, "patrols need prometheus_url or alertmanager_url to see what fires"))
    if not settings.digest_channel:
        found.append(NotSet(DIGEST, "set digest_channel to the id of the channel that gets the calibration digest"))
    elif not settings.digest_cron:
        found.append(NotSet(DIGEST, "set digest_cron, for instance `0 9 * * mon`"))
    if not settings.knowledge_dir:
        found.append(NotSet(KNOWLEDGE, "set knowledge_dir to your folder of runbooks"))
    elif not settings.knowledge_cron:
        found.append(NotSet(KNOWLEDGE, "set knowledge_cron, for instance `30 4 * * *`"))
    if not settings.retention_cron:
        found.append(NotSet(RETENTION, "set retention_cron, or run proofthread purge yourself"))
    if not settings.recheck_minutes:
        found.append(NotSet(RECHECK, "set recheck_minutes, for instance 15"))
    if not settings.recovery_minutes:
        found.append(NotSet(RECOVERY, "set recovery_minutes, for instance 10"))
    return found


def _patrols(settings: Settings, zone: ZoneInfo) -> list[Entry]:
    seen: Counter[str] = Counter()
    found = []
    for patrol in settings.patrols:
        base = f"{PATROL} {patrol.name or patrol.channel}"
        seen[base] += 1
        name = base if seen[base] == 1 else f"{base} ({seen[base]})"
        does = f"looks for what fires and reports in {patrol.channel}"
        there = zone_of(patrol.zone) if patrol.zone else zone
        found.append(Entry(name, "patrol", patrol.cron, there, does, patrol))
    return found
