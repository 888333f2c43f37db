"""The parts of one loopback Slack, handed to every Web API method and every act."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.emulator.slack.behaviour import Behaviour
from bot.emulator.slack.changes import Changes
from bot.emulator.slack.deliveries import Deliveries
from bot.emulator.slack.faults import Faults
from bot.emulator.slack.http_delivery import HttpDelivery
from bot.emulator.slack.rate_limits import RateLimits
from bot.emulator.slack.refusals import Problem
from bot.emulator.slack.seeds import seed_workspace
from bot.emulator.slack.sockets import Sockets
from bot.emulator.slack.state import State
from bot.emulator.slack.streaming import Stream

Check = Callable[[str, Mapping[str, Any]], Sequence[Problem]]


@dataclass(frozen=True)
class Call:
    """One Web API call as it was answered. `injected`: a fault that the test asked for made the answer."""

    method: str
    arguments: Mapping[str, Any]
    at: float
    status: int
    response: Mapping[str, Any]
    injected: bool = False

    @property
    def error(self) -> str | None:
        return None if self.response.get("ok") else str(self.response.get("error", self.status))


@dataclass
class World:
    state: State
    behaviour: Behaviour
    changes: Changes
    deliveries: Deliveries
    sockets: Sockets
    http: HttpDelivery
    faults: Faults
    limits: RateLimits
    checks: tuple[Check, ...]
    bot_token: str
    app_token: str
    signing_secret: str
    base_url: str = ""
    away_until: float = 0.0
    revoked: set[str] = field(default_factory=set)
    calls: list[Call] = field(default_factory=list)
    streams: dict[tuple[str, str], Stream] = field(default_factory=dict)
    shortcuts: list[dict[str, str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def new_world(
    *,
    bot_token: str,
    app_token: str,
    signing_secret: str,
    behaviour: Behaviour,
    checks: tuple[Check, ...],
    clock: Callable[[], float] = time.time,
    seed: int = 0,
) -> World:
    """A workspace with a few people and channels (seeds.py), nothing said yet."""
    chance = random.Random(seed)
    state = State(clock, chance)
    seed_workspace(state)
    sockets = Sockets(behaviour, chance)
    http = HttpDelivery(signing_secret, behaviour)
    deliveries = Deliveries(behaviour, sockets, http, chance)
    return World(
        state, behaviour, Changes(), deliveries, sockets, http, Faults(chance), RateLimits(), checks,
        bot_token, app_token, signing_secret,
    )  # fmt: skip
