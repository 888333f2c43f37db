"""Evaluates the tree of `promql.py` over the series of a metrics file at one instant."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.emulator.promql import Aggregation, BadQuery, Binary, Call, Matcher, Node, NotServed, Number, Selector
from bot.emulator.promql_functions import (
    KEEPS_NAME,
    VALUE_FUNCTIONS,
    WINDOW_FUNCTIONS,
    Window,
    deviation,
    histogram_quantile,
    quantile,
)
from bot.emulator.series import MetricsFile, Series

LOOKBACK_SECONDS = 300.0
Labels = dict[str, str]


@dataclass(frozen=True)
class Sample:
    labels: Labels
    value: float


Value = float | list[Sample]

_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right if right else math.copysign(math.inf, left) if left else math.nan,
    "%": lambda left, right: math.fmod(left, right) if right else math.nan,
    "^": lambda left, right: left**right,
}
_COMPARISON: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "min": min,
    "max": max,
    "count": lambda values: float(len(values)),
    "group": lambda _: 1.0,
    "stddev": deviation,
}


def selected(metrics: MetricsFile, matchers: Iterable[Matcher]) -> list[Series]:
    """The series that all matchers accept."""
    wanted = list(matchers)
    name = next((m.value for m in wanted if m.label == "__name__" and m.operator == "="), None)
    pool = metrics.series if name is None else metrics.by_name.get(name, ())
    return [series for series in pool if all(matcher.matches(series.labels) for matcher in wanted)]


def evaluate(node: Node, metrics: MetricsFile, at: float) -> Value:
    """A number or an instant vector. Raises BadQuery for wrong types, NotServed for unknown functions."""
    match node:
        case Number(value):
            return value
        case Selector():
            return _instant(node, metrics, at)
        case Call():
            return _call(node, metrics, at)
        case Aggregation():
            return _aggregate(node, metrics, at)
        case Binary():
            return _binary(node, metrics, at)
        case _:
            raise NotServed("string expressions are not served by this stand-in")


def _vector(node: Node, metrics: MetricsFile, at: float, what: str) -> list[Sample]:
    value = evaluate(node, metrics, at)
    if isinstance(value, float):
        raise BadQuery(f"parse error: expected type instant vector in {what}, got scalar")
    return value


def _scalar(node: Node, metrics: MetricsFile, at: float, what: str) -> float:
    value = evaluate(node, metrics, at)
    if not isinstance(value, float):
        raise BadQuery(f"parse error: expected type scalar in {what}, got instant vector")
    return value


# ---------------------------------------------------------------- selectors


def _instant(node: Selector, metrics: MetricsFile, at: float) -> list[Sample]:
    if node.window is not None:
        raise BadQuery('invalid expression type "range vector" for an instant value')
    moment = at - node.offset
    samples: list[Sample] = []
    for series in selected(metrics, node.matchers):
        index = bisect_right(series.times, moment) - 1
        if index >= 0 and moment - series.times[index] < LOOKBACK_SECONDS:
            samples.append(Sample(series.labels, series.values[index]))
    return samples


def _windows(node: Node, metrics: MetricsFile, at: float, function: str) -> list[tuple[Labels, Window]]:
    if not isinstance(node, Selector) or node.window is None:
        raise BadQuery(f"parse error: expected type range vector in call to function {function!r}")
    end = at - node.offset
    start = end - node.window
    found: list[tuple[Labels, Window]] = []
    for series in selected(metrics, node.matchers):
        low, high = bisect_right(series.times, start), bisect_right(series.times, end)
        if low < high:
            found.append((series.labels, Window(series.times[low:high], series.values[low:high], start, end)))
    return found


# ---------------------------------------------------------------- functions


def _call(node: Call, metrics: MetricsFile, at: float) -> Value:
    name, arguments = node.function, node.arguments
    if name == "time":
        return at
    if not arguments:
        raise NotServed(f"{name}() is not served by this stand-in")
    if name in WINDOW_FUNCTIONS:
        return _over_windows(name, arguments[0], metrics, at)
    if name == "quantile_over_time" and len(arguments) == 2:
        share = _scalar(arguments[0], metrics, at, name)
        windows = _windows(arguments[1], metrics, at, name)
        return [Sample(_nameless(labels), quantile(share, list(window.values))) for labels, window in windows]
    if name in VALUE_FUNCTIONS:
        function = VALUE_FUNCTIONS[name]
        vector = _vector(arguments[0], metrics, at, name)
        return [Sample(_nameless(sample.labels), function(sample.value)) for sample in vector]
    return _special(name, arguments, metrics, at)


def _over_windows(name: str, node: Node, metrics: MetricsFile, at: float) -> list[Sample]:
    samples: list[Sample] = []
    for labels, window in _windows(node, metrics, at, name):
        value = WINDOW_FUNCTIONS[name](window)
        if value is not None:
            samples.append(Sample(labels if name in KEEPS_NAME else _nameless(labels), value))
    return samples


def _special(name: str, arguments: tuple[Node, ...], metrics: MetricsFile, at: float) -> Value:
    match name, len(arguments):
        case "histogram_quantile", 2:
            share = _scalar(arguments[0], metrics, at, name)
            return _histogram(share, _vector(arguments[1], metrics, at, name))
        case "vector", 1:
            return [Sample({}, _scalar(arguments[0], metrics, at, name))]
        case "scalar", 1:
            vector = _vector(arguments[0], metrics, at, name)
            return vector[0].value if len(vector) == 1 else math.nan
        case "absent", 1:
            return [] if _vector(arguments[0], metrics, at, name) else [Sample({}, 1.0)]
        case ("sort" | "sort_desc"), 1:
            vector = _vector(arguments[0], metrics, at, name)
            return sorted(vector, key=lambda sample: sample.value, reverse=name == "sort_desc")
        case ("round" | "clamp_min" | "clamp_max"), _:
            return _with_parameter(name, arguments, metrics, at)
        case _:
            raise NotServed(f"{name}() is not served by this stand-in")


def _with_parameter(name: str, arguments: tuple[Node, ...], metrics: MetricsFile, at: float) -> list[Sample]:
    vector = _vector(arguments[0], metrics, at, name)
    bound = _scalar(arguments[1], metrics, at, name) if len(arguments) > 1 else 1.0
    functions: dict[str, Callable[[float], float]] = {
        "round": lambda value: math.floor(value / bound + 0.5) * bound,
        "clamp_min": lambda value: max(value, bound),
        "clamp_max": lambda value: min(value, bound),
    }
    return [Sample(_nameless(sample.labels), functions[name](sample.value)) for sample in vector]


def _histogram(share: float, vector: list[Sample]) -> list[Sample]:
    groups: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = defaultdict(list)
    for sample in vector:
        labels = _nameless(sample.labels)
        bound = labels.pop("le", None)
        if bound is not None:
            groups[_key(labels)].append((float(bound), sample.value))
    return [Sample(dict(key), histogram_quantile(share, sorted(buckets))) for key, buckets in groups.items()]


# ---------------------------------------------------------------- aggregation


def _aggregate(node: Aggregation, metrics: MetricsFile, at: float) -> list[Sample]:
    vector = _vector(node.body, metrics, at, node.operator)
    groups: dict[tuple[tuple[str, str], ...], list[Sample]] = defaultdict(list)
    for sample in vector:
        groups[_key(_grouped(sample.labels, node))].append(sample)
    parameter = _scalar(node.parameter, metrics, at, node.operator) if node.parameter else 0.0
    if node.operator in ("topk", "bottomk"):
        return [kept for members in groups.values() for kept in _extreme(node.operator, parameter, members)]
    return [Sample(dict(key), _aggregated(node.operator, parameter, members)) for key, members in groups.items()]


def _grouped(labels: Labels, node: Aggregation) -> Labels:
    if node.without:
        return {name: value for name, value in _nameless(labels).items() if name not in node.labels}
    return {name: labels[name] for name in node.labels if name in labels}


def _extreme(which: str, count: float, members: list[Sample]) -> list[Sample]:
    return sorted(members, key=lambda sample: sample.value, reverse=which == "topk")[: max(0, int(count))]


def _aggregated(name: str, parameter: float, members: list[Sample]) -> float:
    values = [sample.value for sample in members]
    return quantile(parameter, values) if name == "quantile" else float(_AGGREGATES[name](values))


# ---------------------------------------------------------------- arithmetic


def _binary(node: Binary, metrics: MetricsFile, at: float) -> Value:
    left, right = evaluate(node.left, metrics, at), evaluate(node.right, metrics, at)
    if isinstance(left, float) and isinstance(right, float):
        return _scalars(node, left, right)
    if isinstance(left, list) and isinstance(right, list):
        return _vectors(node, left, right)
    return _mixed(node, left, right)


def _scalars(node: Binary, left: float, right: float) -> float:
    if node.operator in _ARITHMETIC:
        return float(_ARITHMETIC[node.operator](left, right))
    if not node.as_bool:
        raise BadQuery("parse error: comparisons between scalars must use BOOL modifier")
    return float(_COMPARISON[node.operator](left, right))


def _mixed(node: Binary, left: Value, right: Value) -> list[Sample]:
    """A vector against a number: comparisons filter and keep the name, arithmetic drops it."""
    vector = left if isinstance(left, list) else right if isinstance(right, list) else []
    samples: list[Sample] = []
    for sample in vector:
        first = left if isinstance(left, float) else sample.value
        second = right if isinstance(right, float) else sample.value
        result = _combined(node, first, second, kept=sample.value)
        if result is not None:
            named = node.operator in _COMPARISON and not node.as_bool
            samples.append(Sample(sample.labels if named else _nameless(sample.labels), result))
    return samples


def _vectors(node: Binary, left: list[Sample], right: list[Sample]) -> list[Sample]:
    """One to one on matching labels; more than one partner is an error, as in Prometheus."""
    partners: dict[tuple[tuple[str, str], ...], Sample] = {}
    for sample in right:
        if partners.setdefault(_signature(node, sample.labels), sample) is not sample:
            raise NotServed("found duplicate series for the match group on the right hand-side of the operation")
    samples: list[Sample] = []
    for sample in left:
        partner = partners.get(_signature(node, sample.labels))
        result = _combined(node, sample.value, partner.value, kept=sample.value) if partner else None
        if result is not None:
            samples.append(Sample(_result_labels(node, sample.labels), result))
    return samples


def _combined(node: Binary, first: float, second: float, *, kept: float) -> float | None:
    if node.operator in _ARITHMETIC:
        return float(_ARITHMETIC[node.operator](first, second))
    holds = _COMPARISON[node.operator](first, second)
    if node.as_bool:
        return float(holds)
    return kept if holds else None


def _signature(node: Binary, labels: Labels) -> tuple[tuple[str, str], ...]:
    if node.matching is None:
        return _key(_nameless(labels))
    on, names = node.matching
    return _key({name: value for name, value in _nameless(labels).items() if (name in names) is on})


def _result_labels(node: Binary, labels: Labels) -> Labels:
    return labels if node.operator in _COMPARISON and not node.as_bool else dict(_signature(node, labels))


def _key(labels: Labels) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def _nameless(labels: Labels) -> Labels:
    return {name: value for name, value in labels.items() if name != "__name__"}


