"""The loopback Slack: one server in a thread of its own, for tests (`with`) and for the demo (`async with`)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from bot.emulator.slack.acts import Acts
from bot.emulator.slack.behaviour import Behaviour
from bot.emulator.slack.looks import Looks
from bot.emulator.slack.on_loop import let_tasks_end
from bot.emulator.slack.page_api import PageApi
from bot.emulator.slack.schema import SlackSchema
from bot.emulator.slack.server import Server
from bot.emulator.slack.state import APP_ID, BOT_ID, BOT_USER, TEAM_ID
from bot.emulator.slack.switches import Switches
from bot.emulator.slack.world import Check, new_world
from bot.slack.validator import check

# Nothing secret: these open a loopback server that lives as long as its `with` block.
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-loopback", "xapp-loopback", "loopback-signing-secret"

CLOSING_SECONDS = 10.0


class SlackEmulator(Acts, Looks, Switches):
    """Acts as people (acts.py), looks at what happened (looks.py), switches faults (switches.py).

    `api_url` is the base_url of a client, `page_url` the page. `request_url` takes events over HTTP (else: sockets).
    Every payload passes bot/slack/validator.py, Slack's types when `schema` (a JSON schema's path) is given, then `checks`.
    `clock` gives seconds since 1970, `seed` makes what is random the same every time.
    """

    bot_token, app_token, signing_secret = BOT_TOKEN, APP_TOKEN, SIGNING_SECRET
    team_id, bot_user_id, bot_id, app_id = TEAM_ID, BOT_USER, BOT_ID, APP_ID

    def __init__(
        self,
        *,
        request_url: str | Sequence[str] | None = None,
        schema: Path | None = None,
        checks: Sequence[Check] = (),
        behaviour: Behaviour | None = None,
        clock: Callable[[], float] = time.time,
        seed: int = 0,
        port: int = 0,
    ) -> None:
        typed: tuple[Check, ...] = (SlackSchema(schema),) if schema is not None else ()
        self.world = new_world(
            bot_token=BOT_TOKEN, app_token=APP_TOKEN, signing_secret=SIGNING_SECRET,
            behaviour=behaviour or Behaviour(), checks=(check, *typed, *checks), clock=clock, seed=seed,
        )  # fmt: skip
        self.world.http.urls = (request_url,) if isinstance(request_url, str) else tuple(request_url or ())
        self._server = Server(self.world, PageApi(self), port)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="loopback-slack", daemon=True)

    @property
    def base_url(self) -> str:
        return self.world.base_url

    @property
    def api_url(self) -> str:
        return f"{self.world.base_url}/api/"

    @property
    def page_url(self) -> str:
        return f"{self.world.base_url}/"

    @property
    def mention(self) -> str:
        """How a message names the bot."""
        return f"<@{BOT_USER}>"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def __enter__(self) -> SlackEmulator:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(3 * CLOSING_SECONDS)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        try:
            await asyncio.wait_for(self._server.stop(), CLOSING_SECONDS)
        finally:
            await let_tasks_end(CLOSING_SECONDS)
            self._loop.call_soon(self._loop.stop)

    async def __aenter__(self) -> SlackEmulator:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)
