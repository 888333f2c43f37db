"""The schedule of a running bot: what the settings want, with the work behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from bot.app import App
from bot.desk import Desk
from bot.knowledge import sync_deps
from bot.purging import purge_old, purged_text
from bot.schedule import Beat, Planned, Schedule, ScheduleTimes, trigger_of
from bot.timetable.digest import post_digest
from bot.timetable.patrol import Patrols
from bot.timetable.rechecking import Rechecks
from bot.timetable.recovering import end_abandoned
from bot.timetable.wanted import RECHECK, RECOVERY, Entry, timetable
from tools.errors import ToolFailed
from tools.ingest import sync_folder

LOOK_SECONDS = 5.0


def schedule_of(app: App, desk: Desk, wake_line: Callable[[], None], *, times: ScheduleTimes | None = None) -> Schedule:
    """Not started yet. `wake_line` tells this process's queue that there is a run."""
    settings, patrols, times = app.settings, Patrols(desk, wake_line), times or ScheduleTimes()
    plans = [
        Planned(entry.name, trigger_of(entry.cron, entry.zone), _work(entry, app, desk, patrols), entry.catch_up)
        for entry in timetable(settings, app.zone)
    ]
    # Also where no report is followed up: people may ask for a second look.
    beats = [Beat(RECHECK, min(LOOK_SECONDS, 5 * times.beat), Rechecks(desk).look)]
    if settings.recovery_minutes:
        beats.append(Beat(RECOVERY, 60.0 * settings.recovery_minutes, partial(end_abandoned, app.work)))
    return Schedule(app.database, app.work.owner, plans, beats, clock=app.work.clock, times=times)


def _work(entry: Entry, app: App, desk: Desk, patrols: Patrols) -> Callable[[datetime], Awaitable[str]]:
    if entry.patrol is not None:
        return partial(patrols.go, entry.name, entry.patrol)
    if entry.kind == "digest":
        return partial(post_digest, desk, app.settings.digest_channel or "")
    return partial(_synced if entry.kind == "knowledge" else _purged, app)


async def _synced(app: App, _: datetime) -> str:
    """Raises ToolFailed where it broke off."""
    folder = app.settings.knowledge_dir
    assert folder is not None  # the timetable has it only then
    report = await sync_folder(folder, sync_deps(app, with_vectors=True))
    if report.is_busy:
        return "another sync was at it"
    if report.failure:
        raise ToolFailed(report.failure)
    counts = f"{len(report.indexed)} indexed, {report.unchanged} unchanged, {len(report.removed)} removed"
    return f"{counts}, {len(report.problems)} broken"


async def _purged(app: App, _: datetime) -> str:
    return purged_text(await purge_old(app, app.work.clock())) or "nothing was too old"
