"""What `proofthread schedule` shows: each job's next firing, what it does, and its last slot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from agents.replies import Replies
from bot.blocks.reader import Reader
from bot.data import data_folder
from bot.errors import ConfigError
from bot.schedule import LEASE, next_slot, trigger_of
from bot.settings import Loaded
from bot.terminal.lines import Line
from bot.timetable.digest import Digest, digest_of
from bot.timetable.language import schedule_words
from bot.timetable.wanted import Entry, Every, NotSet, beats, not_set, timetable
from bot.wiring import open_database, upgraded
from storage.calibration import ended_runs
from storage.engine import Database
from storage.rechecks import RecheckStore
from storage.schedule import FiredSlot, Leader, ScheduleStore

T = TypeVar("T")
LANGUAGES = ("zh", "en")


@dataclass(frozen=True)
class Listed:
    """`jobs` with their next firing and their last slot; `waiting` re-checks, the next due at `next_recheck`."""

    zone: ZoneInfo
    jobs: tuple[tuple[Entry, datetime | None, FiredSlot | None], ...]
    every: tuple[Every, ...]
    not_set: tuple[NotSet, ...]
    leader: Leader | None
    waiting: int
    next_recheck: datetime | None


def listed(loaded: Loaded, now: datetime | None = None) -> Listed:
    """Raises ConfigError and storage's errors."""
    settings, at = loaded.settings, now or datetime.now(UTC)

    def read(db: Database) -> Listed:
        store, last = ScheduleStore(db), ScheduleStore(db).last()
        waiting, next_recheck = RecheckStore(db).waiting()
        return Listed(
            zone=loaded.zone,
            jobs=tuple(
                (entry, next_slot(trigger_of(entry.cron, entry.zone), at), last.get(entry.name))
                for entry in timetable(settings, loaded.zone)
            ),
            every=tuple(beats(settings)),
            not_set=tuple(not_set(settings)),
            leader=store.leader(LEASE),
            waiting=waiting,
            next_recheck=next_recheck,
        )

    return _with_database(loaded, read)


def digest_now(loaded: Loaded, days: int, language: str | None = None, now: datetime | None = None) -> tuple[Digest, Reader]:
    """Of so many days up to now, with the words to show it in. Raises ConfigError and storage's errors."""
    if language not in (None, *LANGUAGES):
        raise ConfigError(f"--language {language!r} is not known: write zh or en.")
    until = now or datetime.now(UTC)
    since = until - timedelta(days=days)
    chosen = language or loaded.settings.language
    replies = schedule_words(Replies.load(data_folder("prompts") / "replies"))
    reader = Reader(replies, "en" if chosen == "auto" else chosen, loaded.zone)
    return digest_of(_with_database(loaded, lambda db: ended_runs(db, since, until)), since, until), reader


def _with_database(loaded: Loaded, work: Callable[[Database], T]) -> T:
    database = open_database(loaded.settings)
    try:
        upgraded(database, is_ours=not loaded.settings.database_url.get_secret_value())
        return work(database)
    finally:
        database.close()


# ---------------------------------------------------------------- what is shown


def listing_json(found: Listed) -> dict[str, Any]:
    return {
        "jobs": [_job_json(*job) for job in found.jobs],
        "every": [asdict(each) for each in found.every],
        "not_set": [asdict(each) for each in found.not_set],
        "leader": None if found.leader is None else _plain(asdict(found.leader)),
        "rechecks": {"waiting": found.waiting, "next_due": _stamp(found.next_recheck)},
    }


def listing_lines(found: Listed) -> list[Line]:
    return [*_jobs(found), *_every(found), *_missing(found), *_leader(found)]


def _job_json(entry: Entry, following: datetime | None, last: FiredSlot | None) -> dict[str, Any]:
    return {
        "name": entry.name,
        "kind": entry.kind,
        "does": entry.does,
        "cron": entry.cron,
        "zone": entry.zone.key,
        "next_utc": _stamp(following),
        "next_local": None if following is None else following.astimezone(entry.zone).isoformat(timespec="seconds"),
        "last": None if last is None else _plain(asdict(last)),
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _stamp(value) if isinstance(value, datetime) else value for name, value in values.items()}


def _stamp(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _jobs(found: Listed) -> Iterator[Line]:
    for entry, following, last in found.jobs:
        yield Line(entry.does, lead=f"{entry.name}: ", lead_style="bold")
        yield Line(f"{_at(following, entry.zone) if following else 'never'}  ({entry.cron}, {entry.zone.key})", lead="  next  ")
        yield Line(_last(last, entry.zone), lead="  last  ", style="dim")


def _last(last: FiredSlot | None, zone: ZoneInfo) -> str:
    if last is None:
        return "not yet"
    outcome = last.outcome or "at work, or its process died"
    return f"{_at(last.slot, zone)} by {last.fired_by}: {outcome}"


def _every(found: Listed) -> Iterator[Line]:
    for each in found.every:
        yield Line(each.does, lead=f"{each.name}: ", lead_style="bold")
    if found.waiting:
        due = f", the next at {_at(found.next_recheck, found.zone)}" if found.next_recheck else ""
        yield Line(f"{found.waiting} second looks wait{due}", lead="  ", style="dim")


def _missing(found: Listed) -> Iterator[Line]:
    for each in found.not_set:
        yield Line(each.advice, lead=f"{each.name}: off; ", style="yellow")


def _leader(found: Listed) -> Iterator[Line]:
    if found.leader is None:
        yield Line("Nothing has led yet: proofthread serve does all this while it runs.")
    elif found.leader.is_live:
        yield Line(f"{found.leader.owner} leads.")
    else:
        yield Line(f"Nobody leads now: proofthread serve does not run. {found.leader.owner} led last.", style="yellow")


def _at(moment: datetime, zone: ZoneInfo) -> str:
    """Local first, UTC beside it."""
    local, there = moment.astimezone(zone), moment.astimezone(UTC)
    if local.utcoffset() == there.utcoffset():
        return f"{there:%a %Y-%m-%d %H:%M} UTC"
    day = "" if local.date() == there.date() else f"{there:%a} "
    return f"{local:%a %Y-%m-%d %H:%M %Z} ({day}{there:%H:%M} UTC)"
