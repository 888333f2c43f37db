"""`proofthread db upgrade`."""

from __future__ import annotations

import typer

from bot.commands.options import AsJson


def group() -> typer.Typer:
    app = typer.Typer(help="The trace database.", no_args_is_help=True)
    app.callback()(_database)
    app.command("upgrade")(upgrade)
    return app


def _database() -> None:
    """The trace database."""


def upgrade(as_json: AsJson = False) -> None:
    """Bring the tables to this version's form. Safe to repeat."""
    from bot.settings import load_settings
    from bot.terminal.output import print_json
    from bot.wiring import open_database
    from storage.engine import upgrade as upgrade_tables

    database = open_database(load_settings().settings)
    try:
        upgrade_tables(database)
    finally:
        database.close()
    if as_json:
        print_json({"database": database.shown_url, "upgraded": True})
    else:
        typer.echo(f"{database.shown_url} is upgraded.")
