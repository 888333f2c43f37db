"""Delivery over HTTP: form and JSON bodies as Slack sends them, signed with v0, and what counts as taken."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp

from bot.emulator.slack.behaviour import Behaviour
from bot.emulator.slack.state import Json

Answer = dict[str, Any] | str | None
JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Reply:
    """How one attempt ended. `reason` is Slack's word for a failure; `final`: no further attempt is wanted."""

    taken: bool
    answer: Answer = None
    reason: str = ""
    final: bool = False


def signature(secret: str, timestamp: str, body: bytes) -> str:
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


@dataclass
class HttpDelivery:
    """Posts to one of `urls` in turn (several processes behind one balancer). `clock` dates the signature."""

    secret: str
    behaviour: Behaviour
    urls: Sequence[str] = ()
    clock: Callable[[], float] = time.time
    _session: aiohttp.ClientSession | None = None
    _turn: Callable[[], int] = field(default_factory=lambda: itertools.count().__next__)

    def open(self) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(self, kind: str, payload: Json, attempt: int, reason: str) -> Reply:
        """kind is events_api, interactive or slash_commands; `attempt` 0 is the first."""
        assert self._session is not None
        body, content_type = _body(kind, payload)
        headers = self.headers(body, content_type)
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
        url = self.urls[self._turn() % len(self.urls)]
        timeout = aiohttp.ClientTimeout(total=self.behaviour.ack_seconds)
        try:
            async with self._session.post(url, data=body, headers=headers, timeout=timeout) as response:
                return await _read(response)
        except TimeoutError:
            return Reply(False, reason="http_timeout")
        except aiohttp.ClientError:
            return Reply(False, reason="connection_failed")

    def headers(self, body: bytes, content_type: str) -> dict[str, str]:
        timestamp = str(int(self.clock()))
        return {
            "Content-Type": content_type,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self.secret, timestamp, body),
        }


def _body(kind: str, payload: Json) -> tuple[bytes, str]:
    if kind == "events_api":
        return json.dumps(payload).encode(), JSON_TYPE
    if kind == "interactive":
        return urlencode({"payload": json.dumps(payload)}).encode(), FORM_TYPE
    return urlencode(payload).encode(), FORM_TYPE


async def _read(response: aiohttp.ClientResponse) -> Reply:
    text = await response.text()
    if not 200 <= response.status < 300:
        return Reply(False, reason="http_error", final=response.headers.get("X-Slack-No-Retry") == "1")
    if response.content_type == JSON_TYPE and text:
        return Reply(True, json.loads(text))
    return Reply(True, text or None)
