"""`proofthread demo`: the bot in a Slack of its own, on the sample incident, to look at and to play with."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands.options import ModelName

if TYPE_CHECKING:
    from bot.slack_demo import Demo

QUESTION = "Why is checkout slow?"
LASTS_SECONDS = 60


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    once: Annotated[bool, typer.Option("--once", help="Print the answered threads here and end.")] = False,
    question: Annotated[str, typer.Option("--question", help="What is asked.", metavar="TEXT")] = QUESTION,
    lasts: Annotated[
        int, typer.Option("--alert-lasts", min=0, help="Seconds from the report until the alert is over.")
    ] = LASTS_SECONDS,
    model: ModelName = None,
) -> None:
    """A question and an alert about the sample incident, in a Slack that runs on this machine alone. No model is used
    unless you name one."""
    from bot.inputs import question_of
    from bot.settings import load_settings
    from bot.slack_demo import show_once, show_until_stopped

    loaded = load_settings()
    question, _ = question_of(question)
    if not once:
        asyncio.run(show_until_stopped(loaded, model, question, partial(_tell, lasts=lasts), lasts))
        return
    thread = asyncio.run(show_once(loaded, model, question))
    if thread is None:
        typer.echo("There was no answer, or no report, within 60 seconds; proofthread.log in the data folder says more.", err=True)
        raise typer.Exit(1)
    typer.echo(thread)


def _tell(demo: Demo, *, lasts: int) -> None:
    typer.echo(f"A Slack runs on this machine: open {demo.slack.page_url}")
    typer.echo("Ana has asked in #incidents. Open Evidence, press a thumb, ask more: @proofthread and your question.")
    typer.echo("Alertmanager has posted into #alerts: the report, with its chart, comes into the thread of its post.")
    typer.echo(f"{lasts} seconds later the alert is over, and the thread says so. Ctrl-C ends it; nothing is kept.")
