"""The terminal: which commands there are, and how a run of one ends. Each command lives in bot/commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer
from typer.main import get_command

from bot.commands import (
    alert,
    ask,
    cases,
    cite,
    db,
    demo,
    doctor,
    evaluate,
    kb,
    manifest,
    purge,
    replay,
    schedule,
    serve,
    skills,
    tools,
    trace,
    triage,
)
from bot.errors import ConfigError
from bot.packages import check_packages
from bot.terminal.errors import OPERATOR, say_error, silence_tracebacks
from bot.terminal.lines import console_for
from bot.terminal.log import log_to_data_folder
from storage.errors import StorageError
from tools.errors import ToolConfigError, ToolFailed

OPERATOR_ERRORS = (ConfigError, StorageError, ToolConfigError, ToolFailed)


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """0 done, 2 the operator must act, 1 anything else. Wrong options end in click's own message and code 2."""
    console, as_json = console_for(stream_is_stderr=True), "--json" in arguments
    silence_tracebacks(console, as_json=as_json)
    log_to_data_folder()
    try:
        check_packages()
        # Not terminal()(…): that would put typer's own hook for tracebacks in the place of ours.
        get_command(terminal()).main(args=list(arguments), prog_name="proofthread")
    except OPERATOR_ERRORS as error:
        say_error(console, str(error), as_json=as_json, code=OPERATOR)
        return OPERATOR
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def terminal() -> typer.Typer:
    app = typer.Typer(
        help="An on-call bot that says only what it can prove.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    for module in (demo, ask, triage, serve, manifest, trace, cite, evaluate, replay, purge, doctor, skills, tools):
        module.register(app)
    for name, module_with_group in (("alert", alert), ("kb", kb), ("cases", cases), ("schedule", schedule), ("db", db)):
        app.add_typer(module_with_group.group(), name=name)
    return app
