"""`proofthread alert parse`: what a post in an alert channel is read as."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.options import AsJson


def group() -> typer.Typer:
    app = typer.Typer(help="Alert posts, as the bot reads them.", no_args_is_help=True)
    app.callback()(_alert)
    app.command("parse")(parse)
    return app


def _alert() -> None:
    """Alert posts, as the bot reads them."""


def parse(
    file: Annotated[
        str, typer.Argument(help="A Slack message event, or JSON lines of events; - is stdin.", metavar="FILE")
    ],
    _as_json: AsJson = True,
) -> None:
    """Print one line an event: {"alerts", "count", "status", "update_of_ts", "ignored_reason"}.

    An event may stand in an envelope or a fixture under "event". What cannot be read is named on stderr with its line; the
    others are still read, and the code is 2.
    """
    from bot.incidents.files import BadLine, parsed_events
    from bot.inputs import read_text
    from bot.terminal.lines import Line, console_for, show
    from bot.terminal.output import print_json

    faults, name = 0, "stdin" if file == "-" else file
    for result in parsed_events(read_text(file), name):
        if isinstance(result, BadLine):
            faults += 1
            message = f"{name}:{result.line}: {result.error}"
            show(console_for(stream_is_stderr=True), [Line(message, lead="proofthread: ", lead_style="bold red")])
        else:
            print_json(result)
    if faults:
        advice = 'It reads Slack message events as JSON: {"type": "message", …}, one or many, or a list.'
        show(console_for(stream_is_stderr=True), [Line(advice)])
    raise typer.Exit(2 if faults else 0)
