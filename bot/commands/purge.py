"""`proofthread purge`: deletion by age, by run, by person."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.commands.options import AsJson


def register(app: typer.Typer) -> None:
    app.command("purge")(purge)


def purge(
    days: Annotated[
        int | None, typer.Option("--days", min=0, help="What is older than so many days; else retention_days.")
    ] = None,
    run_id: Annotated[str | None, typer.Option("--run", help="This run alone.", metavar="RUN")] = None,
    user: Annotated[str | None, typer.Option("--user", help="All that this person asked and said.", metavar="USER")] = None,
    as_json: AsJson = False,
) -> None:
    """Delete old runs and all that belongs to them, one run, or a person's. Cases that a person edited stay."""
    from bot.purging import Wanted, purged, purged_json, purged_lines
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json

    done = asyncio.run(purged(load_settings(), Wanted(days, run_id, user)))
    if as_json:
        print_json(purged_json(done))
    else:
        show(console_for(), purged_lines(done))
