"""How Slack's events reach the Bolt app: over sockets that we open, or over HTTP."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.desk import Desk
from bot.door import EVENTS_PATH, Asgi, Door, Health
from bot.errors import ConfigError

if TYPE_CHECKING:
    from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
    from slack_bolt.app.async_app import AsyncApp

PING_SECONDS = 10.0
# The client gives a connection up after four pings without an answer, and opens another one.
SILENT_SECONDS = 6 * PING_SECONDS
LOOK_SECONDS = 5.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")

log = logging.getLogger(__name__)


class SocketConnection:
    """Socket Mode. `connections` is how many of this app's sockets Slack counted when ours was opened."""

    def __init__(self, handler: AsyncSocketModeHandler, desk: Desk) -> None:
        self._handler = handler
        self._desk = desk
        self.connections = 0
        handler.client.message_listeners.append(self._heard)

    async def is_up(self) -> bool:
        """A client that says it is connected may hold a dead socket: only answered pings count."""
        client = self._handler.client
        last = client.last_ping_pong_time
        return await client.is_connected() and (last is None or time.time() - last < SILENT_SECONDS)

    async def watch(self) -> None:
        """The client retries the address that it has, which is good for one try and a short while: take it away, so
        that it asks for another."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            client = self._handler.client
            if not client.closed and (client.current_session is None or client.current_session.closed):
                client.wss_uri = None

    async def _heard(self, _: Any, message: dict[str, Any], raw: str | None = None) -> None:
        del raw
        if message.get("type") == "hello":
            self.connections = int(message.get("num_connections") or 0)
            app_id = (message.get("connection_info") or {}).get("app_id", "")
            bot = self._desk.bot
            log.info(
                "connected by Socket Mode: app %s (%s), workspace %s (%s), %d connections of this app",
                bot.name, app_id, bot.team_name, bot.team, self.connections,
            )  # fmt: skip
            if self.connections > 1:
                log.info("other processes use this app token too: each event goes to one of them")


@asynccontextmanager
async def socket_mode(app: AsyncApp, desk: Desk, address: str) -> AsyncIterator[SocketConnection]:
    """Connected. `address` is what apps.connections.open gave. At the end nothing more is taken."""
    from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

    token = desk.settings.slack_app_token
    assert token is not None
    handler = AsyncSocketModeHandler(app, token.get_secret_value().strip(), ping_interval=PING_SECONDS)
    if urlsplit(desk.settings.slack_api_url).hostname in LOOPBACK:
        handler.client.proxy = None
    handler.client.wss_uri = address
    connection = SocketConnection(handler, desk)
    watching = asyncio.create_task(connection.watch())
    try:
        await handler.client.connect()  # type: ignore[no-untyped-call]
        yield connection
    finally:
        watching.cancel()
        await handler.client.close()  # type: ignore[no-untyped-call]
        tasks = [watching, handler.client.message_processor, handler.client.message_receiver]
        await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)


@asynccontextmanager
async def http_door(door: Door, host: str, port: int) -> AsyncIterator[str]:
    """Listening; gives the address. At the end requests under way are answered and no more are taken."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # the program itself is told to stop

    listening = _bound(host, port)
    config = uvicorn.Config(
        door, lifespan="off", log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=5
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        yield f"http://{host}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await serving
        listening.close()


def slack_door(app: AsyncApp, desk: Desk, health: Health) -> Door:
    from slack_bolt.adapter.asgi.async_handler import AsyncSlackRequestHandler
    from slack_sdk.signature import SignatureVerifier

    secret = desk.settings.slack_signing_secret
    assert secret is not None
    verifier = SignatureVerifier(secret.get_secret_value().strip())
    bolt: Asgi = AsyncSlackRequestHandler(app, path=EVENTS_PATH)  # type: ignore[assignment]  # its scope is a dict, not a mapping
    return Door(health, bolt, verifier)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(
            f"http_host {host} and http_port {port} cannot be listened on ({error.strerror or error}): choose another port."
        ) from error
