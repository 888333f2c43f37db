"""`proofthread kb sync` and `kb search`: the knowledge base."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.options import AsJson


def group() -> typer.Typer:
    app = typer.Typer(help="The knowledge base: runbooks and other Markdown.", no_args_is_help=True)
    app.callback()(_knowledge)
    app.command("sync")(sync)
    app.command("search")(search)
    return app


def _knowledge() -> None:
    """The knowledge base: runbooks and other Markdown."""


def sync(
    folder: Annotated[Path | None, typer.Argument(help="A folder of Markdown; else knowledge_dir.", metavar="DIR")] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Index everything anew, also with another model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make the knowledge base equal to a folder of Markdown. Unchanged files cost nothing."""
    from bot import knowledge
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json

    loaded = load_settings()
    report = asyncio.run(knowledge.sync(loaded, folder, rebuild=rebuild, console=console_for(stream_is_stderr=True)))
    if as_json:
        print_json(knowledge.report_json(report))
    else:
        show(console_for(), knowledge.report_lines(report))
    raise typer.Exit(report.exit_code)


def search(
    query: Annotated[str, typer.Argument(help="What to look for: words, an error code, a title.", metavar="QUERY")],
    domain: Annotated[list[str] | None, typer.Option("--domain", help="Only in this domain; may be repeated.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="How many pieces.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Find the pieces of the knowledge base that answer a query."""
    from bot import knowledge
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json

    found = asyncio.run(knowledge.search(load_settings(), query, domain or [], limit))
    if as_json:
        print_json(knowledge.lookup_json(found))
    else:
        show(console_for(), knowledge.lookup_lines(found))
