"""One listener a file: it registers itself with `register(app, desk)`, and is found by being here."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp


def register_listeners(app: AsyncApp, desk: Desk) -> None:
    """By name, in alphabetical order: Bolt gives each request to the first listener that matches."""
    for found in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        importlib.import_module(f"{__name__}.{found.name}").register(app, desk)
