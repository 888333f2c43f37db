"""`proofthread trace RUN`: what a run did, call by call."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from bot.commands.options import AsJson


def register(app: typer.Typer) -> None:
    app.command("trace")(trace)


def trace(
    run_id: Annotated[str | None, typer.Argument(help="A run's id; without one, the latest runs.", metavar="RUN")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a run's path, model calls and tool calls; without an id, list the latest runs."""
    from bot.settings import load_settings
    from bot.terminal import trace as drawn
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json
    from bot.wiring import open_database, upgraded
    from storage.trace import TraceStore

    loaded = load_settings()
    database = open_database(loaded.settings)
    try:
        upgraded(database, is_ours=not loaded.settings.database_url.get_secret_value())
        store = TraceStore(database)
        if run_id is None:
            runs = store.recent_runs(20)
            value, lines = drawn.runs_json(runs), drawn.runs_lines(runs, loaded.zone)
        else:
            recorded = drawn.Recorded(store.run(run_id), store.steps(run_id), store.invocations(run_id))
            value, lines = drawn.recorded_json(recorded), drawn.recorded_lines(recorded, loaded.zone, datetime.now(UTC))
    finally:
        database.close()
    if as_json:
        print_json(value)
    else:
        show(console_for(), lines)
