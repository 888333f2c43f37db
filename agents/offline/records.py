"""Records of outside tools: whose they are, when they were made, and whether they tell of trouble or of its end."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Literal

from agents.llm.base import CitedRef, Exchange, ToolOffer
from agents.offline.claims import OBJECT_FIELDS
from agents.offline.evidence import Series
from agents.offline.external_calls import is_external
from agents.offline.quotes import quote
from agents.offline.reading import moment_in, pairs_of
from agents.offline.telling import weight_of
from tools.contracts import NO_EVIDENCE_PATH, EvidenceStatus

Mood = Literal["back", "bad", "good", "none", "trouble", "plain"]

TROUBLE_WEIGHT = 4.0
_WHEN = ("last_time", "timestamp", "date", "time", "at", "last_seen", "lastTimestamp", "event_time", "first_time")
_OWN = ("involved_object", "pod_name", "DBInstanceIdentifier", "source_identifier", "name", "service", "host", "db_instance_identifier")
_TOLD = ("message", "msg", "statement", "summary")
_ENOUGH_WORDS = 3
_STARTED = re.compile(r"\b(?:started_at|startedAt|start_time|Started)\"?\s?[=:]\s*\"?(\d{4}-\d\d-\d\dT[\d:.]+Z?)")
_LEADING_STAMP = re.compile(r"^\[?\d{4}-\d\d-\d\dT\d\d:\d\d")
_DIMENSION = re.compile(r"\b[A-Z]\w+(?:Identifier|Name|Id)=(\S+)")
_NAMED_SERIES = ("metric_name", "label", "metric", "name", "field")


@dataclass(frozen=True)
class Record:
    """`about` is the thing it names, "" where none; `at` the moment of what it tells, None for a standing condition;
    `since` from when on the condition stands. Moods: back (it is over), bad and good (a condition now), none (an empty
    list of trouble), trouble (an event or line of it), plain. `tells_trouble`: its words do, also where it is over."""

    cited: CitedRef
    about: str
    at: datetime | None
    since: datetime | None
    mood: Mood
    tells_trouble: bool = False

    @property
    def tool(self) -> str:
        return self.cited.tool_name


@dataclass(frozen=True)
class _Words:
    moods: tuple[tuple[Mood, re.Pattern[str]], ...]
    more_is_better: re.Pattern[str]
    meant_to_fire: re.Pattern[str]


@cache
def health_words() -> _Words:
    data = tomllib.loads(files(__package__).joinpath("words/health.toml").read_text(encoding="utf-8"))
    named: tuple[Mood, ...] = ("back", "bad", "good", "none")
    return _Words(
        tuple((mood, re.compile(pattern)) for mood in named for pattern in data[mood]),
        re.compile(data["more_is_better"]),
        re.compile("|".join(data["meant_to_fire"])),
    )


def records(offers: Sequence[ToolOffer], exchanges: Iterable[Exchange]) -> list[Record]:
    """Of outside tools that answered, in the order of the calls; summaries of series are none."""
    return [_record(exchange, cited) for exchange, cited in _cited(offers, exchanges) if not _is_series(cited)]


def outside_series(offers: Sequence[ToolOffer], exchanges: Iterable[Exchange]) -> list[Series]:
    """Summaries of series that outside tools returned."""
    return [_series(cited) for _, cited in _cited(offers, exchanges) if _is_series(cited)]


def condition_in(text: str, wanted: Mood = "good") -> str:
    """The field that says how a thing is, as it stands in the record; "" where none does."""
    found = (pattern.search(text) for mood, pattern in health_words().moods if mood == wanted)
    return next((match[0].strip() for match in found if match), "")


def told_of(cited: CitedRef, at: int = 0) -> str:
    """What to quote of a record: its message, else its text from `at` on."""
    text, pairs = cited.ref.text, pairs_of(cited.ref.text)
    told = (pairs[key] for key in _TOLD if len(pairs.get(key, "").split()) >= _ENOUGH_WORDS)
    message = next((one for one in told if one in text or json.dumps(one, ensure_ascii=False)[1:-1] in text), "")
    return quote(message, at=max(at - text.find(message), 0)) if message else quote(text, at=at)


def is_foreign(record: Record, names: Sequence[str]) -> bool:
    """Of a pod or another thing that the names do not mean: a list of a namespace shows them all. Nodes carry all of
    them, and a monitor's title is no thing."""
    thing = record.about
    if not thing or not names or is_of_node(record) or any(mark.isspace() for mark in thing):
        return False
    shown = f"{record.cited.ref.text} {' '.join(record.cited.ref.scope.values())}"
    return not any(name in shown or name.startswith(thing) for name in names)


def is_of_node(record: Record) -> bool:
    """By the tool, by what it was asked for, or by the object of an event."""
    scope = record.cited.ref.scope
    if scope.get("kind") == "node" or scope.get("field") == "nodes" or "=Node/" in record.cited.ref.text:
        return True
    return "node" in record.tool.lower().split("_")


def _cited(offers: Sequence[ToolOffer], exchanges: Iterable[Exchange]) -> list[tuple[Exchange, CitedRef]]:
    answered = (
        one for one in exchanges if is_external(one, offers) and one.evidence_status is EvidenceStatus.SUPPORTED
    )
    return [(one, cited) for one in answered for cited in one.refs if cited.ref.raw_path != NO_EVIDENCE_PATH]


def _record(exchange: Exchange, cited: CitedRef) -> Record:
    text, pairs = cited.ref.text, pairs_of(cited.ref.text)
    told = next((pairs[key] for key in _WHEN if key in pairs), "")
    at = moment_in(told) or (moment_in(text) if _LEADING_STAMP.match(text) else None)
    started = _STARTED.search(text)
    return Record(
        cited=cited,
        about=object_of(cited, pairs),
        at=at,
        since=moment_in(started[1]) if started else None,
        mood=_mood(text, exchange.call.name, is_event=at is not None),
        tells_trouble=weight_of(text, exchange.call.name) >= TROUBLE_WEIGHT,
    )


def object_of(cited: CitedRef, pairs: dict[str, str] | None = None) -> str:
    """The name of what the record is of: its scope's, since the fields of a part name the part."""
    row = _named_in_row(cited)
    if row:
        return row
    scope = next((cited.ref.scope[key] for key in OBJECT_FIELDS if cited.ref.scope.get(key)), "")
    own = pairs if pairs is not None else pairs_of(cited.ref.text)
    return scope or next((own[key].rpartition("/")[2] for key in _OWN if own.get(key)), "")


def _named_in_row(cited: CitedRef) -> str:
    """The cell under NAME of a table's row."""
    columns = [name.strip() for name in cited.ref.scope.get("columns", "").split(",")]
    cells = cited.ref.text.split()
    at = columns.index("NAME") if "NAME" in columns else len(cells)
    return cells[at].rpartition("/")[2] if at < len(cells) else ""


def _mood(text: str, tool: str, *, is_event: bool) -> Mood:
    """Where the record is of no moment a condition stands, whatever its words; of an event the words decide."""
    moods = [mood for mood, pattern in health_words().moods if pattern.search(text)]
    order: tuple[Mood, ...] = ("back", "none", "bad") if is_event else ("bad", "good", "none", "back")
    found = next((mood for mood in order if mood in moods), None)
    if found is None and weight_of(text, tool) >= TROUBLE_WEIGHT:
        return "trouble"
    return "trouble" if found == "bad" and is_event else found or ("good" if "good" in moods else "plain")


def _is_series(cited: CitedRef) -> bool:
    text = cited.ref.text
    return " from=" in text and (" change_at=" in text or " change=none" in text)


def _series(cited: CitedRef) -> Series:
    pairs = pairs_of(cited.ref.text)
    dimension = _DIMENSION.search(cited.ref.text)
    name = next((pairs[key] for key in _NAMED_SERIES if pairs.get(key)), "") or cited.ref.scope.get("field", "")
    return Series(cited, name, dimension[1] if dimension else "", pairs, moment_in(pairs.get("change_at", "")))
