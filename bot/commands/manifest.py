"""`proofthread manifest`: the Slack app, to be pasted into Slack's settings."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("manifest")(manifest)


def manifest(
    mention_only: Annotated[
        bool, typer.Option("--mention-only", help="Do not hear messages that do not mention the bot.")
    ] = False,
    http: Annotated[
        str | None, typer.Option("--http", help="Our public https address, instead of Socket Mode.", metavar="URL")
    ] = None,
) -> None:
    """Print the Slack app's manifest: https://api.slack.com/apps, Create New App, From a manifest."""
    from urllib.parse import urlsplit

    from bot.errors import ConfigError
    from bot.manifest import manifest as made

    if http is not None and (urlsplit(http).scheme != "https" or not urlsplit(http).hostname):
        raise ConfigError(f"--http {http!r} is no address that Slack could reach: write one like https://bot.example.com.")
    sys.stdout.write(json.dumps(made(mention_only=mention_only, url=http), indent=2, ensure_ascii=False) + "\n")
