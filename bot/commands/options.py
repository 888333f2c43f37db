"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout; progress stays on stderr.")]
ModelName = Annotated[str | None, typer.Option("--model", help="A model's name, or offline for none.", metavar="NAME")]
