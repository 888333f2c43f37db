"""What words/alerts.toml says, ready for use."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class AlertWords:
    """`topics` by name; `drives` pairs (effect, driver) of topics; `waits` and `remedies` map a pattern to a
    sentence; `failed_call` fits a line about a call to another thing that failed."""

    topics: dict[str, re.Pattern[str]]
    drives: frozenset[tuple[str, str]]
    waits: tuple[tuple[re.Pattern[str], str], ...]
    remedies: tuple[tuple[re.Pattern[str], str], ...]
    failed_call: re.Pattern[str]

    def topics_of(self, text: str) -> frozenset[str]:
        return _topics_of(text)

    def driven(self, effect: str, driver: str) -> bool:
        """Whether one text speaks of what the other's topic drives."""
        return any((e, d) in self.drives for e in self.topics_of(effect) for d in self.topics_of(driver))

    def wait(self, name: str) -> str | None:
        return next((gloss for pattern, gloss in self.waits if pattern.search(name)), None)

    def remedy(self, text: str) -> str | None:
        return next((action for pattern, action in self.remedies if pattern.search(text)), None)


@lru_cache(maxsize=4096)
def _topics_of(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in alert_words().topics.items() if pattern.search(text))


@cache
def alert_words() -> AlertWords:
    data = tomllib.loads(files(__package__).joinpath("words/alerts.toml").read_text(encoding="utf-8"))
    return AlertWords(
        topics={name: re.compile(pattern) for name, pattern in data["topics"].items()},
        drives=frozenset((one["effect"], one["driver"]) for one in data["drives"]),
        waits=tuple((re.compile(one["pattern"]), one["gloss"]) for one in data["wait"]),
        remedies=tuple((re.compile(one["pattern"]), one["action"]) for one in data["remedy"]),
        failed_call=re.compile(data["failed_call"]),
    )
