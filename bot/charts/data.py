"""What a report's chart shows: the metric that fired, from the run's own look-ups or by the alert's rule at Prometheus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from agents.contracts import Alert
from bot.charts.drawing import ChartData, ChartWords, Mark
from bot.charts.recorded import Recorded, agreement, changes_of, fired_series, series_of
from bot.charts.rule import Condition, condition_of, worded_threshold
from storage.trace import StoredInvocation
from tools.clients.prometheus import BadQuery, NotServed, PrometheusClient
from tools.errors import ToolFailed
from tools.metric_ranges import step_seconds
from tools.metric_search import refuse_too_many
from tools.series import unit_of
from tools.window import Window

_LEAST, _MOST = timedelta(hours=1), timedelta(days=7)
# How much of the time before the start is shown, as a share of the time since.
_BEFORE = 1.0


class NoChart(Exception):
    """`key` names the reason among the words of a thread, `values` what it speaks of."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key)
        self.key, self.values = key, values


@dataclass(frozen=True)
class ChartSource:
    """`alert` is the one that the report stays on, `quoted` what its claims quote (call id, raw_path), `now` the run's."""

    alert: Alert
    calls: Sequence[StoredInvocation]
    quoted: frozenset[tuple[str, str]]
    now: datetime
    zone: ZoneInfo
    words: ChartWords = ChartWords()


@dataclass(frozen=True)
class _Rule:
    condition: Condition
    active_at: str | None


async def chart_data(source: ChartSource, prometheus: PrometheusClient | None) -> ChartData:
    """What the run recorded first; else what the alert's own rule measures. Raises NoChart."""
    recorded = series_of(source.calls, source.quoted)
    rule, problem = await _rule(source.alert, prometheus)
    if rule is None:
        return _without_rule(source, recorded, problem)
    same = [one for one in recorded if _squeezed(one.query) == _squeezed(rule.condition.expression)]
    found = _best(same, source.alert)
    if found is None and prometheus is not None:
        found, problem = await _asked(source, rule, prometheus)
    if found is not None:
        return _chart(source, found, rule.condition, rule)
    near = _best([one for one in recorded if one.metric in rule.condition.metrics], source.alert)
    if near is None:
        raise problem
    return _chart(source, near, Condition(near.query), rule)


# ---------------------------------------------------------------- the rule


async def _rule(alert: Alert, prometheus: PrometheusClient | None) -> tuple[_Rule | None, NoChart]:
    """The rule of the alert's name, of several the one whose labels are the alert's."""
    name = alert.alert_name or ""
    missing = NoChart("chart_no_rule", name=name) if name else NoChart("chart_no_name")
    if prometheus is None or not name:
        return None, missing
    try:
        rules = await prometheus.rules(name)
    except (BadQuery, NotServed):
        return None, missing
    except ToolFailed as error:
        return None, NoChart("chart_failed", error=str(error))
    if not rules:
        return None, missing
    best = max(rules, key=lambda rule: max((agreement(labels, alert.labels) for labels in _labels(rule)), default=0))
    active = max(_active(best), key=lambda each: agreement(_text_map(each.get("labels")), alert.labels), default={})
    return _Rule(condition_of(str(best["query"])), active.get("activeAt")), missing


def _labels(rule: dict[str, Any]) -> list[dict[str, str]]:
    return [_text_map(rule.get("labels")), *(_text_map(each.get("labels")) for each in _active(rule))]


def _active(rule: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in rule.get("alerts") or [] if isinstance(each, dict)]


def _text_map(value: object) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}


async def _asked(
    source: ChartSource, rule: _Rule, prometheus: PrometheusClient
) -> tuple[Recorded | None, NoChart]:
    """The series of the rule's expression that belongs to the alert."""
    window = _window(source.now, _moment(source.alert.starts_at) or _moment(rule.active_at))
    query = rule.condition.expression
    try:
        await refuse_too_many(prometheus, query, window.start, window.end)
        samples, _ = await prometheus.range(query, window.start, window.end, step_seconds(window))
    except ToolFailed as error:
        return None, NoChart("chart_failed", error=str(error))
    found = [Recorded(query, sample.labels, sample.points, is_quoted=False) for sample in samples if sample.points]
    return _best(found, source.alert, rule.condition), NoChart("chart_no_series", name=source.alert.alert_name or "")


def _window(now: datetime, started: datetime | None) -> Window:
    """As long before the start as since it, an hour at least."""
    since = (now - started) if started is not None and started < now else timedelta()
    length = min(max(since * (1 + _BEFORE), _LEAST), _MOST)
    return Window((now - length).astimezone(UTC), now.astimezone(UTC))


# ---------------------------------------------------------------- which series, and what is drawn round it


def _best(series: Sequence[Recorded], alert: Alert, condition: Condition | None = None) -> Recorded | None:
    """The one whose labels are the alert's and contradict none; of several the one furthest beyond the threshold."""
    fitting = [one for one in series if one.values and agreement(one.labels, alert.labels) >= 0]
    sign = -1 if condition is not None and condition.fires_below else 1
    return max(
        fitting,
        key=lambda one: (one.is_quoted, agreement(one.labels, alert.labels), max(sign * value for value in one.values)),
        default=None,
    )


def _without_rule(source: ChartSource, recorded: Sequence[Recorded], problem: NoChart) -> ChartData:
    found = fired_series(recorded, source.alert)
    if found is None:
        raise problem
    worded = worded_threshold(" ".join([*source.alert.annotations.values(), source.alert.value or ""]))
    return _chart(source, found, replace(worded or Condition(""), expression=found.query), None)


def _chart(source: ChartSource, found: Recorded, condition: Condition, rule: _Rule | None) -> ChartData:
    started = _moment(source.alert.starts_at) or _moment(rule.active_at if rule else None)
    return ChartData(
        title=f"{_named(source.alert)}\n{found.name}",
        unit=condition.unit if "(" in found.query else unit_of(found.metric),
        points=found.points,
        threshold=_threshold(found, condition, is_rule=rule is not None),
        started_at=started.timestamp() if started else None,
        changes=_marks(source),
        fires_below=condition.fires_below,
        zone=source.zone.key,
        words=source.words,
    )


def _threshold(found: Recorded, condition: Condition, *, is_rule: bool) -> float | None:
    """A number out of somebody's words may be of another unit: it counts where the series has crossed it."""
    limit = condition.threshold
    if limit is None or is_rule:
        return limit
    below = [value < limit for value in found.values]
    return limit if any(below) and not all(below) else None


def _named(alert: Alert) -> str:
    names = (alert.labels.get(name) for name in ("service", "instance", "host", "pod", "job"))
    return " · ".join(part for part in (alert.alert_name, next((name for name in names if name), None)) if part)


def _marks(source: ChartSource) -> tuple[Mark, ...]:
    """The changes that the report speaks of; where it speaks of none, those of the alert's own service."""
    changes = changes_of(source.calls)
    told = [change for change in changes if change.key in source.quoted]
    service = source.alert.labels.get("service")
    own = [change for change in changes if service and change.service == service]
    return tuple(dict.fromkeys(Mark(change.at, change.text) for change in told or own))


def _moment(text: str | None) -> datetime | None:
    """Only with a zone: another clock's time would stand in the wrong place."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def _squeezed(query: str) -> str:
    return "".join(query.split())
