"""What the built-in tools answered, as values: every one keeps the ref that it came from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from agents.llm.base import CitedRef
from agents.offline.question import codes_of


@dataclass(frozen=True)
class LogKind:
    """One template: `before` counts the equally long window before, None where nothing is known of it; `score` is the
    tool's own, which knows how much of that window the files cover."""

    cited: CitedRef
    service: str
    level: str
    count: int
    before: int | None
    first: datetime | None
    line: str
    score: float | None = None

    @property
    def is_new(self) -> bool:
        return self.count > 0 and self.before == 0

    @property
    def is_error(self) -> bool:
        return self.level.upper() in ("ERROR", "FATAL", "CRITICAL", "SEVERE", "PANIC")

    @property
    def form(self) -> tuple[str, str, str]:
        """The same for every line of its kind."""
        return self.service, self.level, re.sub(r"\S*\d\S*", "#", self.line)[:160]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"(?<![\w-])[A-Za-z_.]{3,}(?![\w-])", self.line[:400]))

    @property
    def codes(self) -> tuple[str, ...]:
        return codes_of(self.line)


@dataclass(frozen=True)
class ServiceLines:
    """All lines of a service in the window and before it, the time before scaled to the same length."""

    cited: CitedRef
    service: str
    lines: int
    before: float
    errors: int
    errors_before: float


@dataclass(frozen=True)
class Series:
    """A range's summary: `change_at`, `before` and `after` where its level moved; `written` as the tool wrote them."""

    cited: CitedRef
    name: str
    service: str
    written: dict[str, str]
    change_at: datetime | None

    @property
    def numbers(self) -> dict[str, float]:
        return {key: value for key, raw in self.written.items() if (value := number_of(raw)) is not None}


    @property
    def is_steady(self) -> bool:
        """No jump, and no slow climb either: highest and lowest are at most a half apart."""
        low, high = self.numbers.get("min"), self.numbers.get("max")
        if self.written.get("change") != "none" or low is None or high is None:
            return False
        return high - low <= 0.5 * max(abs(high), abs(low))


@dataclass(frozen=True)
class Alert:
    cited: CitedRef
    name: str
    service: str
    state: str
    since: datetime | None


@dataclass(frozen=True)
class Change:
    cited: CitedRef
    at: datetime | None
    service: str
    text: str


@dataclass(frozen=True)
class Chunk:
    cited: CitedRef
    domain: str
    title: str
    text: str


@dataclass(frozen=True)
class Row:
    cited: CitedRef
    text: str


@dataclass(frozen=True)
class Evidence:
    kinds: tuple[LogKind, ...] = ()
    sums: tuple[ServiceLines, ...] = ()
    lines: tuple[CitedRef, ...] = ()
    series: tuple[Series, ...] = ()
    alerts: tuple[Alert, ...] = ()
    changes: tuple[Change, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def services(self) -> tuple[str, ...]:
        named = [kind.service for kind in self.kinds] + [one.service for one in self.series]
        named += [change.service for change in self.changes] + [alert.service for alert in self.alerts]
        return tuple(dict.fromkeys(name for name in named if name))


def number_of(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
