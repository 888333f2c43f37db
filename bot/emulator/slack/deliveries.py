"""Each event, click and command goes to the app until it is taken: attempts, Slack's retry schedule, what came back."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.emulator.slack.behaviour import Behaviour
from bot.emulator.slack.http_delivery import Answer, HttpDelivery, Reply
from bot.emulator.slack.sockets import Sockets
from bot.emulator.slack.state import Json


@dataclass(frozen=True)
class Attempt:
    """`seconds` from sending to the answer; `reason` is empty when it was taken."""

    at: float
    seconds: float
    taken: bool
    reason: str


@dataclass
class Delivery:
    """One payload on its way. `outcome` is pending, taken or given_up; `answer` what came with the acknowledgement."""

    kind: str
    payload: Json
    attempts: list[Attempt] = field(default_factory=list)
    outcome: str = "pending"
    answer: Answer = None

    @property
    def event_id(self) -> str | None:
        return self.payload.get("event_id")


Done = Callable[[Delivery], None]


class Deliveries:
    def __init__(self, behaviour: Behaviour, sockets: Sockets, http: HttpDelivery, chance: random.Random) -> None:
        self._behaviour = behaviour
        self._sockets = sockets
        self._http = http
        self._chance = chance
        self._running: set[asyncio.Task[None]] = set()
        self.log: list[Delivery] = []

    def event(self, payload: Json, *, delay: float = 0.0) -> None:
        """An event goes out `copies` times, and each copy again until it is taken."""
        for _ in range(self._chance.randint(*self._behaviour.copies)):
            late = delay + self._chance.uniform(*self._behaviour.jitter)
            self._start(Delivery("events_api", payload), late, (0.0, *self._behaviour.retry_delays), None)

    def interaction(self, kind: str, payload: Json, done: Done) -> Delivery:
        """A click, form or command goes out once: Slack does not repeat it. `done` hears how it ended."""
        delivery = Delivery(kind, payload)
        self._start(delivery, 0.0, (0.0,), done)
        return delivery

    def _start(self, delivery: Delivery, late: float, delays: tuple[float, ...], done: Done | None) -> None:
        self.log.append(delivery)
        task = asyncio.get_running_loop().create_task(self._deliver(delivery, late, delays, done))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _deliver(self, delivery: Delivery, late: float, delays: tuple[float, ...], done: Done | None) -> None:
        if late:
            await asyncio.sleep(late)
        reason = ""
        for number, delay in enumerate(delays):
            if delay:
                await asyncio.sleep(delay)
            reply = await self._attempt(delivery, number, reason)
            if reply.taken:
                delivery.answer = reply.answer
                break
            reason = reply.reason
            if reply.final:
                break
        delivery.outcome = "taken" if delivery.attempts[-1].taken else "given_up"
        if done is not None:
            done(delivery)

    async def _attempt(self, delivery: Delivery, number: int, reason: str) -> Reply:
        at, started = time.time(), time.perf_counter()
        send = self._http.send if self._http.urls else self._sockets.send
        reply = await send(delivery.kind, delivery.payload, number, reason)
        delivery.attempts.append(Attempt(at, time.perf_counter() - started, reply.taken, reply.reason))
        return reply

    async def close(self) -> None:
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
