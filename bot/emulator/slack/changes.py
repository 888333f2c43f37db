"""Who is told when something changes: the page's open connections and those who wait for a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Listener = Callable[[dict[str, Any]], None]


class Changes:
    """Numbers each change and hands it to every listener, in the server's loop."""

    def __init__(self) -> None:
        self.revision = 0
        self._listeners: list[Listener] = []

    def publish(self, kind: str, **fields: Any) -> None:
        self.revision += 1
        change = {"revision": self.revision, "kind": kind, **fields}
        for listener in tuple(self._listeners):
            listener(change)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
