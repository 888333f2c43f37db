"""Slack's rate limits as far as they are known: calls a minute and method, and one message a second and channel."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

from bot.emulator.slack.refusals import rate_limited

A_MINUTE = {
    "chat.update": 50, "chat.delete": 50, "chat.startStream": 20, "chat.appendStream": 100, "chat.stopStream": 20,
    "chat.postEphemeral": 100, "conversations.replies": 50, "conversations.history": 50, "conversations.info": 50,
    "conversations.list": 20, "conversations.open": 50, "users.info": 100, "reactions.add": 50, "reactions.remove": 20,
    "reactions.get": 50, "views.open": 100, "views.update": 100, "views.push": 100, "views.publish": 100,
    "files.getUploadURLExternal": 100, "files.completeUploadExternal": 100, "bots.info": 50, "team.info": 50,
    "apps.connections.open": 10, "assistant.threads.setStatus": 600, "assistant.threads.setSuggestedPrompts": 100,
}  # fmt: skip
POSTS_IN_A_ROW = 3


class RateLimits:
    """Raises the refusal with Retry-After when a call comes too soon. `now` in seconds."""

    def __init__(self) -> None:
        self._calls: dict[str, deque[float]] = defaultdict(deque)
        self._posts: dict[str, deque[float]] = defaultdict(deque)

    def admit(self, method: str, arguments: Mapping[str, Any], now: float) -> None:
        if method == "chat.postMessage":
            self._admit(self._posts[str(arguments.get("channel"))], POSTS_IN_A_ROW, float(POSTS_IN_A_ROW), now)
        elif method in A_MINUTE:
            self._admit(self._calls[method], A_MINUTE[method], 60.0, now)

    @staticmethod
    def _admit(calls: deque[float], most: int, seconds: float, now: float) -> None:
        while calls and calls[0] <= now - seconds:
            calls.popleft()
        if len(calls) >= most:
            raise rate_limited(calls[0] + seconds - now)
        calls.append(now)
