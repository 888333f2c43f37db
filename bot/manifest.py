"""The manifest of the Slack app: what it is, what it may do, what it hears. Paste it into Slack's app settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bot.door import EVENTS_PATH
from bot.slack.identity import scopes

COMMAND = "/proofthread"
SHORTCUT = "diagnose_message"
_FILE = Path(__file__).with_suffix(".json")
# Without message events nobody is heard who does not mention the bot; the thread is still read when somebody does.
_HEARS = "message."


def manifest(*, mention_only: bool = False, url: str | None = None) -> dict[str, Any]:
    """`url` is our public address, for events over HTTP; without it the app uses Socket Mode."""
    made: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    made["oauth_config"]["scopes"]["bot"] = [scope.name for scope in scopes()]
    events = made["settings"]["event_subscriptions"]
    if mention_only:
        events["bot_events"] = [name for name in events["bot_events"] if not name.startswith(_HEARS) or name == "message.im"]
    if url is not None:
        _over_http(made, f"{url.rstrip('/')}{EVENTS_PATH}")
    return made


def _over_http(made: dict[str, Any], address: str) -> None:
    made["settings"]["socket_mode_enabled"] = False
    made["settings"]["event_subscriptions"]["request_url"] = address
    made["settings"]["interactivity"]["request_url"] = address
    for command in made["features"]["slash_commands"]:
        command["url"] = address
