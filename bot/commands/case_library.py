"""The work behind `proofthread cases`, kept from the command so that --help need not import it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

from bot.app import open_app, prepare
from bot.cases import Cases
from bot.errors import ConfigError
from bot.settings import Loaded
from bot.terminal.lines import Line, console_for, show
from bot.terminal.output import print_json
from storage.cases import Case, CaseStore, Status

NOTHING_TO_EDIT = "What should it say? Give at least one of --title, --root-cause, --solution, --category."
NONE_YET = "No case yet. A run that somebody finds useful makes one."


async def listed(loaded: Loaded, status: str | None, limit: int) -> list[Case]:
    wanted = next((known for known in get_args(Status) if known == status), None)
    if status is not None and wanted is None:
        raise ConfigError(f"--status {status!r} is unknown: write one of {', '.join(get_args(Status))}.")
    async with open_app(loaded) as app:
        await prepare(app)
        return await app.database.call(CaseStore(app.database).list, wanted, limit)


async def shown(loaded: Loaded, name: str) -> Case:
    async with open_app(loaded) as app:
        await prepare(app)
        return await app.database.call(CaseStore(app.database).get, name)


async def edited(loaded: Loaded, name: str, changes: Mapping[str, str], by: str) -> Case:
    """Fields that are not named stay as they are."""
    if not changes:
        raise ConfigError(NOTHING_TO_EDIT)
    empty = [field for field, text in changes.items() if not text.strip()]
    if empty:
        raise ConfigError(f"--{empty[0].replace('_', '-').replace('fault-', '')} is empty: a case must say something.")
    async with open_app(loaded) as app:
        await prepare(app)
        case = await app.database.call(CaseStore(app.database).get, name)
        return await Cases.of(app).edit(case.case_id, replace(case.text, **changes), by)


async def retracted(loaded: Loaded, name: str, by: str) -> Case:
    async with open_app(loaded) as app:
        await prepare(app)
        return await Cases.of(app).retract(name, by)


# ---------------------------------------------------------------- what is shown


def print_case(case: Case, as_json: bool) -> None:
    if as_json:
        print_json(case_json(case))
    else:
        show(console_for(), case_lines(case))


def case_json(case: Case) -> dict[str, Any]:
    return asdict(case) | {"created_at": case.created_at.isoformat(), "updated_at": case.updated_at.isoformat()}


def list_lines(cases: Sequence[Case]) -> list[Line]:
    if not cases:
        return [Line(NONE_YET)]
    return [
        Line(case.title, lead=f"{case.case_id}  {_standing(case):<10}  {case.fault_category:<20}  ") for case in cases
    ]


def case_lines(case: Case) -> list[Line]:
    place = f"channel {case.channel}{' (private)' if case.is_private else ''}" if case.channel else "asked in a terminal"
    origin = f"case {case.case_id} · run {case.diagnosis_id} · {case.verdict} · {place} · by {case.created_by}"
    gone = [Line(case.retracted_by, lead="retracted by ", style="yellow")] if case.retracted_by else []
    return [
        Line(case.title, lead=f"{_standing(case)}  ", lead_style="bold"),
        Line(f"{origin} · {case.created_at:%Y-%m-%d %H:%M} UTC", style="dim"),
        *gone,
        Line(case.fault_category, lead="Category    "),
        Line(case.root_cause, lead="Root cause  "),
        Line(case.solution, lead="Solution    "),
    ]


def _standing(case: Case) -> str:
    return "voted down" if case.status == "active" and case.voted_down else case.status
