"""Which series the words of a question name, and the queries that read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tools.clients.prometheus import BadQuery, PrometheusClient
from tools.errors import ToolFailed
from tools.metric_words import Words, fits_labels, named_metrics, queries, selector, settled_words, sorted_words
from tools.series import number
from tools.window import Window

MAX_SERIES = 300
MAX_DISCOVERED = 2_000
MAX_NAMES = 200


async def queries_for(client: PrometheusClient, match: str, window: Window) -> list[str]:
    """The queries that read what the words name. Empty where nothing fits."""
    words, found = await discovered(client, match, window)
    return queries(found, words)


async def discovered(client: PrometheusClient, match: str, window: Window) -> tuple[Words, list[dict[str, str]]]:
    every = await client.label_values("__name__", window.start, window.end)
    names = [name for name in every if not name.startswith("ALERTS")]  # Prometheus's own record of its alerts
    words = sorted_words(match, names)
    found = await _named_series(client, words, names, window)
    settled = settled_words(words, found)
    if words.metrics and not settled.metrics:
        found = await _named_series(client, settled, names, window)
    wanted = set(named_metrics(settled, names))
    return settled, [labels for labels in found if labels.get("__name__") in wanted and fits_labels(labels, settled)]


async def refuse_too_many(client: PrometheusClient, query: str, start: datetime, end: datetime) -> None:
    """Asks for the number of series first: an answer of a million would cost Prometheus and us the same."""
    quarter = max((end - start).total_seconds() / 4, 1.0)
    try:
        counts, _ = await client.range(f"count({query})", start, end, quarter)
    except BadQuery:
        return  # a scalar cannot be counted; a real fault is told by the query itself
    most = max((value for sample in counts for _, value in sample.points), default=0)
    if most > MAX_SERIES:
        raise ToolFailed(
            f"{query} matches {number(most)} series, more than {MAX_SERIES}: add label matchers, or aggregate, for instance "
            f"sum by (service) ({query}) or topk(10, {query})"
        )


async def _named_series(
    client: PrometheusClient, words: Words, names: Sequence[str], window: Window
) -> list[dict[str, str]]:
    wanted = named_metrics(words, names)[:MAX_NAMES]
    if not wanted:
        return []
    return (await client.series([selector(wanted)], window.start, window.end, MAX_DISCOVERED))[:MAX_DISCOVERED]
