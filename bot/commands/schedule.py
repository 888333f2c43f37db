"""`proofthread schedule`: what is done by the clock, and the digest on demand."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.options import AsJson


def group() -> typer.Typer:
    app = typer.Typer(help="What the bot does by the clock.", invoke_without_command=True)
    app.callback()(_schedule)
    app.command("digest")(digest)
    return app


def _schedule(context: typer.Context, as_json: AsJson = False) -> None:
    """List what `serve` does by the clock: when next, what it does, and the last time with who did it."""
    if context.invoked_subcommand is not None:
        return
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json
    from bot.timetable.listing import listed, listing_json, listing_lines

    found = listed(load_settings())
    if as_json:
        print_json(listing_json(found))
    else:
        show(console_for(), listing_lines(found))


def digest(
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="So many days up to now.")] = 7,
    language: Annotated[str | None, typer.Option("--language", help="zh or en.", metavar="LANGUAGE")] = None,
    as_json: AsJson = False,
) -> None:
    """Verdicts against votes by alert, precision of PASS, share of REJECT, cost and durations, as the database has them."""
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json
    from bot.timetable.digest import digest_json, digest_lines
    from bot.timetable.listing import digest_now

    found, reader = digest_now(load_settings(), days, language)
    if as_json:
        print_json(digest_json(found))
    else:
        show(console_for(), digest_lines(found, reader))
