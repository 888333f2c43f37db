"""Retention: what is deleted, by command or by the clock, leaves the search as well."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.app import App, open_app, prepare
from bot.cases import Cases
from bot.errors import ConfigError
from bot.settings import Loaded
from bot.terminal.lines import Line
from storage.errors import StorageError
from storage.retention import Purged, Retention

DAY_SECONDS = 86_400.0
AGAIN_SECONDS = 600.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    """The command's options: one of them, or none for the setting's own age."""

    days: int | None = None
    run_id: str | None = None
    user_id: str | None = None


async def purged(loaded: Loaded, wanted: Wanted) -> Purged:
    """Raises ConfigError for two options at once, RunNotFound for an unknown run."""
    if sum(one is not None for one in (wanted.days, wanted.run_id, wanted.user_id)) > 1:
        raise ConfigError("Give one of --days, --run and --user: each deletes by itself.")
    async with open_app(loaded) as app:
        await prepare(app)
        if wanted.run_id is not None:
            return await _done(app, await app.database.call(Retention(app.database).purge_run, wanted.run_id))
        if wanted.user_id is not None:
            return await _done(app, await app.database.call(Retention(app.database).purge_user, wanted.user_id))
        return await purge_old(app, datetime.now(UTC), wanted.days)


async def purge_old(app: App, now: datetime, days: int | None = None) -> Purged:
    """Delete what is older than `days`, else than the setting says. The bot does so daily."""
    before = now - timedelta(days=app.settings.retention_days if days is None else days)
    return await _done(app, await app.database.call(Retention(app.database).purge_before, before))


async def purge_daily(
    app: App,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Without end, beginning now. Several processes may do it at once: what one has deleted the others do not find."""
    while True:
        try:
            deleted = await purge_old(app, clock())
        except StorageError as error:
            log.warning("what is older than %d days is not deleted yet: %s", app.settings.retention_days, error)
            await sleep(AGAIN_SECONDS)
            continue
        if counts := _counts(deleted):
            log.info("deleted what is older than %d days: %s", app.settings.retention_days, counts)
        await sleep(DAY_SECONDS)


async def _done(app: App, purged: Purged) -> Purged:
    if purged.case_ids:
        await Cases.of(app).forget(purged.case_ids)
    return purged


def purged_json(purged: Purged) -> dict[str, Any]:
    return asdict(purged)


def purged_lines(purged: Purged) -> list[Line]:
    counts = _counts(purged)
    return [Line(counts, lead="Deleted: ")] if counts else [Line("Nothing to delete.")]


def _counts(purged: Purged) -> str:
    counts = {name: count for name, count in asdict(purged).items() if name != "case_ids" and count}
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())
