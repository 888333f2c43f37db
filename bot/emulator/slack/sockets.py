"""Socket Mode: up to ten connections, each envelope to any one of them, an acknowledgement awaited for each."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from bot.emulator.slack.behaviour import Behaviour
from bot.emulator.slack.http_delivery import Reply
from bot.emulator.slack.state import APP_ID, Json

CLOSING = 2.0


@dataclass(eq=False)
class Socket:
    """One connection. `stalled`: it stays open and does not answer, as a zombie does."""

    ws: web.WebSocketResponse
    request: web.Request
    waiting: dict[str, asyncio.Future[Json]] = field(default_factory=dict)
    stalled: bool = False

    async def send(self, message: Json) -> None:
        with suppress(ConnectionError, RuntimeError):
            await self.ws.send_str(json.dumps(message))

    def abort(self) -> None:
        """Cuts the TCP connection: no close frame."""
        if self.request.transport is not None:
            self.request.transport.abort()


class Sockets:
    def __init__(self, behaviour: Behaviour, chance: random.Random) -> None:
        self._behaviour = behaviour
        self._chance = chance
        self._open: list[Socket] = []
        self._tickets: set[str] = set()
        self._connected = asyncio.Event()
        self.refused_until = 0.0

    @property
    def count(self) -> int:
        return len(self._open)

    def refuses(self) -> bool:
        return time.monotonic() < self.refused_until

    def new_ticket(self) -> str:
        """A connection address is good for one connection, as Slack's are."""
        ticket = uuid.uuid4().hex
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The WebSocket endpoint."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or self.refuses():
            return web.Response(status=404 if ticket not in self._tickets else 503)
        self._tickets.discard(ticket)
        socket = Socket(web.WebSocketResponse(autoping=False, timeout=CLOSING), request)
        await socket.ws.prepare(request)
        if self.count >= self._behaviour.max_sockets:
            await socket.send({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.ws.close()
            return socket.ws
        await self._talk(socket)
        return socket.ws

    async def _talk(self, socket: Socket) -> None:
        self._open.append(socket)
        pinging = asyncio.create_task(self._ping(socket))
        try:
            await socket.send(_hello(self.count))
            self._connected.set()
            async for message in socket.ws:
                if message.type is WSMsgType.PING and not socket.stalled:
                    await socket.ws.pong(message.data)
                elif message.type is WSMsgType.TEXT:
                    _acknowledge(socket, message.data)
        finally:
            pinging.cancel()
            self._forget(socket)

    def _forget(self, socket: Socket) -> None:
        if socket in self._open:
            self._open.remove(socket)
        if not self._open:
            self._connected.clear()
        for waiting in socket.waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the socket closed"))

    async def _ping(self, socket: Socket) -> None:
        with suppress(ConnectionError, RuntimeError):
            while True:
                await asyncio.sleep(self._behaviour.ping_seconds)
                await socket.ws.ping(b"loopback")

    async def send(self, kind: str, payload: Json, attempt: int, reason: str) -> Reply:
        """One attempt on any one connection; without a connection it waits for one as long as for an answer."""
        seconds = self._behaviour.ack_seconds
        started = time.monotonic()
        try:
            await asyncio.wait_for(self._connected.wait(), seconds)
            socket = self._chance.choice(self._open)
            left = max(0.05, seconds - (time.monotonic() - started))
            answer = await asyncio.wait_for(self._exchange(socket, kind, payload, attempt, reason), left)
        except TimeoutError:
            return Reply(False, reason="timeout")
        except (ConnectionError, IndexError):
            return Reply(False, reason="connection_failed")
        return Reply(True, answer.get("payload"))

    async def _exchange(self, socket: Socket, kind: str, payload: Json, attempt: int, reason: str) -> Json:
        envelope_id = str(uuid.uuid4())
        envelope: Json = {
            "envelope_id": envelope_id, "type": kind, "payload": payload,
            "accepts_response_payload": kind != "events_api",
        }  # fmt: skip
        if kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        socket.waiting[envelope_id] = asyncio.get_running_loop().create_future()
        try:
            if not socket.stalled:
                await socket.send(envelope)
            return await socket.waiting[envelope_id]
        finally:
            socket.waiting.pop(envelope_id, None)

    async def drop(self, how: str) -> int:
        """abort, close, stall, or a disconnect message with that reason; returns how many connections it met."""
        dropped = list(self._open)
        for socket in dropped:
            if how == "abort":
                socket.abort()
                self._forget(socket)
            elif how == "close":
                await socket.ws.close()
            elif how == "stall":
                socket.stalled = True
            else:
                await socket.send({"type": "disconnect", "reason": how, "debug_info": {"host": "loopback"}})
        return len(dropped)


def _hello(connections: int) -> Json:
    return {
        "type": "hello", "num_connections": connections, "connection_info": {"app_id": APP_ID},
        "debug_info": {"host": "loopback", "build_number": 1, "approximate_connection_time": 18060},
    }  # fmt: skip


def _acknowledge(socket: Socket, text: str) -> None:
    try:
        message = json.loads(text)
    except json.JSONDecodeError:
        return
    waiting = socket.waiting.get(str(message.get("envelope_id")))
    if waiting is not None and not waiting.done():
        waiting.set_result(message)
