"""The Prometheus HTTP API (also Thanos, Mimir, VictoriaMetrics under their prefixes): four calls, bounded, with errors
that say what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from tools.clients.bounded_http import MAX_BODY_BYTES, AddressTooLong, Away, BoundedHttp, Reply, Slow, TooLarge
from tools.errors import ToolConfigError, ToolFailed


class BadQuery(ToolFailed):
    """Prometheus cannot read the query; the message is its own."""


class NotServed(ToolFailed):
    """The server speaks of Prometheus but has no such call (a bare query front end)."""


@dataclass(frozen=True)
class Sample:
    """One series: its labels (with `__name__`), its points as (Unix seconds, value), NaN and Inf included."""

    labels: dict[str, str]
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Answer:
    """`warnings` are Prometheus's own (a partial response, say)."""

    data: Any
    warnings: tuple[str, ...] = ()


class PrometheusClient:
    """`base_url` is the address before `/api/v1`. One HTTP client, opened at the first call; `close` it.

    Raises ToolConfigError on an address that is none, ToolFailed on everything that goes wrong later.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 15.0,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ToolConfigError(f"{_shown(base_url)!r} is no address of a Prometheus: write http://prometheus:9090")
        self._base = base_url.rstrip("/").removesuffix("/api/v1")
        self._timeout = timeout
        self._http = BoundedHttp(base_url, headers, timeout, max_body_bytes)

    @property
    def shown_url(self) -> str:
        """The address without credentials."""
        return _shown(self._base)

    async def instant(self, query: str, at: datetime) -> tuple[list[Sample], tuple[str, ...]]:
        answer = await self._get("query", {"query": query, "time": _time(at), "timeout": self._limit})
        return _samples(answer.data), answer.warnings

    async def range(
        self, query: str, start: datetime, end: datetime, step_seconds: float
    ) -> tuple[list[Sample], tuple[str, ...]]:
        """Points every `step_seconds` from `start` to `end`, both included."""
        parameters = {"query": query, "start": _time(start), "end": _time(end), "step": f"{step_seconds:g}"}
        answer = await self._get("query_range", {**parameters, "timeout": self._limit})
        return _samples(answer.data), answer.warnings

    async def alerts(self) -> list[dict[str, Any]]:
        """Pending and firing alerts as the API gives them."""
        answer = await self._get("alerts", {})
        found = answer.data.get("alerts") if isinstance(answer.data, dict) else None
        return [alert for alert in found or [] if isinstance(alert, dict)]

    async def rules(self, name: str) -> list[dict[str, Any]]:
        """The alerting rules of this name as the API gives them, with their active alerts. Servers that do not know
        `rule_name[]` send all; those of another name are left out."""
        answer = await self._get("rules", {"type": "alert", "rule_name[]": name})
        groups = answer.data.get("groups") if isinstance(answer.data, dict) else None
        found = (group.get("rules") for group in groups or [] if isinstance(group, dict))
        listed = (rule for rules in found for rule in rules or [] if isinstance(rule, dict))
        return [rule for rule in listed if rule.get("name") == name and isinstance(rule.get("query"), str)]

    async def series(
        self, selectors: Sequence[str], start: datetime, end: datetime, limit: int
    ) -> list[dict[str, str]]:
        """Label sets of the series that match any selector. Servers that do not know `limit` send all."""
        parameters = {"match[]": list(selectors), "start": _time(start), "end": _time(end), "limit": str(limit)}
        answer = await self._get("series", parameters)
        return [labels for labels in answer.data or [] if isinstance(labels, dict)]

    async def label_values(
        self, label: str, start: datetime, end: datetime, selectors: Sequence[str] = ()
    ) -> list[str]:
        parameters: dict[str, Any] = {"start": _time(start), "end": _time(end)}
        if selectors:
            parameters["match[]"] = list(selectors)
        answer = await self._get(f"label/{label}/values", parameters)
        return [str(value) for value in answer.data or []]

    async def label_names(self, start: datetime, end: datetime) -> list[str]:
        answer = await self._get("labels", {"start": _time(start), "end": _time(end)})
        return [str(name) for name in answer.data or []]

    async def check(self) -> None:
        """Raises ToolFailed unless the server answers a query."""
        await self._get("query", {"query": "vector(1)"})

    async def close(self) -> None:
        await self._http.close()

    # ---------------------------------------------------------------- one request

    @property
    def _limit(self) -> str:
        return f"{max(self._timeout - 1, 1):g}s"

    async def _get(self, path: str, parameters: Mapping[str, Any]) -> Answer:
        try:
            reply = await self._http.get(f"{self._base}/api/v1/{path}", parameters)
        except Slow as error:
            raise ToolFailed(
                f"Prometheus at {self.shown_url} did not answer within {self._timeout:g} s: shorten the window, or ask for "
                "fewer series with label matchers or an aggregation"
            ) from error
        except Away as error:
            raise ToolFailed(f"Prometheus at {self.shown_url} is away ({error}): go on without metrics") from error
        except AddressTooLong as error:
            raise ToolFailed(f"the query is too long for Prometheus at {self.shown_url}: shorten it") from error
        except TooLarge as error:
            raise ToolFailed(
                f"the answer of Prometheus is larger than {error}: aggregate, for instance sum by (service) (…), add label "
                "matchers or shorten the window"
            ) from error
        return self._answer(reply)

    def _answer(self, reply: Reply) -> Answer:
        value = reply.json()
        if isinstance(value, dict) and value.get("status") == "success":
            return Answer(value.get("data"), tuple(str(warning) for warning in value.get("warnings") or ()))
        raise self._refusal(reply, value)

    def _refusal(self, reply: Reply, value: Any) -> ToolFailed:
        status, body = reply.status, reply.body
        said = str(value.get("error") or "")[:600] if isinstance(value, dict) else ""
        kind = str(value.get("errorType") or "") if isinstance(value, dict) else ""
        if status in (401, 403):
            return ToolFailed(
                f"Prometheus at {self.shown_url} refuses us (HTTP {status}): the operator must set prometheus_token or "
                "prometheus_headers; go on without metrics"
            )
        if status == 404 and not body[:400].lstrip().startswith(b"<"):
            return NotServed(
                f"{self.shown_url} does not serve this call (HTTP 404): check prometheus_url; go on without it"
            )
        if said and (kind == "bad_data" or status == 400):
            return BadQuery(f"Prometheus cannot read the query: {said}. Correct it and call again")
        if said:
            return ToolFailed(f"Prometheus could not run the query (HTTP {status} {kind}): {said}")
        if body[:400].lstrip()[:1] == b"<":
            return ToolFailed(
                f"{self.shown_url} answers HTTP {status} with a web page, not with Prometheus's JSON: a proxy or a wrong "
                "address; the operator must check prometheus_url; go on without metrics"
            )
        return ToolFailed(
            f"{self.shown_url} answers HTTP {status} and no Prometheus JSON: check prometheus_url; go on without"
        )


def _samples(data: Any) -> list[Sample]:
    kind = data.get("resultType") if isinstance(data, dict) else None
    result = data.get("result") if isinstance(data, dict) else None
    if kind in ("scalar", "string"):
        return [Sample({}, (_point(result),))] if kind == "scalar" else []
    if kind not in ("vector", "matrix") or not isinstance(result, list):
        raise ToolFailed("Prometheus answered in an unknown form: go on without metrics")
    return [_sample(item) for item in result]


def _sample(item: dict[str, Any]) -> Sample:
    """Native histograms have no plain value: their series comes without points."""
    pairs = item.get("values") or ([item["value"]] if "value" in item else [])
    return Sample(item.get("metric") or {}, tuple(_point(pair) for pair in pairs))


def _point(pair: Any) -> tuple[float, float]:
    at, value = pair
    return float(at), float(value)


def _time(moment: datetime) -> str:
    return f"{moment.timestamp():.3f}"


def _shown(url: str) -> str:
    parts = urlsplit(url)
    if not parts.hostname:
        return url.split("@")[-1][:80]
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
