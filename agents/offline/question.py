"""What a question names: workloads, kinds, namespaces, records, codes, a window, and how it asks."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Literal
from zoneinfo import ZoneInfo

from agents.offline.times import Window, window_of
from agents.question_kind import asks_when, question_kind

Ask = Literal["count", "meaning", "logs", "listing", "health", "fact", "why"]

CODE = re.compile(r"(?<![\w.-])(?!UTF|SHA|MD5|ISO|RFC|RSA|AES|TLS|UTC|HTTP)[A-Z]{2,12}(?:[-_][A-Z]{1,12}){0,3}[-_]?\d{2,5}(?![\w-]|\.\d)")
EXCEPTION = re.compile(r"\b(?:[a-z_][\w]*\.)*([A-Z]\w*(?:Exception|Error|Throwable))\b")
RECORD = re.compile(
    r"\b[A-Z]{1,6}-\d{6,8}-\d{1,12}\b|\b[A-Z]{1,6}-?\d{6,14}\b|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"
)
# What stands behind the word "order" is one, whatever it looks like.
_RECORD_SAID = re.compile(
    r"(?:\b(?:orders?|payment|invoice|transaction)\s+(?:id|no\.?|number)?|订单(?:编?号)?|流水号?)\s*[:：#]?\s*"
    r"((?!\d{4}-\d\d-\d\d)[A-Za-z]{0,6}[-_]?\d{4,20}(?:[-_]\w{1,20})?)(?![\w-])",
    re.IGNORECASE,
)
_FENCED = re.compile(r"<<\s*(\{.*?\})\s*>>", re.DOTALL)
_QUOTED = re.compile(r"[\"“”'‘’「『`]([^\"“”'‘’」』`\n]{2,80})[\"“”'‘’」』`](?!s\b)")
_NAMESPACE = re.compile(
    r"namespace[:\s]+([a-z0-9][a-z0-9-]*)|(?!in\b|the\b)\b([a-z0-9][a-z0-9-]*)\s+namespace|命名空间\s*([a-z0-9-]+)", re.IGNORECASE
)
_HYPHENED = re.compile(r"(?<![\w./-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w/])")
_WORD = re.compile(r"[A-Za-z][\w.]*(?:'s)?")
_LIMIT = re.compile(
    r"\b(?:last|first|latest|top|recent)\s+(\d{1,3})\b(?!\s*(?:s|m|h|d|min|sec|hour|minute|day|week))|最近\s*(\d{1,3})\s*条",
    re.IGNORECASE,
)
_OF_ADDED = re.compile(
    r"\b(?:this|that|these|the)\s+(?:\w+\s+)?(?:logs?|files?|text|output|traces?|stack|snippet|paste|dump)\b"
    r"|\battach(?:ed|ment|ments)\b|\b(?:pasted|uploaded)\b"
    r"|[这此该](?:个|份|段|条|些|里的?)?(?:日志|文件|输出|文本|堆栈|内容)|附件|附上|上传的|粘贴",
    re.IGNORECASE,
)
MAX_CHARS = 8_000
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_OFTEN_NAMESPACES = frozenset({"prod", "production", "order", "orders", "user", "users", "search", "api", "query"})
_STATES = frozenset({"restart", "crash", "slow", "latency", "timeout", "error", "failed", "deploy", "change", "lag", "backlog"})
# words for waiting too long
COMPLAINTS = frozenset({"slow", "slower", "latency", "timeout", "timeouts", "504"})
_CHANGE_TERMS = ("change", "deploy", "release", "rollout")
_NOT_NAMES = re.compile("|".join(pattern.pattern for pattern in (_QUOTED, RECORD, CODE, EXCEPTION)))


@dataclass(frozen=True)
class Subject:
    """A resource that the question states as JSON: `<< {"type": "pod", "name": …} >>`."""

    kind: str
    name: str = ""
    namespace: str = ""
    id: str = ""


@dataclass(frozen=True)
class Question:
    """`context` is the earlier question whose subject this one takes up, where it names none itself.

    An alert is read into the same form (alert_subject): `alert` is its name, `subjects` the resources that its labels
    name, each with its kind, and `links` the addresses of its runbook."""

    text: str
    ask: Ask
    names: tuple[str, ...]
    kind: str | None
    other_kinds: tuple[str, ...]
    namespaces: tuple[str, ...]
    subject: Subject | None
    quoted: tuple[str, ...]
    limit: int | None
    records: tuple[str, ...]
    codes: tuple[str, ...]
    window: Window | None
    terms: tuple[str, ...] = field(default=())
    context: str = ""
    alert: str = ""
    subjects: tuple[Subject, ...] = ()
    links: tuple[str, ...] = ()

    @property
    def has_words(self) -> bool:
        """False for a question of emoji or punctuation alone: whatever is found cannot answer it."""
        return _LETTERS.search(self.text) is not None

    @property
    def names_something(self) -> bool:
        """A workload, a record, a code, a kind of thing, or a service by a word for it."""
        spoken = set(self.terms) & _named_in_glossary()
        return bool(self.names or self.records or self.codes or self.quoted or self.subject or self.kind or spoken)

    @property
    def asks_of_added(self) -> bool:
        """About what somebody put in beside the question, where somebody did: "what does this log say?". A why that names
        something is about that thing, whatever lies beside it."""
        if self.ask == "count" or (self.ask == "why" and self.names_something):
            return False
        return _OF_ADDED.search(self.text) is not None

    @property
    def asks_when(self) -> bool:
        return self.ask == "fact" and asks_when(self.text)

    @property
    def asks_for_changes(self) -> bool:
        """The word "deployment" in front of a name is a kind of resource, not an act."""
        terms = [term for term in self.terms if term not in ("deployment", "deployments") or not self._names_deployment]
        return any(term.startswith(_CHANGE_TERMS) for term in terms)

    @property
    def _names_deployment(self) -> bool:
        return any(re.search(rf"\bdeployments?\s+{re.escape(name)}\b", self.text, re.IGNORECASE) for name in self.names)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names that can only mean one thing: `checkout-service`, not `checkout`."""
        return tuple(name for name in self.names if "-" in name)


@dataclass(frozen=True)
class Words:
    kinds: dict[str, str]
    asks: dict[str, list[str]]
    plain: frozenset[str]
    glossary: dict[str, str]


@cache
def words() -> Words:
    data = tomllib.loads(files(__package__).joinpath("words/question.toml").read_text(encoding="utf-8"))
    return Words(data["kinds"], data["asks"], frozenset(data["plain"]["words"].split()), data["glossary"])


@cache
def _named_in_glossary() -> frozenset[str]:
    """Words for parts of a system; the others of the glossary say what is wrong with one."""
    translated = {word for english in words().glossary.values() for word in english.split()}
    return frozenset((translated | _OFTEN_NAMESPACES) - _STATES - words().plain | {"order", "orders"})


def read(text: str, now: datetime, zone: ZoneInfo) -> Question:
    """Of a very long question the beginning is read: what is asked stands there, and patterns stay fast."""
    text = text[:MAX_CHARS]
    subject = _subject(text)
    free = _FENCED.sub(" ", text)
    namespaces = _namespaces(free, subject)
    kinds = _kinds(free, subject)
    return Question(
        text=text,
        ask=_ask(free),
        names=_names(free, namespaces, subject),
        kind=kinds[0] if kinds else None,
        other_kinds=tuple(kinds[1:]),
        namespaces=namespaces,
        subject=subject,
        quoted=tuple(dict.fromkeys(_QUOTED.findall(free))),
        limit=_limit(free),
        records=tuple(dict.fromkeys([*RECORD.findall(free), *_RECORD_SAID.findall(free)])),
        codes=codes_of(free),
        window=window_of(free, now, zone),
        terms=terms_of(free),
    )


def codes_of(text: str) -> tuple[str, ...]:
    """Error codes and exception names, in order of appearance."""
    found = [(match.start(), match.group(0)) for match in CODE.finditer(text)]
    found += [(match.start(), match.group(1)) for match in EXCEPTION.finditer(text)]
    return tuple(dict.fromkeys(code for _, code in sorted(found)))


def terms_of(text: str) -> tuple[str, ...]:
    """Lower-case words that may name a service, glossary words of other languages included."""
    known = words()
    translated = " ".join(english for word, english in known.glossary.items() if word in text)
    plain = (word.lower().removesuffix("'s") for word in _WORD.findall(f"{text} {translated}"))
    return tuple(dict.fromkeys(plain))


def _subject(text: str) -> Subject | None:
    found = _FENCED.search(text)
    if not found:
        return None
    try:
        value: Any = json.loads(found[1])
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    text_of = {key: item for key, item in value.items() if isinstance(item, str)}
    return Subject(text_of.get("type", ""), text_of.get("name", ""), text_of.get("namespace", ""), text_of.get("id", ""))


def _namespaces(text: str, subject: Subject | None) -> tuple[str, ...]:
    stated = [subject.namespace] if subject and subject.namespace else []
    found = [next(group for group in match.groups() if group) for match in _NAMESPACE.finditer(text)]
    spoken = words().plain - _OFTEN_NAMESPACES
    return tuple(dict.fromkeys(stated + [name for name in found if name.lower() not in spoken]))


def _kinds(text: str, subject: Subject | None) -> list[str]:
    known = words().kinds
    stated = [known.get(subject.kind.lower(), subject.kind.lower())] if subject and subject.name else []
    lowered = text.lower()
    found = [(match.start(), kind) for word, kind in known.items() for match in re.finditer(rf"\b{word}\b", lowered)]
    return list(dict.fromkeys(stated + [kind for _, kind in sorted(found)]))


def _ask(text: str) -> Ask:
    lowered = text.lower()
    for ask, phrases in words().asks.items():
        if any(phrase in lowered for phrase in phrases):
            return _as_ask(ask)
    return question_kind(text)


def _as_ask(word: str) -> Ask:
    asks: dict[str, Ask] = {"count": "count", "meaning": "meaning", "logs": "logs", "listing": "listing", "health": "health"}
    return asks[word]


def _names(text: str, namespaces: tuple[str, ...], subject: Subject | None) -> tuple[str, ...]:
    stated = [subject.name] if subject and subject.name else []
    hyphened = [name for name in _HYPHENED.findall(text) if name not in namespaces]
    if stated or hyphened or (subject and subject.id):
        return tuple(dict.fromkeys(stated + hyphened))
    plain = words().plain | words().kinds.keys() | {part for name in namespaces for part in name.split("-")}
    bare = [word.lower().removesuffix("'s") for word in _WORD.findall(_NOT_NAMES.sub(" ", text))]
    return tuple(dict.fromkeys(word for word in bare if word not in plain and word not in namespaces and len(word) > 2))


def _limit(text: str) -> int | None:
    found = _LIMIT.search(text)
    return int(found[1] or found[2]) if found else None
