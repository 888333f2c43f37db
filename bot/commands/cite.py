"""`proofthread cite check`: the Gatekeeper as a tool of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.options import AsJson


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Check quotes against recorded tool calls.", no_args_is_help=True)
    group.callback()(_cite)
    group.command("check")(check)
    app.add_typer(group, name="cite")


def _cite() -> None:
    """Check quotes against recorded tool calls."""


def check(
    file: Annotated[str, typer.Argument(help="A JSON object or JSON lines of such objects; - is stdin.", metavar="FILE")],
    _as_json: AsJson = True,
) -> None:
    """Print one gatekeeper_result a line for each {"invocations", "run_id", "claims"} of FILE."""
    from agents.gate.document import check_documents

    from bot.inputs import read_text
    from bot.terminal.output import print_json

    for result in check_documents(read_text(file)):
        print_json(result)
