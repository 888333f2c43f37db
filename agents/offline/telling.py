"""Lines of outside tools that answer the question or tell of trouble, copied as they stand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal

from agents.llm.base import CitedRef, Exchange, ToolOffer
from agents.offline.entities import Entity, entities, mentions
from agents.offline.external_calls import is_external
from agents.offline.question import Question
from tools.contracts import NO_EVIDENCE_PATH, EvidenceStatus

Source = Literal["log", "event", "state", "count", "record", "change", "added"]

COUNT_LINE = re.compile(
    r"^\W*(found|total|count)?\W*\d+\s+(results?|rows?|items?|matches|found|pods?|entries|resources?)\W*$"
    r"|^\W*(count|total)\s*[:=]\s*\d+\W*$",
    re.IGNORECASE,
)
_COLUMN_COUNT = re.compile(r"(?<!\S)(\w+)=\d+(?!\S)")
_COUNT_COLUMNS = frozenset({"count", "total", "n", "number", "cnt"})
_HOST = re.compile(r"\b[a-z][a-z0-9]*(?:-[a-z0-9]+)+\b")
_SAME_WORDS = 0.7
_STRONG, _WEAK = 4.0, 1.0
_FROM_LOG = 0.5
ADDED_TOOL = "added_context"
_ADDED = 1.5
_LOG_TOOL = re.compile(r"log", re.IGNORECASE)
_EVENT = re.compile(r"event", re.IGNORECASE)
_WARNING_ROW = re.compile(r"\bWarning\b\s+\w+")
_WORD = re.compile(r"[A-Za-z0-9]{2,}|[\u4e00-\u9fff]{2}")


@dataclass(frozen=True)
class Telling:
    """A line worth quoting. `answers`: it states what was asked for; `states_cause`: it names its own event's cause;
    `is_fatal`: a process ended with it; `is_effect`: it only shows the trouble that is asked about, never why; `at` is
    where in the text the telling words begin."""

    cited: CitedRef
    source: Source
    weight: float
    at: int = 0
    answers: bool = False
    states_cause: bool = False
    is_fatal: bool = False
    is_effect: bool = False


@dataclass(frozen=True)
class _Pattern:
    regex: re.Pattern[str]
    weight: float
    cause: bool
    fatal: bool
    effect: bool
    tool: re.Pattern[str]


@dataclass(frozen=True)
class _Patterns:
    lines: tuple[_Pattern, ...]
    noise: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    data = tomllib.loads(files(__package__).joinpath("words/telling.toml").read_text(encoding="utf-8"))
    lines = tuple(
        _Pattern(
            re.compile(line["pattern"]),
            line["weight"],
            line.get("cause", False),
            line.get("fatal", False),
            line.get("effect", False),
            re.compile(line.get("tool", "")),
        )
        for line in data["line"]
    )
    return _Patterns(lines, re.compile("|".join(f"(?:{_scoped(pattern)})" for pattern in data["noise"])))


def _scoped(pattern: str) -> str:
    """A leading (?i) becomes a group's own flag, so that patterns can be joined."""
    return f"(?i:{pattern[4:]})" if pattern.startswith("(?i)") else pattern


def telling_lines(
    question: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange], limit: int = 8
) -> list[Telling]:
    """Most telling first; lines that say the same of other numbers and names stand once."""
    found = every_telling_line(question, offers, exchanges)
    if question.ask == "count":
        return found[:1]
    if any(line.answers for line in found):
        found = [line for line in found if line.answers]
    if question.ask == "logs" and question.quoted:
        return _distinct(found, 1.0)[: max(limit, question.limit or 0)]
    worth = _WEAK if found and found[0].weight >= _STRONG and not found[0].answers else 0.0
    return _distinct([line for line in _one_cause(found) if line.weight > worth], _SAME_WORDS)[:limit]


def every_telling_line(
    question: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange]
) -> list[Telling]:
    """Those that repeat each other too, in the same order."""
    answered = [
        exchange
        for exchange in exchanges
        if is_external(exchange, offers) and exchange.evidence_status is EvidenceStatus.SUPPORTED
    ]
    asked = _Asked(question, entities(question, exchanges), _neighbours(question, answered))
    found = [line for exchange in answered for line in asked.of(exchange)]
    return sorted(found, key=lambda line: (not line.answers, not line.states_cause, -line.weight))


def _one_cause(lines: list[Telling]) -> list[Telling]:
    """Of several lines that state a cause the first; the others only repeat it or speak of what follows."""
    first = next((line for line in lines if line.states_cause), None)
    return [line for line in lines if not line.states_cause or line is first]


def _neighbours(question: Question, answered: Sequence[Exchange]) -> frozenset[str]:
    """Hosts that a line about an asked name mentions: one hop of the topology."""
    lines = [cited.ref.text for exchange in answered for cited in exchange.refs if _LOG_TOOL.search(exchange.call.name)]
    about = [line for line in lines if any(name in line for name in question.names)]
    return frozenset(host for line in about for host in _HOST.findall(line))


@dataclass(frozen=True)
class _Asked:
    question: Question
    known: tuple[Entity, ...]
    neighbours: frozenset[str]

    def of(self, exchange: Exchange) -> Iterator[Telling]:
        about, asked_for = self._is_about(exchange), bool(exchange.call.arguments)
        for cited in exchange.refs:
            text = cited.ref.text
            if cited.ref.raw_path == NO_EVIDENCE_PATH or _patterns().noise.search(text) or not _says_enough(text):
                continue
            named = self._names(f"{text} {' '.join(cited.ref.scope.values())}")
            if about or not self.question.names or named or _is_change(exchange, text):
                line = self._told(exchange, cited)
                if line is not None:
                    # what a list of everything says of another thing is no cause of this one
                    is_ours = named or asked_for or not self.question.names
                    yield line if is_ours else replace(line, states_cause=False)

    def _is_about(self, exchange: Exchange) -> bool:
        """Whether the call asked for something that the question names, or for what belongs to it. A call that took no
        arguments was about the incident as a whole, unless some of its lines name what was asked and others do not."""
        arguments = [str(value) for value in (exchange.call.arguments or {}).values()]
        if not arguments:
            return not any(self._names(cited.ref.text) for cited in exchange.refs)
        subject = self.question.subject
        if subject and subject.id and subject.id in arguments:
            return True
        related = {entity.name for entity in self.known}
        return any(mentions(self.question, value) or value in related for value in arguments)

    def _names(self, text: str) -> bool:
        return any(name in text for name in (*self.question.names, *self.neighbours))

    def _told(self, exchange: Exchange, cited: CitedRef) -> Telling | None:
        text, source = cited.ref.text, _source(exchange, cited)
        pattern = _pattern_of(text, exchange.call.name)
        if source == "added":
            return _added(cited, pattern, self.question.asks_of_added)
        weight = (pattern.weight if pattern else 0.0) + (_FROM_LOG if source != "state" else 0.0)
        if self.question.ask == "count":
            return Telling(cited, "count", 10.0, answers=True) if COUNT_LINE.search(text) else None
        if self.question.ask == "logs" and source == "log" and _is_asked_log(self.question, text, weight):
            return Telling(cited, "log", weight, answers=True)
        if self.question.ask == "fact" and states_asked(self.question, text):
            return Telling(cited, source, 5.0, answers=True)
        if self.question.ask == "listing":
            return Telling(cited, "record", 1.0, answers=True)
        if pattern is not None:
            found = pattern.regex.search(text)
            marks = {"states_cause": pattern.cause, "is_fatal": pattern.fatal, "is_effect": pattern.effect}
            return Telling(cited, source, weight, found.start() if found else 0, **marks)
        return Telling(cited, "state", 0.5) if _is_row_of(self.question, text) else None


def _added(cited: CitedRef, pattern: _Pattern | None, answers: bool) -> Telling:
    """What a person added is always told, and never states a cause by itself: it is testimony."""
    found = pattern.regex.search(cited.ref.text) if pattern else None
    weight = max(pattern.weight if pattern else 0.0, _ADDED)
    return Telling(cited, "added", weight, found.start() if found else 0, answers)


def _says_enough(text: str) -> bool:
    return len(_WORD.findall(text)) >= 2 or COUNT_LINE.search(text) is not None


def weight_of(text: str, tool: str) -> float:
    """How much a line of this tool tells of trouble; 0 for what is noise or plain."""
    pattern = None if _patterns().noise.search(text) else _pattern_of(text, tool)
    return pattern.weight if pattern else 0.0


def _is_change(exchange: Exchange, text: str) -> bool:
    """A line of a change's own text: it names keys, not the workload."""
    pattern = _pattern_of(text, exchange.call.name)
    return pattern is not None and "change" in pattern.tool.pattern


def states_asked(question: Question, text: str) -> bool:
    """A `Key: value` line whose key is a word of the question ("Image: busybox" for "which image…?")."""
    key, colon, value = text.partition(":")
    if not colon or not value.strip() or value.strip() == "<none>" or len(key) > 40:
        return False
    words = {word.lower().removesuffix("s") for word in re.findall(r"[A-Za-z]{4,}", key)}
    asked = {term.removesuffix("s") for term in question.terms} - {"name", "namespace", "type", "kind", "what", "which"}
    return bool(words & asked)


def counts_asked(question: Question, text: str) -> bool:
    """A business row whose column is a count, or is named after what is counted (orders=50 for "how many orders…?")."""
    counted = {match[1].lower().removesuffix("s") for match in _COLUMN_COUNT.finditer(text)}
    return bool(counted & (_COUNT_COLUMNS | {term.removesuffix("s") for term in question.terms}))


def _pattern_of(text: str, tool: str) -> _Pattern | None:
    fits = (pattern for pattern in _patterns().lines if pattern.tool.search(tool) and pattern.regex.search(text))
    return next(fits, None)


def _is_asked_log(question: Question, text: str, weight: float) -> bool:
    if question.quoted:
        return any(quoted in text for quoted in question.quoted)
    wants_errors = re.search(r"\berrors?\b|报错|错误", question.text, re.IGNORECASE) is not None
    return weight >= 4.0 if wants_errors else True


def _is_row_of(question: Question, text: str) -> bool:
    return any(name in cell for name in question.names for cell in text.split()[:2]) and len(text.split()) > 2


def _source(exchange: Exchange, cited: CitedRef) -> Source:
    if exchange.call.name == ADDED_TOOL:
        return "added"
    if _is_change(exchange, cited.ref.text):
        return "change"
    if _WARNING_ROW.search(cited.ref.text) or _EVENT.search(exchange.call.name):
        return "event"
    return "log" if _LOG_TOOL.search(exchange.call.name) else "state"


def _distinct(lines: list[Telling], alike: float) -> list[Telling]:
    """Drops a line whose words are those of an earlier one, to at least the share `alike`."""
    kept: list[tuple[frozenset[str], Telling]] = []
    for line in lines:
        words = frozenset(re.findall(r"[A-Za-z]{3,}|[\u4e00-\u9fff]", line.cited.ref.text)) if alike < 1 else frozenset()
        words = words or frozenset([" ".join(line.cited.ref.text.split())])
        if all(len(words & other) < alike * len(words | other) for other, _ in kept):
            kept.append((words, line))
    return [line for _, line in kept]
