"""Retention: what is deleted, by command or by the clock, leaves the search as well."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.app import App, open_app, prepare
from bot.cases import Cases
from bot.errors import ConfigError
from bot.settings import Loaded
from bot.terminal.lines import Line
from storage.retention import Purged, Retention


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
    """Delete what is older than `days`, else than the setting says. The bot does so by the clock."""
    before = now - timedelta(days=app.settings.retention_days if days is None else days)
    return await _done(app, await app.database.call(Retention(app.database).purge_before, before))


async def _done(app: App, purged: Purged) -> Purged:
    if purged.case_ids:
        await Cases.of(app).forget(purged.case_ids)
    return purged


def purged_json(purged: Purged) -> dict[str, Any]:
    return asdict(purged)


def purged_lines(purged: Purged) -> list[Line]:
    counts = purged_text(purged)
    return [Line(counts, lead="Deleted: ")] if counts else [Line("Nothing to delete.")]


def purged_text(purged: Purged) -> str:
    """Counts by name; empty where nothing was deleted."""
    counts = {name: count for name, count in asdict(purged).items() if name != "case_ids" and count}
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())
