"""What a test or the terminal sees of the loopback Slack: messages, threads, modals, homes, calls, deliveries."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any, TypeVar

from bot.emulator.slack.deliveries import Delivery
from bot.emulator.slack.on_loop import OnLoop, on_loop
from bot.emulator.slack.reading import readable_text
from bot.emulator.slack.state import Json, StoredFile
from bot.emulator.slack.world import Call

T = TypeVar("T")


class Looks(OnLoop):
    @on_loop
    def messages(self, channel: str, thread_ts: str | None = None) -> list[Json]:
        """All messages of a channel, or a thread with its root in front; oldest first, copies."""
        where = self.world.state.channel(channel)
        found = list(self.world.state.messages.get(where.id, {}).values())
        if thread_ts is not None:
            found = [each for each in found if thread_ts in (each["ts"], each.get("thread_ts"))]
        return copy.deepcopy(sorted(found, key=lambda each: float(each["ts"])))

    @on_loop
    def message(self, channel: str, ts: str) -> Json | None:
        return copy.deepcopy(self.world.state.message(self.world.state.channel(channel).id, ts))

    @on_loop
    def ephemerals(self, channel: str, user: str | None = None) -> list[Json]:
        """What only one person sees (`ephemeral_to`)."""
        found = self.world.state.ephemerals.get(self.world.state.channel(channel).id, [])
        wanted = self.world.state.user(user).id if user else None
        return copy.deepcopy([each for each in found if wanted in (None, each["ephemeral_to"])])

    def thread_text(self, channel: str, ts: str) -> str:
        """A thread as a person reads it, one paragraph a message: name, then text and blocks."""
        names = self._do(lambda: {user.id: user.real_name for user in self.world.state.users.values()})
        return "\n\n".join(
            f"{names.get(str(each.get('user')), each.get('username') or 'app')}: {readable_text(each)}"
            for each in self.messages(channel, ts)
        )

    @on_loop
    def views(self, user: str) -> list[Json]:
        """The person's open modals, the last on top."""
        return copy.deepcopy(self.world.state.views.get(self.world.state.user(user).id, []))

    @on_loop
    def home(self, user: str) -> Json | None:
        return copy.deepcopy(self.world.state.homes.get(self.world.state.user(user).id))

    @on_loop
    def status(self, channel: str, thread_ts: str) -> str:
        """The status line under a thread, "" when there is none."""
        found = self.world.state.statuses.get((self.world.state.channel(channel).id, thread_ts))
        return str(found["status"]) if found else ""

    @on_loop
    def session(self, channel: str, thread_ts: str) -> Json | None:
        return copy.deepcopy(self.world.state.sessions.get((self.world.state.channel(channel).id, thread_ts)))

    @on_loop
    def prompts(self, channel: str, thread_ts: str = "") -> list[Json]:
        found = self.world.state.prompts.get((self.world.state.channel(channel).id, thread_ts))
        return copy.deepcopy(found["prompts"]) if found else []

    @on_loop
    def files(self) -> list[StoredFile]:
        return [copy.copy(stored) for stored in self.world.state.files.values()]

    @on_loop
    def calls(self, method: str | None = None) -> list[Json]:
        """The arguments of the Web API calls so far (refused ones too), oldest first; `call_log` tells more."""
        return [dict(call.arguments) for call in self.world.calls if method in (None, call.method)]

    @on_loop
    def call_log(self, method: str | None = None) -> list[Call]:
        """The calls with their time, status and answer."""
        return [call for call in self.world.calls if method in (None, call.method)]

    @property
    def refused(self) -> list[Call]:
        """Calls that this Slack refused by itself; injected faults do not count."""
        return self._do(lambda: [call for call in self.world.calls if call.error is not None and not call.injected])

    @property
    def deliveries(self) -> list[Delivery]:
        """Every event, click and command that went to the app, with its attempts."""
        return self._do(lambda: list(self.world.deliveries.log))

    @property
    def sockets(self) -> int:
        """Open Socket Mode connections."""
        return self._do(lambda: self.world.sockets.count)

    @property
    def clicks(self) -> list[Delivery]:
        return [each for each in self.deliveries if each.kind != "events_api"]

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:
        """Waits in the caller's loop until predicate() is truthy and returns what it returned; looks again after each
        change and at least ten times a second. Raises TimeoutError with the calls that were refused."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: dict[str, Any]) -> None:
            loop.call_soon_threadsafe(changed.set)

        end = self._do(lambda: self.world.changes.listen(tell))
        deadline = loop.time() + timeout
        try:
            while not (found := predicate()):
                left = deadline - loop.time()
                if left <= 0:
                    refused = [f"{call.method}: {call.error}" for call in self.refused]
                    raise TimeoutError(f"not within {timeout} s; calls refused: {refused or 'none'}")
                await _set_within(changed, min(0.1, left))
                changed.clear()
            return found
        finally:
            self._do(end)


async def _set_within(changed: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await changed.wait()
    except TimeoutError:
        return
