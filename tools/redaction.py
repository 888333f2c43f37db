"""Secrets leave tool output, questions and alerts before a model, the database or Slack sees them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tools.errors import ToolConfigError
from tools.redaction_rules import FIELD_RULES, KEY_BEGIN, KEY_END, PLACEHOLDER, RULES, Rule

MASKING_NOTE = (
    "Secrets in tool output are masked as [REDACTED:kind:hash]. Equal secrets carry equal marks. A mark may be quoted "
    "like any other text; what it hides is unknown."
)

CUSTOM = "custom"

Span = tuple[int, int, str]


def placeholder(kind: str, secret: str) -> str:
    """[REDACTED:kind:hash4]: equal secrets of a kind stay recognisable as equal."""
    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[REDACTED:{kind}:{digest[:4]}]"


class Redactor:
    """Masks secrets. Deterministic, and masking twice changes nothing.

    `extra_patterns` are the operator's own regular expressions (group 1 is the secret, or the whole match); one that
    does not compile raises ToolConfigError.
    """

    def __init__(self, extra_patterns: Iterable[str] = ()) -> None:
        self._rules = _Rules((*RULES, *(_custom(pattern) for pattern in extra_patterns)))

    def text(self, text: str) -> str:
        return _Pass(self._rules, (text,)).text(text)

    def lines(self, lines: Iterable[str]) -> list[str]:
        """Texts that follow each other, where a private key may run over many."""
        texts = list(lines)
        return _Pass(self._rules, texts).lines(texts)

    def value(self, value: Any) -> Any:
        """JSON with every text masked; a text under a key like `password` is a secret whatever it looks like."""
        return _Pass(self._rules, _texts(value)).value(value)


class _Rules:
    """All rules, and the quick way to those that can apply to a text: most texts hold none of their literals."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._all = rules
        self._literals = [(literal, rule) for rule in rules for literal in rule.literals]
        self._scanned = [rule for rule in rules if not rule.literals]

    def for_text(self, text: str) -> list[Rule]:
        """The rules that may find something in it, in their order."""
        lowered = _lowered(text)
        able = [rule for literal, rule in self._literals if literal in lowered]
        # The anchors of an operator's own pattern may mean the ends of one text, and this may be many.
        able += [rule for rule in self._scanned if rule.kind == CUSTOM or rule.pattern.search(text)]
        return [rule for rule in self._all if rule in able] if able else []


class _Pass:
    """One go over texts that belong together: which rules can apply at all is asked once for all of them, and a text
    that comes again (as payload and as ref) is masked once."""

    def __init__(self, rules: _Rules, texts: Iterable[str]) -> None:
        self._rules = rules.for_text("\n".join(dict.fromkeys(texts)))
        self._field_rules = [rule for rule in FIELD_RULES if rule in self._rules]
        self._masked: dict[str, str] = {}

    def text(self, text: str) -> str:
        if not self._rules:
            return text
        masked = self._masked.get(text)
        if masked is None:
            masked = self._masked[text] = _replaced(text, _merged(self._spans(text)))
        return masked

    def lines(self, lines: Iterable[str]) -> list[str]:
        masked, inside = [], False
        for line in lines:
            inside, text = self._line(line, inside)
            masked.append(text)
        return masked

    def value(self, value: Any) -> Any:
        if not self._rules:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self._key(key): self._member(key, item, value) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return self.lines(value) if _all_texts(value) else [self.value(item) for item in value]
        return value

    def _key(self, key: Any) -> Any:
        return self.text(key) if isinstance(key, str) else key

    def _member(self, key: Any, item: Any, around: dict[Any, Any]) -> Any:
        if not isinstance(item, str):
            return self.value(item)
        masked = self.text(item)
        name = around.get("name") if key == "value" else key
        if masked != item or not isinstance(name, str):
            return masked
        kind = self._kind_of_field(name, item)
        return placeholder(kind, item) if kind else item

    def _kind_of_field(self, name: str, item: str) -> str | None:
        if not self._field_rules or PLACEHOLDER.fullmatch(item):
            return None
        found = (rule.kind for rule in self._field_rules if _is_field(rule, name) and rule.accept(item))
        return next(found, None)

    def _line(self, line: str, inside: bool) -> tuple[bool, str]:
        if inside:
            ends = KEY_END.search(line)
            rest = self.text(line[ends.end() :]) if ends else ""
            return ends is None, placeholder("private-key", line[: ends.end()] if ends else line) + rest
        begins = KEY_BEGIN.search(line) if "-----BEGIN" in line else None
        return begins is not None and not KEY_END.search(line, begins.end()), self.text(line)

    def _spans(self, text: str) -> Iterator[Span]:
        lowered = _lowered(text)
        kept = [match.span() for match in PLACEHOLDER.finditer(text)] if "[REDACTED:" in text else []
        for rule in self._rules:
            for match in _matches(rule, text, lowered):
                group = match.lastindex and next(i for i, found in enumerate(match.groups(), 1) if found is not None)
                start, end = match.span(group or 0)
                if start < end and rule.accept(text[start:end]) and not _within(start, end, kept):
                    yield start, end, rule.kind


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _replaced(text: str, spans: list[Span]) -> str:
    if not spans:
        return text
    parts, end = [], 0
    for start, stop, kind in spans:
        parts += [text[end:start], placeholder(kind, text[start:stop])]
        end = stop
    return "".join([*parts, text[end:]])


def _matches(rule: Rule, text: str, lowered: str) -> Iterator[re.Match[str]]:
    if not rule.literals:
        yield from rule.pattern.finditer(text)
        return
    for literal in rule.literals:
        at = lowered.find(literal)
        if at >= 0 and rule.scan:
            yield from rule.pattern.finditer(text)
            return
        while at >= 0:
            match = rule.pattern.match(text, at)
            if match:
                yield match
            at = lowered.find(literal, match.end() if match and match.end() > at else at + 1)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Overlapping finds become one span under the kind of the longest."""
    merged: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            before = merged[-1]
            longest = kind if end - start > before[1] - before[0] else before[2]
            merged[-1] = (before[0], max(end, before[1]), longest)
        else:
            merged.append((start, end, kind))
    return merged


def _within(start: int, end: int, kept: list[tuple[int, int]]) -> bool:
    return any(first <= start and end <= last for first, last in kept)


def _lowered(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if c.isascii() else c for c in text)  # "İ".lower() has two characters: places would shift


def _is_field(rule: Rule, name: str) -> bool:
    probe = f"{name}=x"
    return any(match.end() == len(probe) for match in _matches(rule, probe, _lowered(probe)))


def _all_texts(items: list[Any] | tuple[Any, ...]) -> bool:
    return all(isinstance(item, str) for item in items)


def _custom(pattern: str) -> Rule:
    try:
        return Rule(CUSTOM, (), re.compile(pattern))
    except re.error as error:
        raise ToolConfigError(f"redaction pattern {pattern!r} is not a regular expression: {error}") from error
