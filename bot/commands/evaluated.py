"""The work behind `proofthread eval`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from bot.evaluate import evaluate
from bot.evaluation.grading import Failure, Grade, Summary, summarise
from bot.evaluation.scenarios import read_scenarios
from bot.settings import Loaded
from bot.terminal.lines import Line, show
from bot.terminal.output import print_json

_STYLES = {"PASS": "green", "LOW_CONFID": "yellow", "REJECT": "red"}


async def evaluated(directory: Path, model: str | None, loaded: Loaded, as_json: bool, console: Console) -> int:
    """The exit code: 2 where no scenario was readable. Raises ConfigError for a folder that is none."""
    scenarios, broken = read_scenarios(directory)
    if model:
        changed = {"model": model, "role_models": {}}
        loaded = replace(loaded, settings=loaded.settings.model_copy(update=changed))
    grades: list[Grade] = []
    skipped: list[Failure] = []
    async for result in evaluate(scenarios, loaded):
        if isinstance(result, Failure):
            skipped.append(result)
            continue
        grades.append(result)
        print_json(result) if as_json else show(console, grade_lines(result))
    summary = summarise(grades, skipped, broken)
    print_json(summary) if as_json else show(console, summary_lines(summary))
    return 0 if scenarios else 2


def grade_lines(result: Grade) -> Iterator[Line]:
    degraded = ", degraded" if result.degraded else ""
    counts = f"{result.verified_quotes} quotes, {result.invocations} calls, {result.duration_ms} ms{degraded}"
    yield Line(f"{result.id}: {counts}", lead=f"{result.verdict:<11}", lead_style=_STYLES[result.verdict])
    yield from (Line(name, lead="             ✗ ", style="yellow") for name in result.missed)
    yield from (Line(f"false mention: {name}", lead="             ✗ ", style="red") for name in result.false_mentions)


def summary_lines(summary: Summary) -> Iterator[Line]:
    verdicts = ", ".join(f"{count} {name}" for name, count in summary.verdicts.items())
    yield Line()
    yield Line(f"{summary.scenarios} scenarios: {verdicts}; {summary.with_verified_quote} with a verified quote", style="bold")
    yield Line(f"must_mention {_percent(summary.must_mention_share)}, verdict_in {_percent(summary.verdict_share)}")
    yield Line(f"{summary.all_met} met everything, {summary.false_mentions} false mentions, {summary.degraded} degraded")
    yield from (Line(f"{one.id}: {one.reason}", lead="skipped ", lead_style="yellow") for one in summary.skipped)
    yield from (Line(f"{one.id}: {one.reason}", lead="broken  ", lead_style="red") for one in summary.broken)


def _percent(share: float | None) -> str:
    return "not asked for" if share is None else f"{share:.0%}"
