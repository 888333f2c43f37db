"""One listener a file: it registers itself with `register(app, desk)`, and is found by being here."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


# Bolt asks one listener after the other whether a request is for it, and most requests are messages; those of apps come
# before all messages.
BUSIEST = ("alert_posted", "message", "mention")


def register_listeners(app: AsyncApp, desk: Desk) -> None:
    """The busiest first, then by name: Bolt gives each request to the first listener that matches."""
    names = sorted((found.name for found in pkgutil.iter_modules(__path__)), key=lambda name: (name not in BUSIEST, name))
    for name in names:
        importlib.import_module(f"{__name__}.{name}").register(app, desk)
