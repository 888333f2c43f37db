"""`proofthread eval DIR`: scenarios through the whole pipeline, graded without a judge model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.options import AsJson, ModelName


def register(app: typer.Typer) -> None:
    app.command("eval")(evaluate)


def evaluate(
    directory: Annotated[Path, typer.Argument(help="A scenario's folder, or a folder of such folders.", metavar="DIR")],
    model: ModelName = None,
    as_json: AsJson = False,
) -> None:
    """Run scenarios and grade them. A broken folder is reported by name; the others still run."""
    from bot.commands.evaluated import evaluated
    from bot.settings import load_settings
    from bot.terminal.lines import console_for

    raise typer.Exit(asyncio.run(evaluated(directory, model, load_settings(), as_json, console_for())))
