"""How an error reaches a person: one message on stderr, an exit code, never a traceback."""

from __future__ import annotations

import json
import sys
from types import TracebackType

from rich.console import Console

from bot.terminal.lines import Line, show

DONE, FAILED, OPERATOR = 0, 1, 2


def say_error(console: Console, message: str, *, as_json: bool, code: int) -> None:
    """With --json the error is also the one object on stdout, so that a script can read it."""
    show(console, [Line(message, lead="proofthread: ", lead_style="bold red")])
    if as_json:
        sys.stdout.write(json.dumps({"error": message, "exit_code": code}, ensure_ascii=False) + "\n")


def silence_tracebacks(console: Console, *, as_json: bool) -> None:
    """What nobody foresaw ends the process with code 1 and its type and message, not with a traceback."""

    def hook(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        message = f"Something went wrong inside Proofthread ({kind.__name__}: {error}). Please report it with this line."
        say_error(console, message, as_json=as_json, code=FAILED)

    sys.excepthook = hook
