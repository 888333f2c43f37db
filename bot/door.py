"""The way in over HTTP: health for whoever watches us, and Slack's requests, checked before anything reads them.

Bolt parses a body before it checks the signature and answers an odd time stamp with a traceback; so signature, age, size
and encoding are settled here.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from slack_sdk.signature import SignatureVerifier

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

EVENTS_PATH = "/slack/events"
LARGEST_BODY = 1_000_000
_STAMP = re.compile(rb"[0-9]{1,12}")

log = logging.getLogger(__name__)


class Health(Protocol):
    """`alive`: the process works; `ready`: why it cannot serve now, or empty."""

    def alive(self) -> bool: ...

    async def ready(self) -> str: ...


@dataclass(frozen=True)
class Refusal(Exception):
    status: int
    why: str


class Door:
    """An ASGI app. `slack` is what takes the requests (Bolt's), None where they come by Socket Mode."""

    def __init__(self, health: Health, slack: Asgi | None = None, verifier: SignatureVerifier | None = None) -> None:
        self._health = health
        self._slack = slack
        self._verifier = verifier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise TypeError(f"only HTTP is served, not {scope['type']!r}")
        path = scope["path"]
        if path == "/healthz" and scope["method"] in ("GET", "HEAD"):
            await _answer(send, 200 if self._health.alive() else 503, {"alive": self._health.alive()})
        elif path == "/readyz" and scope["method"] in ("GET", "HEAD"):
            why = await self._health.ready()
            await _answer(send, 503 if why else 200, {"ready": not why, "why": why})
        elif path == EVENTS_PATH and self._slack is not None:
            await self._let_in(self._slack, scope, receive, send)
        else:
            await _answer(send, 404, {"error": "not_found"})

    async def _let_in(self, slack: Asgi, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["method"] != "POST":
                raise Refusal(405, "Slack posts here")
            stamp, signature = _signed_headers(scope["headers"])
            body = await _whole(receive)
            self._verify(stamp, signature, body)
        except Refusal as refusal:
            await _answer(send, refusal.status, {"error": refusal.why})
            return
        if not _is_readable(body):
            log.warning("a request whose parts are not of their types was taken and not read")
            await _answer(send, 200, {})
            return
        await slack(scope, _given(body), send)

    def _verify(self, stamp: str, signature: str, body: bytes) -> None:
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refusal(400, "the body is no UTF-8 text") from error
        if self._verifier is None or not self._verifier.is_valid(text, stamp, signature):
            raise Refusal(401, "the signature or its time stamp is not valid")


def _signed_headers(headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, str]:
    """Time stamp and signature, each exactly once: int() would take signs, spaces and other scripts' digits."""
    found = list(headers)
    stamps = [value for name, value in found if name.lower() == b"x-slack-request-timestamp"]
    signatures = [value for name, value in found if name.lower() == b"x-slack-signature"]
    if len(stamps) != 1 or not _STAMP.fullmatch(stamps[0]):
        raise Refusal(400, "X-Slack-Request-Timestamp must be there once, in seconds")
    if len(signatures) != 1 or not signatures[0].isascii():
        raise Refusal(401, "X-Slack-Signature must be there once")
    return stamps[0].decode(), signatures[0].decode()


def _is_readable(body: bytes) -> bool:
    """Bolt reads an event and its channel before it hands it on, and fails on others than these. Refused ones would come
    three times more."""
    if not body.lstrip().startswith(b"{"):
        return True  # a form (a click, a command)
    try:
        said = json.loads(body)
    except ValueError:
        return True
    event = said.get("event", {})
    return isinstance(event, dict) and isinstance(event.get("channel", ""), str | dict)


async def _whole(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "the request was broken off")
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise Refusal(413, "the body is too large")
        if not message.get("more_body", False):
            return bytes(body)


def _given(body: bytes) -> Receive:
    """The body as one message for whoever reads it next."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _answer(send: Send, status: int, value: dict[str, Any]) -> None:
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
