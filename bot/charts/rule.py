"""An alerting rule's expression, read as far as a chart needs it: what is compared, with what number, which way."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.series import unit_of

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`[^`]*`|#[^\n]*|==|!=|=~|!~|<=|>=|[()\[\]{}<>/]|[\w:.]+|\S')
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SETS = frozenset({"and", "or", "unless"})
_OPEN, _CLOSE = "([{", ")]}"
_ABSENT = re.compile(r"^absent(?:_over_time)?\s*\((.*)\)$", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_PRODUCT = re.compile(rf"{_NUMBER.pattern}(?:\s*[*/]\s*{_NUMBER.pattern})*", re.IGNORECASE)
_RATES = ("rate", "irate")
_COUNTS = ("count", "increase", "changes", "resets", "absent")
_BELOW = r"\b(?:below|under|less than|lower than)\b"
# A threshold in somebody's words: "> 80", "above 1 s", "threshold of 1.5", "threshold (80.0)".
_WORDED = re.compile(
    rf"(?P<sign>>=?|<=?|\b(?:above|over|exceeds|greater than|more than|higher than)\b|{_BELOW}"
    rf"|\bthreshold(?:\s+(?:of|is|was))?\s*[:=(]?)\s*(?P<number>{_NUMBER.pattern})(?![\w.])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Condition:
    """`expression` is what is measured. `threshold` None where it is compared with another expression, or not at all."""

    expression: str
    threshold: float | None = None
    fires_below: bool = False

    @property
    def metrics(self) -> frozenset[str]:
        """Names that may be metrics: those with an underscore or colon, and a name alone."""
        words = set(re.findall(r"(?<![\w:.$\"])[a-zA-Z_:][\w:]*(?!\s*[(\w:])", _without_labels(self.expression)))
        return frozenset(word for word in words if "_" in word or ":" in word or word == self.expression.strip())

    @property
    def unit(self) -> str:
        """As `tools.series.unit_of`, and "/s" for other rates; "" for what is divided or counted."""
        bare = _without_labels(self.expression)
        calls = set(re.findall(r"(\w+)\s*\(", bare))
        if "/" in bare or calls & set(_COUNTS):
            return ""
        unit = next((unit for name in sorted(self.metrics) if (unit := unit_of(name))), "")
        if not calls & set(_RATES):
            return unit
        # The rate of a histogram's buckets is no longer one once a quantile is taken.
        return unit if "histogram_quantile" in calls else {"": "/s", "B": "B/s"}.get(unit, "")


def condition_of(expression: str) -> Condition:
    """The first comparison with a number that stands outside of all brackets, else the expression as it is."""
    bare = _unwrapped(expression.strip())
    for part in _parts(bare):
        tokens = list(_outside(part))
        found = next(((text, start, end) for text, start, end in tokens if text in _COMPARISONS), None)
        if found is not None:
            return _compared(part, *found)
        inner = _unwrapped(part)
        if inner != part:
            return condition_of(inner)
        break
    absent = _ABSENT.match(bare)
    return Condition(absent[1].strip() if absent else bare)


def worded_threshold(text: str) -> Condition | None:
    """What an alert's words say of its threshold; the expression is empty. None where they say no number, or several."""
    found = {(match["sign"][:1], float(match["number"])) for match in _WORDED.finditer(text)}
    numbers = {number for _, number in found if math.isfinite(number)}
    if len(numbers) != 1:
        return None
    number = numbers.pop()
    below = any(sign == "<" for sign, _ in found) or re.search(_BELOW, text, re.IGNORECASE) is not None
    return Condition("", number, below)


def _compared(part: str, sign: str, start: int, end: int) -> Condition:
    left, right = _unwrapped(part[:start].strip()), _unwrapped(part[end:].strip().removeprefix("bool ").strip())
    number = _number(right)
    if number is None and _number(left) is not None:
        number, left, sign = _number(left), right, _FLIPPED.get(sign, sign)
    inner = condition_of(left)
    measured = inner.expression if inner.threshold is None else left
    is_zero = sign == "==" and number == 0  # up == 0: what is down
    return Condition(measured, number, sign in ("<", "<=") or is_zero)


def _parts(expression: str) -> Iterator[str]:
    """Between `and`, `or` and `unless` outside of brackets: the first that compares is what fires."""
    begin = 0
    for text, start, end in _outside(expression):
        if text.lower() in _SETS:
            yield expression[begin:start].strip()
            begin = end
    yield expression[begin:].strip()


def _outside(expression: str) -> Iterator[tuple[str, int, int]]:
    """Tokens that stand in no bracket, with their places."""
    depth = 0
    for match in _TOKEN.finditer(expression):
        text = match[0]
        if text in _OPEN:
            depth += 1
        elif text in _CLOSE:
            depth -= 1
        elif depth == 0 and text[0] not in "\"'`#":
            yield text, match.start(), match.end()


def _unwrapped(expression: str) -> str:
    """Without brackets round the whole."""
    while expression.startswith("(") and expression.endswith(")"):
        depth = 0
        for match in _TOKEN.finditer(expression):
            depth += (match[0] in _OPEN) - (match[0] in _CLOSE)
            if depth == 0:
                break
        if match.end() != len(expression):
            break
        expression = expression[1:-1].strip()
    return expression


def _number(text: str) -> float | None:
    """`0.5`, `1e9`, `5 * 60`."""
    bare = _unwrapped(text.strip())
    if not _PRODUCT.fullmatch(bare):
        return None
    value = 1.0
    for sign, part in re.findall(rf"([*/]?)\s*({_NUMBER.pattern})", bare, re.IGNORECASE):
        if sign == "/" and float(part) == 0:
            return None
        value = value / float(part) if sign == "/" else value * float(part)
    return value if math.isfinite(value) else None


def _without_labels(expression: str) -> str:
    return re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", expression)
