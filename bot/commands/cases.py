"""`proofthread cases`: what useful runs found."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bot.commands.options import AsJson

Case = Annotated[str, typer.Argument(help="A case's id, or its run's.", metavar="CASE")]
By = Annotated[str, typer.Option("--by", help="Who says so; stored with the case.", metavar="NAME")]
OPERATOR = "operator"


def group() -> typer.Typer:
    app = typer.Typer(help="Cases: what useful runs found, as later runs find it.", no_args_is_help=True)
    app.callback()(_cases)
    app.command("list")(list_cases)
    app.command("show")(show_case)
    app.command("edit")(edit)
    app.command("retract")(retract)
    return app


def _cases() -> None:
    """Cases: what useful runs found, as later runs find it."""


def list_cases(
    status: Annotated[str | None, typer.Option("--status", help="active, draft or retracted.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """The newest cases."""
    from bot.commands import case_library as work
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json

    found = asyncio.run(work.listed(load_settings(), status, limit))
    if as_json:
        print_json({"cases": [work.case_json(case) for case in found]})
    else:
        show(console_for(), work.list_lines(found))


def show_case(case: Case, as_json: AsJson = False) -> None:
    """A case in full."""
    from bot.commands import case_library as work
    from bot.settings import load_settings

    work.print_case(asyncio.run(work.shown(load_settings(), case)), as_json)


def edit(
    case: Case,
    title: Annotated[str | None, typer.Option("--title", help="At most 100 characters.")] = None,
    root_cause: Annotated[str | None, typer.Option("--root-cause", help="What it was.")] = None,
    solution: Annotated[str | None, typer.Option("--solution", help="What helped.")] = None,
    category: Annotated[str | None, typer.Option("--category", help="The fault category.")] = None,
    by: By = OPERATOR,
    as_json: AsJson = False,
) -> None:
    """Correct a case; it is active from then on, and votes no longer retract it."""
    from bot.commands import case_library as work
    from bot.settings import load_settings

    changes = {"title": title, "root_cause": root_cause, "solution": solution, "fault_category": category}
    given = {name: text for name, text in changes.items() if text is not None}
    work.print_case(asyncio.run(work.edited(load_settings(), case, given, by)), as_json)


def retract(case: Case, by: By = OPERATOR, as_json: AsJson = False) -> None:
    """Take a case back: later runs no longer find it."""
    from bot.commands import case_library as work
    from bot.settings import load_settings

    work.print_case(asyncio.run(work.retracted(load_settings(), case, by)), as_json)
