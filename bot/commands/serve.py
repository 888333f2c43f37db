"""`proofthread serve`: the bot in Slack."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands.options import ModelName

if TYPE_CHECKING:
    from bot.serve import RunningBot


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    http: Annotated[
        bool, typer.Option("--http", help="Take events over HTTP (http_host, http_port) instead of Socket Mode.")
    ] = False,
    model: ModelName = None,
) -> None:
    """Answer in Slack until stopped. Needs slack_bot_token, and slack_app_token or (--http) slack_signing_secret."""
    from dataclasses import replace

    from bot.serve import serve as run
    from bot.settings import load_settings
    from bot.terminal.log import log_to_stderr

    loaded = load_settings()
    if model:
        changed = loaded.settings.model_copy(update={"model": model, "role_models": {}})
        loaded = replace(loaded, settings=changed)
    log_to_stderr()
    asyncio.run(run(loaded, "http" if http else "socket", _say_ready))


def _say_ready(bot: RunningBot) -> None:
    import sys

    identity = bot.desk.bot
    sys.stderr.write(f"Ready: {identity.name} in {identity.team_name}. Mention it in a channel. Ctrl-C stops it.\n")
    sys.stderr.flush()
