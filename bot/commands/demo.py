"""`proofthread demo`: the bot in a Slack of its own, on the sample incident, to look at and to play with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands.options import ModelName

if TYPE_CHECKING:
    from bot.slack_demo import Demo

QUESTION = "Why is checkout slow?"


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    once: Annotated[bool, typer.Option("--once", help="Print the answered thread here and end.")] = False,
    question: Annotated[str, typer.Option("--question", help="What is asked.", metavar="TEXT")] = QUESTION,
    model: ModelName = None,
) -> None:
    """Ask about the sample incident in a Slack that runs on this machine alone. No model is used unless you name one."""
    from bot.inputs import question_of
    from bot.settings import load_settings
    from bot.slack_demo import show_once, show_until_stopped

    loaded = load_settings()
    question, _ = question_of(question)
    if not once:
        asyncio.run(show_until_stopped(loaded, model, question, _tell))
        return
    thread = asyncio.run(show_once(loaded, model, question))
    if thread is None:
        typer.echo("There was no answer within 60 seconds; proofthread.log in the data folder says more.", err=True)
        raise typer.Exit(1)
    typer.echo(thread)


def _tell(demo: Demo) -> None:
    typer.echo(f"A Slack runs on this machine: open {demo.slack.page_url}")
    typer.echo("Ana has asked in #incidents. Open Evidence, press a thumb, ask more: @proofthread and your question.")
    typer.echo("Ctrl-C ends it; nothing is kept.")
