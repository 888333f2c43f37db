"""The metrics file of a scenario: series and alerts, read from JSON, or from CSV with a row a minute and service."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.errors import ConfigError

# Column suffixes of the CSV form, as Prometheus names would say them.
_UNITS = {"%": "percent", "s": "seconds", "ops": "ops"}


@dataclass(frozen=True)
class Series:
    """One time series, times (seconds since 1970) ascending. `labels` includes __name__."""

    labels: dict[str, str]
    times: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class MetricsFile:
    """`alerts` and `rules` (alerting ones, without their alerts) are served as they stand; `by_name` finds the series of a
    metric."""

    series: tuple[Series, ...]
    alerts: tuple[dict[str, Any], ...] = ()
    rules: tuple[dict[str, Any], ...] = ()
    by_name: dict[str, tuple[Series, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, series: list[Series], alerts: list[dict[str, Any]], rules: Sequence[dict[str, Any]] = ()
    ) -> MetricsFile:
        names: dict[str, list[Series]] = defaultdict(list)
        for one in series:
            names[one.labels.get("__name__", "")].append(one)
        by_name = {name: tuple(members) for name, members in names.items()}
        return cls(tuple(series), tuple(alerts), tuple(rules), by_name)


def read_metrics(path: Path) -> MetricsFile:
    """`{"series": [{"metric": {…}, "values": [[ts, "v"], …]}], "alerts": […], "rules": […]}`, or CSV. Raises ConfigError."""
    try:
        return _from_csv(path) if path.suffix == ".csv" else _from_json(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"The metrics file {path} cannot be read: {error!r}") from error


def _from_json(path: Path) -> MetricsFile:
    document = json.loads(path.read_text(encoding="utf-8"))
    series = [_series(item["metric"], item["values"]) for item in document["series"]]
    return MetricsFile.of(series, document.get("alerts", []), document.get("rules", []))


def _series(labels: dict[str, str], samples: list[list[Any]]) -> Series:
    ordered = sorted((float(at), float(value)) for at, value in samples)
    return Series(labels, tuple(at for at, _ in ordered), tuple(value for _, value in ordered))


def _from_csv(path: Path) -> MetricsFile:
    """One column a metric, a `service` label; an empty cell is a missing sample."""
    samples: dict[tuple[str, str], list[list[Any]]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            at, service = row.pop("timestamp"), row.pop("service")
            for column, value in row.items():
                if value:
                    samples[metric_name(column), service].append([at, value])
    series = [_series({"__name__": name, "service": service}, rows) for (name, service), rows in samples.items()]
    return MetricsFile.of(series, [])


def metric_name(column: str) -> str:
    """`CpuUsageRate(%)` is `CpuUsageRate_percent`."""
    name, _, unit = column.rstrip(")").partition("(")
    suffix = _UNITS.get(unit.lower(), unit.lower())
    return re.sub(r"\W+", "_", f"{name}_{suffix}" if suffix else name).strip("_")
