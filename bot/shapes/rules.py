"""Small rules that combine into the shape of a Slack payload. A rule gives every problem of a value, not the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Rule = Callable[[object, str], Iterator["Problem"]]


@dataclass(frozen=True)
class Problem:
    """`pointer` is a JSON pointer into the arguments of the call, `code` the error that Slack answers with."""

    pointer: str
    message: str
    code: str = "invalid_blocks"


def units(text: str) -> int:
    """Length in UTF-16 units: how JavaScript counts, and never less than Slack may count."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def coded(code: str, rule: Rule) -> Rule:
    """The same problems under another error of Slack."""

    def check(value: object, at: str) -> Iterator[Problem]:
        for problem in rule(value, at):
            yield Problem(problem.pointer, problem.message, code)

    return check


def string(high: int | None = None, *, low: int = 1, pattern: str | None = None) -> Rule:
    """A string of `low` to `high` characters. With `low` over 0 blanks alone do not count."""

    def check(value: object, at: str) -> Iterator[Problem]:
        if not isinstance(value, str):
            yield Problem(at, f"must be a string, not {_kind(value)}")
        elif low and not value.strip():
            yield Problem(at, f"must be more than {low - 1} characters")
        elif high is not None and units(value) > high:
            yield Problem(at, f"must be less than {high + 1} characters, has {units(value)}")
        elif pattern and not re.fullmatch(pattern, value):
            yield Problem(at, f"must match {pattern}")

    return check


def choice(*allowed: object) -> Rule:
    def check(value: object, at: str) -> Iterator[Problem]:
        if not any(value == item and type(value) is type(item) for item in allowed):
            yield Problem(at, f"must be one of {', '.join(map(str, allowed))}")

    return check


def boolean(value: object, at: str) -> Iterator[Problem]:
    if not isinstance(value, bool):
        yield Problem(at, f"must be true or false, not {_kind(value)}")


def number(low: float | None = None, high: float | None = None) -> Rule:
    def check(value: object, at: str) -> Iterator[Problem]:
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield Problem(at, f"must be a number, not {_kind(value)}")
        elif (low is not None and value < low) or (high is not None and value > high):
            yield Problem(at, f"must be between {low} and {high}")

    return check


def anything(_value: object, _at: str) -> Iterator[Problem]:
    return iter(())


def mapping(value: object, at: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield Problem(at, f"must be an object, not {_kind(value)}")


def listed(item: Rule, low: int = 0, high: int | None = None) -> Rule:
    def check(value: object, at: str) -> Iterator[Problem]:
        if not isinstance(value, list | tuple):
            yield Problem(at, f"must be a list, not {_kind(value)}")
            return
        if len(value) < low:
            yield Problem(at, f"must have at least {low} items")
        if high is not None and len(value) > high:
            yield Problem(at, f"no more than {high} items allowed, has {len(value)}")
        for index, one in enumerate(value):
            yield from item(one, f"{at}/{index}")

    return check


def shape(
    required: Mapping[str, Rule] | None = None,
    optional: Mapping[str, Rule] | None = None,
    *also: Rule,
) -> Rule:
    """An object of these keys and no others. The `also` rules see the whole object."""
    needed, allowed = dict(required or {}), dict(optional or {})
    rules = needed | allowed

    def check(value: object, at: str) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield Problem(at, f"must be an object, not {_kind(value)}")
            return
        for key in needed:
            if key not in value:
                yield Problem(f"{at}/{key}", "missing required field")
        for key, part in value.items():
            if key not in rules:
                yield Problem(f"{at}/{key}", "no such field here")
            else:
                yield from rules[key](part, f"{at}/{key}")
        for rule in also:
            yield from rule(value, at)

    return check


def typed(kinds: Mapping[str, Rule], what: str) -> Rule:
    """An object whose `type` says which rule it must obey."""

    def check(value: object, at: str) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield Problem(at, f"must be an object, not {_kind(value)}")
        elif not isinstance(value.get("type"), str):
            yield Problem(f"{at}/type", "missing required field")
        elif value["type"] not in kinds:
            yield Problem(f"{at}/type", f"unsupported type of {what}: {value['type']}")
        else:
            yield from kinds[value["type"]](value, at)

    return check


def one_of(*keys: str) -> Rule:
    """Exactly one of these keys."""

    def check(value: object, at: str) -> Iterator[Problem]:
        given = [key for key in keys if isinstance(value, Mapping) and value.get(key) is not None]
        if len(given) != 1:
            yield Problem(at, f"must have exactly one of {', '.join(keys)}; has {', '.join(given) or 'none'}")

    return check


def at_least_one_of(*keys: str) -> Rule:
    def check(value: object, at: str) -> Iterator[Problem]:
        if isinstance(value, Mapping) and not any(value.get(key) for key in keys):
            yield Problem(at, f"must have {' or '.join(keys)}")

    return check


def unique(part: str, key: str) -> Rule:
    """No two members of the list `part` share their `key`."""

    def check(value: object, at: str) -> Iterator[Problem]:
        seen: set[str] = set()
        members = value.get(part) if isinstance(value, Mapping) else None
        for index, member in enumerate(members if isinstance(members, list | tuple) else ()):
            name = member.get(key) if isinstance(member, Mapping) else None
            if isinstance(name, str) and name in seen:
                yield Problem(f"{at}/{part}/{index}/{key}", f"{key} {name!r} is used twice")
            seen.add(str(name))

    return check


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else type(value).__name__)
