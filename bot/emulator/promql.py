"""A subset of PromQL as a tree: what a stand-in needs to serve the questions that query_metrics asks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.emulator.durations import seconds_of

AGGREGATIONS = frozenset({"sum", "avg", "min", "max", "count", "topk", "bottomk", "quantile", "stddev", "group"})
_LEADING_PARAMETER = frozenset({"topk", "bottomk", "quantile"})
_PRECEDENCE = {"==": 1, "!=": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3, "^": 4}
_REFUSED = frozenset({"and", "or", "unless", "group_left", "group_right", "count_values", "limitk", "limit_ratio"})
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<duration>(?:\d+(?:ms|[smhdwy]))+(?![\w.]))
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+]?[iI]nf\b|[nN]a[nN]\b)
  | (?P<name>[a-zA-Z_:][\w:]*)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
  | (?P<op>=~|!~|!=|==|<=|>=|[-+*/%^<>=(){}\[\],@:])
    )""",
    re.VERBOSE,
)


class BadQuery(Exception):
    """Not PromQL: Prometheus answers 400, bad_data."""


class NotServed(Exception):
    """PromQL that this stand-in does not know: answered 422, execution."""


@dataclass(frozen=True)
class Matcher:
    label: str
    operator: str
    value: str

    def matches(self, labels: dict[str, str]) -> bool:
        have = labels.get(self.label, "")
        if self.operator in ("=", "!="):
            return (have == self.value) is (self.operator == "=")
        return (re.fullmatch(self.value, have) is not None) is (self.operator == "=~")


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Text:
    value: str


@dataclass(frozen=True)
class Selector:
    """`window` seconds makes it a range vector."""

    matchers: tuple[Matcher, ...]
    window: float | None = None
    offset: float = 0.0


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Aggregation:
    operator: str
    parameter: Node | None
    body: Node
    labels: tuple[str, ...]
    without: bool


@dataclass(frozen=True)
class Binary:
    """`matching` None compares all labels; else (on?, labels)."""

    operator: str
    left: Node
    right: Node
    as_bool: bool = False
    matching: tuple[bool, tuple[str, ...]] | None = None


Node = Number | Text | Selector | Call | Aggregation | Binary


def parse(text: str) -> Node:
    """The tree of an expression. Raises BadQuery, or NotServed for PromQL beyond the subset."""
    reader = _Reader(_tokens(text))
    node = _expression(reader, 0)
    if reader.kind != "end":
        raise BadQuery(f"parse error: unexpected {reader.text!r}")
    return node


def matchers_of(text: str) -> tuple[Matcher, ...]:
    node = parse(text)
    if not isinstance(node, Selector) or node.window is not None:
        raise BadQuery(f"invalid parameter match[]: {text!r} is no series selector")
    return node.matchers


# ---------------------------------------------------------------- tokens


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise BadQuery(f"parse error: unexpected character at {text[at:].strip()[:20]!r}")
        tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return [*tokens, ("end", "end of input")]


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def text(self) -> str:
        return self._tokens[self._at][1]

    def take(self, *texts: str) -> str | None:
        """The next token if it is one of `texts` (not a string literal), else None."""
        if self.kind == "string" or self.text not in texts:
            return None
        return self.next()

    def next(self) -> str:
        text = self.text
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return text

    def need(self, text: str) -> None:
        if self.take(text) is None:
            raise BadQuery(f"parse error: unexpected {self.text!r}, expected {text!r}")


# ---------------------------------------------------------------- grammar


def _expression(reader: _Reader, floor: int) -> Node:
    left = _unary(reader)
    while _PRECEDENCE.get(reader.text if reader.kind == "op" else "", 0) > floor:
        operator = reader.next()
        as_bool = reader.take("bool") is not None
        matching = _matching(reader)
        strength = _PRECEDENCE[operator]
        right = _expression(reader, strength - 1 if operator == "^" else strength)
        left = Binary(operator, left, right, as_bool, matching)
    if reader.kind == "name" and reader.text in _REFUSED:
        raise NotServed(f"{reader.text!r} is not served by this stand-in")
    return left


def _matching(reader: _Reader) -> tuple[bool, tuple[str, ...]] | None:
    word = reader.take("on", "ignoring")
    labels = _label_list(reader) if word else ()
    if reader.kind == "name" and reader.text in _REFUSED:
        raise NotServed(f"{reader.text!r} is not served by this stand-in")
    return (word == "on", labels) if word else None


def _unary(reader: _Reader) -> Node:
    if reader.take("-"):
        return Binary("*", Number(-1.0), _expression(reader, _PRECEDENCE["*"]))
    reader.take("+")
    return _primary(reader)


def _primary(reader: _Reader) -> Node:
    if reader.kind == "number":
        return Number(float(reader.next()))
    if reader.kind == "string":
        return Text(_unquoted(reader.next()))
    if reader.take("("):
        inner = _expression(reader, 0)
        reader.need(")")
        return inner
    if reader.kind == "name" or reader.text == "{":
        return _named(reader)
    raise BadQuery(f"parse error: unexpected {reader.text!r}")


def _named(reader: _Reader) -> Node:
    name = "" if reader.text == "{" else reader.next()
    if name in AGGREGATIONS and reader.text in ("(", "by", "without"):
        return _aggregation(reader, name)
    if name in _REFUSED:
        raise NotServed(f"{name!r} is not served by this stand-in")
    if name and reader.text == "(":
        return Call(name, _arguments(reader))
    return _selector(reader, name)


def _aggregation(reader: _Reader, name: str) -> Aggregation:
    grouping = _grouping(reader)
    arguments = _arguments(reader)
    grouping = grouping or _grouping(reader) or (False, ())
    if len(arguments) != (2 if name in _LEADING_PARAMETER else 1):
        raise BadQuery(f"parse error: wrong number of arguments for aggregate expression {name!r}")
    parameter = arguments[0] if name in _LEADING_PARAMETER else None
    return Aggregation(name, parameter, arguments[-1], grouping[1], grouping[0])


def _grouping(reader: _Reader) -> tuple[bool, tuple[str, ...]] | None:
    word = reader.take("by", "without")
    return (word == "without", _label_list(reader)) if word else None


def _label_list(reader: _Reader) -> tuple[str, ...]:
    labels: list[str] = []
    reader.need("(")
    while reader.take(")") is None:
        if reader.kind != "name":
            raise BadQuery(f"parse error: unexpected {reader.text!r} in a label list")
        labels.append(reader.next())
        reader.take(",")
    return tuple(labels)


def _arguments(reader: _Reader) -> tuple[Node, ...]:
    arguments: list[Node] = []
    reader.need("(")
    while reader.take(")") is None:
        arguments.append(_expression(reader, 0))
        if reader.take(",") is None and reader.text != ")":
            raise BadQuery(f"parse error: unexpected {reader.text!r} in an argument list")
    return tuple(arguments)


def _selector(reader: _Reader, name: str) -> Selector:
    matchers = [Matcher("__name__", "=", name)] if name else []
    if reader.take("{"):
        matchers += _matchers(reader)
    if not any(matcher.value for matcher in matchers):
        raise BadQuery("parse error: vector selector must contain at least one non-empty matcher")
    return Selector(tuple(matchers), _window(reader), _offset(reader))


def _matchers(reader: _Reader) -> list[Matcher]:
    matchers: list[Matcher] = []
    while reader.take("}") is None:
        label = reader.next()  # at the end of the input no operator follows, which is an error below
        operator = reader.take("=", "!=", "=~", "!~")
        if operator is None or reader.kind != "string":
            raise BadQuery(f"parse error: unexpected {reader.text!r} in label matching")
        matchers.append(_compiled(label, operator, _unquoted(reader.next())))
        reader.take(",")
    return matchers


def _compiled(label: str, operator: str, value: str) -> Matcher:
    if operator in ("=~", "!~"):
        try:
            re.compile(value)
        except re.error as error:
            raise BadQuery(f"parse error: bad regular expression {value!r}: {error}") from error
    return Matcher(label, operator, value)


def _window(reader: _Reader) -> float | None:
    if reader.take("[") is None:
        return None
    window = seconds_of(reader.next())
    if reader.text.startswith(":"):
        raise NotServed("subqueries are not served by this stand-in")
    reader.need("]")
    if window is None:
        raise BadQuery("parse error: a range needs a duration like [5m]")
    return window


def _offset(reader: _Reader) -> float:
    if reader.text == "@":
        raise NotServed("the @ modifier is not served by this stand-in")
    if reader.take("offset") is None:
        return 0.0
    sign = -1.0 if reader.take("-") else 1.0
    seconds = seconds_of(reader.next())
    if seconds is None:
        raise BadQuery("parse error: offset needs a duration like 1h")
    return sign * seconds


def _unquoted(text: str) -> str:
    body = text[1:-1]
    return body if text[0] == "`" else re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), body)
