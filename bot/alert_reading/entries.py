"""The alerts that a text lists one after the other: each `key: value` said, sections for labels and annotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agents.contracts import AlertStatus
from bot.alert_reading.build import Links
from bot.alert_reading.labels import label_name, pair_of, pairs_of_line, role_of
from bot.alert_reading.markup import Link, bare, links_in, plain
from bot.alert_reading.times import read_time, zone_in
from bot.alert_reading.words import severity_of, severity_word, status_in, status_of

MAX_LINES = 4_000
MAX_ENTRIES = 500
_LABELS = ("labels", "label", "details", "common labels", "标签", "详情", "ラベル", "метки", "라벨", "الوسوم")
_ANNOTATIONS = ("annotations", "annotation", "common annotations", "注解", "アノテーション", "аннотации")
_HEADING = re.compile(r"\A[\s*_>:]*(?:alerts?\s+)?(firing|resolved|no ?data)(?:\s+alerts?)?[\s*_:]*(?:\(?\d{1,4}\)?)?[\s*_:]*\Z", re.IGNORECASE)
_LEVEL_AT_END = re.compile(r"\A(.*\S)\s+[-–—]\s+`?([\w-]{2,12})`?\Z")
_TAG = re.compile(r'([^\W\d][\w./-]{0,60})\s?[:=]\s?("[^"\n]{0,300}"|[^\s,;|{}"]{1,300})')
_HOST_AND_IP = re.compile(r"([\w.-]{1,100})\s?[(\[]((?:\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})[)\]]\Z")
_ONE_WORD = re.compile(r"[^\W\d][\w.-]{0,40}\Z")
# A measurement, which changes from post to post, is no label.
_NUMBER = re.compile(r"\A[-+<>=~≈]{0,2}\d[\d.,:%]*[a-zA-Zµ%/]{0,6}\Z")


@dataclass
class Entry:
    """One alert of a list as its lines say it; levels as written. `at` is a time that names neither start nor end. `group_status`:
    of the heading (**Firing**) that it is listed below. `state_level`: a state's word where it is a level (`State: CRITICAL`)."""

    status: AlertStatus | None = None
    group_status: AlertStatus | None = None
    state_level: str | None = None
    severity: str | None = None
    value: str | None = None
    starts_at: str | None = None
    ends_at: str | None = None
    at: str | None = None
    name: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    links: Links = field(default_factory=Links)
    lines: list[str] = field(default_factory=list)

    def say(self, key: str, value: str, *, section: str = "") -> None:
        """Takes one pair in. In a section of labels or annotations it is one; outside, its key decides."""
        if section == "labels":
            self._label(key, value)
        elif section == "annotations":
            self._annotation(key, value)
        else:
            self._say_freely(key, value)

    def _label(self, key: str, value: str) -> None:
        self.labels.setdefault(key, value)
        if key.casefold() in ("severity", "priority", "level") and self.severity is None and severity_of(value):
            self.severity = value
        self._link(key, value)

    def _annotation(self, key: str, value: str) -> None:
        self.annotations.setdefault(key, value)
        self._link(key, value)

    def _say_freely(self, key: str, value: str) -> None:
        role = role_of(key)
        if not value or (self._link(key, value) and role not in ("host", "instance")) or role == "link":
            return
        if role == "severity" and len(value) <= 40:
            self.severity = self.severity or severity_word(value)
            self.status = self.status or (status_in(value) if "状态" in key else None)
        elif role == "status" and status_in(value):
            self.status = self.status or status_in(value)
            level = severity_word(value)
            self.state_level = level if self.status == "firing" and severity_of(level) else None
        elif role == "value":
            self.value = self.value or value
        elif role in ("started", "ended", "time"):
            self._time(key, role, value)
        elif role == "name":
            self._named(key, value)
        elif role == "tags":
            self._tags(key, value)
        elif role in ("summary", "description", "noted", "status", "severity") or not _is_label(key, value, role):
            self.annotations.setdefault(key.casefold() if role in (None, "noted") else role or key, value)
        else:
            host = _HOST_AND_IP.match(value) if role == "host" else None
            self.labels.setdefault(label_name(key), host[1] if host else value)
            if host:
                self.labels.setdefault("ip", host[2])

    def _time(self, key: str, role: str, value: str) -> None:
        at = read_time(value, zone=zone_in(key))
        if at is None:
            self.annotations.setdefault(key.casefold(), value)
        elif role == "started":
            self.starts_at = self.starts_at or at
        elif role == "ended":
            self.ends_at = self.ends_at or at
        else:
            self.at = self.at or at

    def _tags(self, key: str, value: str) -> None:
        """`env:prod, service="checkout"` are labels; tags without names are a note."""
        found = _TAG.findall(value[:4_000])
        for name, text in found:
            self._label(name, text.strip('"'))
        if not found:
            self.annotations.setdefault(key.casefold(), value)

    def _named(self, key: str, value: str) -> None:
        """`alertname: X` is the name; `Alert: p99 latency > 2s - critical` is a title with its level."""
        if key.casefold() in ("alertname", "alert name"):
            self.labels.setdefault("alertname", value)
            return
        match = _LEVEL_AT_END.match(value[:500])
        if match and severity_of(match[2]):
            value, self.severity = match[1], self.severity or match[2]
        self.name = self.name or value
        self.annotations.setdefault("summary", value)

    def _link(self, key: str, value: str) -> bool:
        """Whether the value is an address and no more."""
        if not value.startswith(("http://", "https://")):
            return False
        self.links.add_all([(key.replace("_url", ""), value)])
        return " " not in value


def _is_label(key: str, value: str, role: str | None) -> bool:
    if role in ("host", "instance", "service", "env", "cluster", "namespace", "region"):
        return len(value) <= 200 and "\n" not in value
    return bool(_ONE_WORD.match(key)) and len(value) <= 100 and " " not in value and not _NUMBER.match(value)


def entries_of(markup: str, *, only_one: bool = False) -> list[Entry]:
    """The alerts that a body lists. A new one begins where the first key of the list stands again, or below a heading such as
    **Firing**. `only_one`: the post says that it is about one, so nothing is cut."""
    reader = _Reader(only_one)
    for line in markup.splitlines()[:MAX_LINES]:
        reader.line(line)
    return [entry for entry in reader.entries if entry.lines][:MAX_ENTRIES]


class _Reader:
    def __init__(self, only_one: bool) -> None:
        self.entries = [Entry()]
        self._only_one = only_one
        self._first_key: str | None = None
        self._section = ""
        self._last: str | None = None

    def line(self, markup: str) -> None:
        text = plain(markup).strip()
        if not text:
            self._section, self._last = "", None
        elif heading := _HEADING.match(text[:60]):
            self._heading(heading[1])
        elif section := _section_of(text):
            self._begin_if_again(section)
            self._section = section
        else:
            self._said(markup, text)

    def _heading(self, word: str) -> None:
        if self._entry.lines and not self._only_one:
            self.entries.append(Entry())
            self._first_key = None
        self._entry.group_status, self._section = status_of(word), ""

    def _said(self, markup: str, text: str) -> None:
        pairs = pairs_of_line(text)
        if pairs and not (self._section and _leaves_section(text)):
            self._pairs(pairs)
        elif pairs:
            self._section = ""
            self._pairs(pairs)
        else:
            self._sentence(text)
        self._entry.lines.append(text)
        self._entry.links.add_links(_named(links_in(markup)))

    def _pairs(self, pairs: list[tuple[str, str]]) -> None:
        for key, value in pairs:
            if not self._section or key.casefold() == "alertname":
                self._begin_if_again(key.casefold())
            self._entry.say(key, value, section=self._section)
            self._last = key if self._section == "annotations" else None

    def _sentence(self, text: str) -> None:
        """More of an annotation that goes over lines, or a description of its own."""
        notes, key = self._entry.annotations, self._last or "description"
        notes[key] = f"{notes[key]}\n{bare(text)}"[:4_000] if key in notes else bare(text)

    def _begin_if_again(self, key: str) -> None:
        if self._first_key is None:
            self._first_key = key
        elif key == self._first_key and not self._only_one:
            self.entries.append(Entry(group_status=self._entry.group_status))
            self._section = ""

    @property
    def _entry(self) -> Entry:
        return self.entries[-1]


def _section_of(text: str) -> str:
    name = text.strip("*_`: ：>").casefold()
    if len(name) > 30:
        return ""
    return "labels" if name in _LABELS else "annotations" if name in _ANNOTATIONS else ""


def _leaves_section(text: str) -> bool:
    """Sections list with bullets; a `Source: …` at the margin is past them."""
    if text[:1] in "-•*·◦▪":
        return False
    pair = pair_of(text)
    return pair is not None and "=" not in text[: len(pair[0]) + 3]


def _named(links: Iterable[Link]) -> Iterator[Link]:
    return (link for link in links if link.label and not link.label.startswith("http"))
