"""What a test switches on: faults, outages, stream expiry, sockets that die, where events go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Literal

from bot.emulator.slack.behaviour import Behaviour
from bot.emulator.slack.deliveries import Delivery
from bot.emulator.slack.faults import Fault
from bot.emulator.slack.http_delivery import HttpDelivery, Reply
from bot.emulator.slack.on_loop import OnLoop, on_loop

Drop = Literal["abort", "close", "stall", "warning", "refresh_requested", "too_many_websockets", "link_disabled"]


class Switches(OnLoop):
    @property
    def behaviour(self) -> Behaviour:
        """Scopes, subscriptions, order and copies of events, retry delays, limits: set its fields at any time."""
        return self.world.behaviour

    @on_loop
    def fail(
        self,
        method: str,
        *,
        error: str | None = None,
        status: int | None = None,
        drop_reply: bool = False,
        times: int | None = 1,
        rate: float | None = None,
        retry_after: float | None = None,
        delay: float = 0.0,
        after: int = 0,
    ) -> None:
        """Calls of `method` ("*": all) fail: with Slack's `error`, an HTTP `status`, a 429 with `retry_after`, or the
        reply lost after the call was carried out (`drop_reply`). `times` None: for ever (also the default with `rate`, the
        share of calls hit); `after` lets that many pass first; `delay` alone makes calls slow."""
        often = None if rate is not None and times == 1 else times
        self.world.faults.rules.append(Fault(method, error, status, drop_reply, often, rate, retry_after, delay, after))

    @on_loop
    def clear_faults(self) -> None:
        self.world.faults.rules.clear()
        self.world.away_until = 0.0
        self.world.sockets.refused_until = 0.0

    @on_loop
    def stream_ttl(self, seconds: float | None) -> None:
        """Streams expire that long after their start: 0 at once, None never."""
        self.world.behaviour.stream_ttl = seconds

    @on_loop
    def refuse_sockets(self, seconds: float) -> None:
        """apps.connections.open and new connections are refused for a while."""
        self.world.sockets.refused_until = time.monotonic() + seconds

    def drop_sockets(self, how: Drop = "abort") -> int:
        """Ends every connection: TCP abort, close frame, a stall (open but silent), or a disconnect message with that
        reason. Returns how many there were."""
        return asyncio.run_coroutine_threadsafe(self.world.sockets.drop(how), self._loop).result(10)

    def away(self, seconds: float) -> None:
        """Slack is unreachable: every call's connection dies, sockets are cut and refused."""
        self.world.away_until = self.world.state.clock() + seconds
        self.refuse_sockets(seconds)
        self.drop_sockets("abort")

    def deliver_again(self, delivery: Delivery, attempt: int, reason: str = "timeout") -> Reply:
        """The same payload once more, as that attempt, whether it was taken or not. Waits for the answer: call it from
        a thread that the app does not need."""
        send = self.world.http.send if self.world.http.urls else self.world.sockets.send
        sent = send(delivery.kind, delivery.payload, attempt, reason)
        return asyncio.run_coroutine_threadsafe(sent, self._loop).result(30)

    @on_loop
    def deliver_to(self, *urls: str) -> None:
        """Events go over HTTP to these addresses in turn; without one they go to the sockets."""
        self.world.http.urls = urls

    @on_loop
    def sign(self, body: bytes, content_type: str = "application/json") -> dict[str, str]:
        """Headers with a true signature, for a test that posts by itself."""
        http: HttpDelivery = self.world.http
        return http.headers(body, content_type)

    @on_loop
    def forget(self) -> None:
        """Drops the records of calls, deliveries and spent links, not the workspace: for runs that watch memory."""
        self.world.calls.clear()
        self.world.deliveries.log.clear()
        self.world.state.triggers.clear()
        self.world.state.response_urls.clear()

    @on_loop
    def revoke(self, token: str) -> None:
        self.world.revoked.add(token)

    @on_loop
    def install(self, manifest: Mapping[str, Any]) -> None:
        """Installs the app as its manifest says: scopes, events, shortcuts, commands (the page offers the last two)."""
        features, settings = manifest.get("features", {}), manifest.get("settings", {})
        self.world.behaviour.scopes = set(manifest["oauth_config"]["scopes"]["bot"])
        self.world.behaviour.subscriptions = set(settings.get("event_subscriptions", {}).get("bot_events", ()))
        self.world.shortcuts[:] = [
            {"callback_id": each["callback_id"], "name": each["name"]}
            for each in features.get("shortcuts", ())
            if each.get("type") == "message"
        ]
        self.world.commands[:] = [each["command"] for each in features.get("slash_commands", ())]
