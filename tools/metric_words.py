"""From words like "connections checkout-service" to series: which words name metrics, which name labels, and the query that
reads a metric of each kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Labels = dict[str, str]

MAX_METRICS = 8
_RATE_WINDOW = "5m"
_WORKLOADS = ("service", "app", "job", "deployment")
_PARTS_OF_FAMILIES = ("_sum", "_created", "_info")
_MEANINGS: dict[str, tuple[str, ...]] = {
    "latency": ("latency", "duration", "response_time", "p99", "p95", "p90", "seconds_bucket"),
    "error": ("error", "fail", "5xx", "exception", "rejected"),
    "traffic": ("request", "rps", "throughput", "qps"),
    "memory": ("memory", "heap", "rss", "mem_"),
    "disk": ("disk", "filesystem", "storage", "volume"),
    "lag": ("lag", "backlog", "queue", "pending", "delay"),
    "queue": ("queue", "backlog", "lag", "pending"),
    "restart": ("restart", "start_time", "crash"),
    "certificate": ("cert", "probe_ssl", "tls"),
    "延迟": ("latency", "duration", "p99"),
    "错误": ("error", "fail", "5xx"),
    "内存": ("memory", "heap", "rss"),
    "连接": ("connection", "pool"),
}


@dataclass(frozen=True)
class Words:
    """`metrics` name metrics (any of them fits), `labels` are parts of label values (any of them fits)."""

    metrics: tuple[str, ...]
    labels: tuple[str, ...]


def sorted_words(match: str, names: Iterable[str]) -> Words:
    """A word that occurs in a metric's name, or means one that does, is a metric word; the others are label words."""
    known = [name.lower() for name in names]
    words = tuple(dict.fromkeys(word for word in re.split(r"[\s,]+", match.lower()) if word))
    metrics = tuple(word for word in words if any(_names_metric(word, name) for name in known))
    return Words(metrics, tuple(word for word in words if word not in metrics))


def settled_words(words: Words, found: Iterable[Labels]) -> Words:
    """Words that are a workload's own name are label words, though a metric's name may hold them (checkout_latency)."""
    workloads = {labels[name].lower() for labels in found for name in _WORKLOADS if name in labels}
    moved = tuple(
        word for word in words.metrics if workloads & {word, f"{word}-service", word.removesuffix("-service")}
    )
    return Words(tuple(word for word in words.metrics if word not in moved), (*words.labels, *moved))


def named_metrics(words: Words, names: Iterable[str]) -> list[str]:
    """The metrics that a metric word names; all where there is none."""
    wanted = (name for name in names if not words.metrics or any(_names_metric(word, name) for word in words.metrics))
    return sorted(wanted)


def selector(names: Sequence[str]) -> str:
    return "{__name__=~" + json.dumps("|".join(names)) + "}"


def fits_labels(labels: Labels, words: Words) -> bool:
    return not words.labels or bool(fitting_labels(labels, words))


def fitting_labels(labels: Labels, words: Words) -> list[str]:
    """The labels whose values a label word names: the word itself, a part of it, or it without "-service"."""
    return [
        name
        for name, value in labels.items()
        if name != "__name__" and any(_names_value(word, value.lower()) for word in words.labels)
    ]


def queries(found: Sequence[Labels], words: Words) -> list[str]:
    """One query a metric, at most eight: gauges as they are, counters as a rate, histograms as their 99th percentile."""
    by_metric: dict[str, list[Labels]] = {}
    for labels in found:
        by_metric.setdefault(labels.get("__name__", ""), []).append(labels)
    readable = [name for name in sorted(by_metric) if name and not name.endswith(_PARTS_OF_FAMILIES)]
    return [_query(name, by_metric[name], words) for name in readable if not _is_count(name, by_metric)][:MAX_METRICS]


def _query(name: str, series: Sequence[Labels], words: Words) -> str:
    named = {label for labels in series for label in fitting_labels(labels, words)}
    matched = sorted(named, key=lambda label: (label not in _WORKLOADS, label))
    selected = name + _matchers(series, matched, words)
    if name.endswith("_bucket"):
        by = ", ".join(["le", *matched[:1]]) if matched else _by_service(series)
        return f"histogram_quantile(0.99, sum by ({by}) (rate({selected}[{_RATE_WINDOW}])))"
    return f"rate({selected}[{_RATE_WINDOW}])" if name.endswith(("_total", "_count")) else selected


def _matchers(series: Sequence[Labels], matched: Sequence[str], words: Words) -> str:
    """One matcher on the label that all of them have in common, else none: `or` is not to be had inside braces."""
    common = next((label for label in matched if all(label in labels for labels in series)), None)
    if common is None:
        return ""
    values = {
        labels[common] for labels in series if any(_names_value(word, labels[common].lower()) for word in words.labels)
    }
    if len(values) == 1:
        return f"{{{common}={json.dumps(values.pop())}}}"
    return f"{{{common}=~{json.dumps('|'.join(re.escape(value) for value in sorted(values)))}}}" if values else ""


def _by_service(series: Sequence[Labels]) -> str:
    return ", ".join(["le", *[name for name in _WORKLOADS if any(name in labels for labels in series)][:1]])


def _is_count(name: str, by_metric: dict[str, list[Labels]]) -> bool:
    """The _count beside a _bucket says nothing that a latency question asks."""
    return name.endswith("_count") and f"{name.removesuffix('_count')}_bucket" in by_metric


def _names_metric(word: str, name: str) -> bool:
    return any(part in name.lower() for part in _meanings(word))


def _meanings(word: str) -> tuple[str, ...]:
    singular = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    return tuple(dict.fromkeys((word, singular, *_MEANINGS.get(singular, ()))))


def _names_value(word: str, value: str) -> bool:
    short = word.removesuffix("-service").removesuffix("_service")
    return word in value or (len(short) >= 3 and (value == short or value.startswith(f"{short}-")))
