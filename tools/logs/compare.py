"""What changed: each template's count against the time before, its rank, and the sums of each service."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.logs.levels import level_rank
from tools.logs.request import ServiceCount
from tools.logs.templates import Kind

_SHIFT = 10.8  # G of a Poisson count, one degree of freedom: one shift in a thousand comes by chance
_WEIGHTS = {"new": 1.0, "gone": 1.0, "shifted": 0.25, "same": 0.05, "not_compared": 0.05}
_ERROR_WEIGHT = 1.6
_ERROR = level_rank("ERROR")


@dataclass(frozen=True)
class Baseline:
    """`scale` is how much longer the window is covered than the time before; None where nothing covers that time."""

    scale: float | None

    def status(self, kind: Kind) -> str:
        if self.scale is None:
            return "not_compared"
        if not kind.before or not kind.count:
            return "gone" if kind.before else "new"
        grown = kind.count / (kind.before * self.scale)
        return "shifted" if self.g(kind) >= _SHIFT and not 0.5 < grown < 2 else "same"

    def g(self, kind: Kind) -> float:
        """How surprising the count is, given the count before (half a line where there was none)."""
        if self.scale is None:
            return math.log1p(kind.count)
        return surprise(kind.count, kind.before * self.scale)

    def score(self, kind: Kind) -> float:
        """Weights that ranked the true service of 45 labelled faults best (FACTS, part F)."""
        return _WEIGHTS[self.status(kind)] * self.g(kind) * (_ERROR_WEIGHT if level_rank(kind.level) >= _ERROR else 1.0)


def surprise(count: float, expected: float) -> float:
    expected = max(expected, 0.5)
    return 2 * ((count * math.log(count / expected) if count else 0.0) - (count - expected))


def ranked(kinds: Iterable[Kind], baseline: Baseline) -> list[Kind]:
    """New, gone, shifted and error templates first, the most surprising of them on top; then warnings; then the rest,
    the rarest first."""

    def order(kind: Kind) -> tuple[int, float, int, float]:
        changed = baseline.status(kind) in ("new", "gone", "shifted")
        tier = 0 if changed or level_rank(kind.level) >= _ERROR else 1 if kind.level == "WARN" else 2
        return tier, -baseline.score(kind) if tier == 0 else 0.0, kind.count, kind.first

    return sorted(kinds, key=order)


def spread(order: Sequence[Kind], limit: int) -> list[Kind]:
    """The first `limit` of them in their order, but one service may fill no more than a third while others wait."""
    share = max(3, -(-limit // 3))
    taken: dict[str, int] = defaultdict(int)
    first: list[int] = []
    later: list[int] = []
    for place, kind in enumerate(order):
        taken[kind.service] += 1
        (first if taken[kind.service] <= share else later).append(place)
    return [order[place] for place in sorted([*first, *later][:limit])]


def by_service(kinds: Iterable[Kind], baseline: Baseline, limit: int) -> list[ServiceCount]:
    """The services that changed most, by lines or by errors."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for kind in kinds:
        row, error = sums[kind.service], level_rank(kind.level) >= _ERROR
        row[0] += kind.count
        row[1] += kind.count * error
        row[2] += kind.before
        row[3] += kind.before * error
    known = baseline.scale is not None

    def change(row: Sequence[int]) -> float:
        if baseline.scale is None:
            return row[1] * 1000 + row[0]
        errors = surprise(row[1], row[3] * baseline.scale) * _ERROR_WEIGHT if row[1] or row[3] else 0.0
        return max(surprise(row[0], row[2] * baseline.scale), errors)

    order = sorted(sums.items(), key=lambda item: (-change(item[1]), item[0]))
    return [ServiceCount(name, row[0], row[1], row[2] if known else None, row[3] if known else None)
            for name, row in order[:limit]]
