"""Faults of the Web API that a test switches on: errors, statuses, lost replies, rate limits, slowness."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Fault:
    """One rule. `times` None: for ever; `rate` is the share of calls it hits; `after` lets that many calls pass first.

    `drop_reply`: the call is carried out, the connection dies before the answer. `delay` seconds come before anything.
    """

    method: str
    error: str | None = None
    status: int | None = None
    drop_reply: bool = False
    times: int | None = 1
    rate: float | None = None
    retry_after: float | None = None
    delay: float = 0.0
    after: int = 0


@dataclass
class Faults:
    chance: random.Random
    rules: list[Fault] = field(default_factory=list)

    def hit(self, method: str) -> Fault | None:
        """The fault that this call meets, counted down."""
        for fault in self.rules:
            if fault.method in ("*", method) and self._strikes(fault):
                return fault
        return None

    def _strikes(self, fault: Fault) -> bool:
        if fault.times == 0:
            return False
        if fault.after > 0:
            fault.after -= 1
            return False
        if fault.rate is not None and self.chance.random() >= fault.rate:
            return False
        if fault.times is not None:
            fault.times -= 1
        return True
