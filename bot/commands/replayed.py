"""The work behind `proofthread replay`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from agents.contracts import RunOutcome
from bot.app import open_app, prepare
from bot.evaluate import run_scenario
from bot.evaluation.frozen import recorded
from bot.evaluation.replay import Differences, Recording, differences, write_scenario
from bot.settings import Loaded
from bot.terminal.lines import Line
from bot.terminal.outcome import outcome_json
from bot.terminal.progress import progress_on


@dataclass(frozen=True)
class Replayed:
    before: Recording
    outcome: RunOutcome
    differences: Differences
    saved: Path | None


async def replayed(name: str, loaded: Loaded, model: str | None, save: Path | None, console: Console) -> Replayed:
    """`name` is a run's id or a case's. Raises RunNotFound, and ConfigError for a run that has not ended or that another
    version wrote."""
    before = await _recorded(name, loaded)
    if model:
        changed = {"model": model, "role_models": {}}
        loaded = replace(loaded, settings=loaded.settings.model_copy(update=changed))
    with TemporaryDirectory(prefix="proofthread-replay-") as scratch:
        scenario = write_scenario(before, save or Path(scratch) / "scenario")
        finished = await run_scenario(scenario, loaded, Path(scratch), progress_on(console))
    return Replayed(before, finished.outcome, differences(before, finished.outcome, finished.invocations), save)


async def _recorded(name: str, loaded: Loaded) -> Recording:
    async with open_app(loaded) as app:
        await prepare(app)
        return await app.database.call(recorded, app.database, name)


def replayed_json(result: Replayed) -> dict[str, Any]:
    return {
        "run_id": result.before.run_id,
        "same": result.differences.none,
        "differences": result.differences.model_dump(mode="json"),
        "saved": str(result.saved) if result.saved else None,
        "replay": outcome_json(result.outcome),
    }


def replayed_lines(result: Replayed) -> Iterator[Line]:
    found = result.differences
    before, after = found.verdict or (result.outcome.verdict.value,) * 2
    yield Line("the same" if found.none else "it differs", lead=f"{before} → {after}  ", lead_style="bold")
    for title, texts in (
        ("quotes lost", found.quotes_lost),
        ("quotes new", found.quotes_new),
        ("calls lost", found.calls_lost),
        ("calls new", found.calls_new),
    ):
        yield from (Line(text, lead=f"  {title}: ") for text in texts)
    if found.answer_changed:
        yield from (Line(result.before.answer, lead="  before: "), Line(result.outcome.answer, lead="  after:  "))
    if result.saved:
        yield Line(f"The scenario is in {result.saved}.")
