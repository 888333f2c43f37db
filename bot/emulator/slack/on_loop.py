"""Acts and looks may come from any thread; they are carried out in the server's loop, one after another."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from bot.emulator.slack.world import World

P = ParamSpec("P")
T = TypeVar("T")
PATIENCE = 30.0


class OnLoop:
    """What the parts of `SlackEmulator` stand on: the world and the loop that owns it."""

    world: World
    _loop: asyncio.AbstractEventLoop
    _thread: threading.Thread

    def _do(self, act: Callable[[], T]) -> T:
        if threading.current_thread() is self._thread or not self._thread.is_alive():
            return act()
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()

        def run() -> None:
            try:
                answer.set_result(act())
            except BaseException as error:  # noqa: BLE001 - carried over to the thread that asked
                answer.set_exception(error)

        self._loop.call_soon_threadsafe(run)
        return answer.result(PATIENCE)


async def let_tasks_end(seconds: float) -> None:
    """Cancel what still runs in this loop and wait for it: a task that a closed loop leaves behind is reported, with its
    sockets, wherever the garbage collector finds it."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=seconds)
    # A connection that was cut closes its socket in the loop's next turn.
    await asyncio.sleep(0)


def on_loop(method: Callable[P, T]) -> Callable[P, T]:
    """Carries a method of an `OnLoop` out in the server's loop and waits for it."""

    @functools.wraps(method)
    def asked(*args: P.args, **named: P.kwargs) -> T:
        owner = args[0]
        assert isinstance(owner, OnLoop)
        return owner._do(lambda: method(*args, **named))

    return asked
