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
    """Print one gatekeeper_result a line for each {"invocations", "run_id", "claims"} of FILE.

    A line that cannot be checked prints {"error", "line"} instead; the others are still checked, and the code is 2.
    """
    from bot.citing import checked
    from bot.inputs import read_text
    from bot.terminal.lines import Line, console_for, show
    from bot.terminal.output import print_json

    faults = 0
    for result in checked(read_text(file), file):
        print_json(result)
        if isinstance(result, dict):
            faults += 1
            message = f"{file}:{result['line']}: {result['error']}"
            show(console_for(stream_is_stderr=True), [Line(message, lead="proofthread: ", lead_style="bold red")])
    raise typer.Exit(2 if faults else 0)
