"""`proofthread replay RUN`: a stored run again, on its own recorded tool answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.options import AsJson, ModelName


def register(app: typer.Typer) -> None:
    app.command("replay")(replay)


def replay(
    run_id: Annotated[str, typer.Argument(help="The run to repeat, or a case made of one.", metavar="RUN")],
    model: ModelName = None,
    save: Annotated[Path | None, typer.Option("--save", help="Keep the scenario in this folder.", metavar="DIR")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a stored run again on its recorded tool answers and show what differs."""
    from bot.commands.replayed import replayed, replayed_json, replayed_lines
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json

    result = asyncio.run(replayed(run_id, load_settings(), model, save, console_for(stream_is_stderr=True)))
    if as_json:
        print_json(replayed_json(result))
    else:
        show(console_for(), replayed_lines(result))
