"""How a run of the terminal ends: its answer, or what it had proven when our own database took no more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from agents.contracts import RunOutcome


def show_end(run: Coroutine[Any, Any, RunOutcome], zone: ZoneInfo, *, as_json: bool, sample: bool = False) -> int:
    """The exit code. Raises the operator's errors: one of a run that was cut short comes after what it has proven, and
    says how to go on."""
    from agents.cut_short import CutShort
    from storage.errors import StorageUnavailable

    try:
        outcome = asyncio.run(run)
    except CutShort as cut:
        if not as_json:  # a script gets one object, the error
            _show(cut.so_far, zone, as_json=False)
        resume = f"proofthread ask --resume {cut.so_far.run_id}{' --sample' if sample else ''}"
        raise StorageUnavailable(f"The run was cut short: {cut} It is kept and goes on with: {resume}") from cut
    _show(outcome, zone, as_json=as_json)
    return 0 if outcome.status == "SUCCESS" else 1


def _show(outcome: RunOutcome, zone: ZoneInfo, *, as_json: bool) -> None:
    from bot.terminal.lines import console_for, show
    from bot.terminal.outcome import outcome_json, outcome_lines
    from bot.terminal.output import print_json

    if as_json:
        print_json(outcome_json(outcome))
    else:
        show(console_for(), outcome_lines(outcome, zone))
