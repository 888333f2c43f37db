"""An Alert from what a reader found: levels normalised, links by kind, a fingerprint of what does not change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from agents.contracts import Alert, AlertStatus
from bot.alert_reading.markup import Link
from bot.alert_reading.words import severity_of, severity_written

MAX_NAME = 500
MAX_VALUE = 2_000
MAX_RAW = 4_000
MAX_ENTRIES = 60
_VOLATILE = re.compile(
    r"\A(?:value|current|threshold|time|timestamp|starts?_?at|ends?_?at|replica|prometheus|prometheus_replica|pod_ip|uid|pid|"
    r"container_id|id|event_?id|trace_?id|request_?id|incident|incident_?id|alert_?id|count|num_hits|num_matches|duration|tags|__.*__)\Z",
    re.IGNORECASE,
)
_LINK_KINDS = (
    ("runbook", ("runbook", "playbook", "手册", "预案", "手順")),
    ("silence", ("silence", "mute", "静默", "屏蔽")),
    ("dashboard", ("dashboard", "grafana board", "仪表", "看板", "ダッシュボード")),
    ("panel", ("panel",)),
    ("query", ("query", "graph", "prometheus", "expression")),
    ("source", ("source", "generator", "view alert", "view incident", "open in", "visit", "details", "详情", "詳細")),
)
_NO_VALUE = ("[no value]", "n/a", "N/A", "-", "null", "None", "no value")
_WEB = re.compile(r"https?://[^\s<>|\"]{3,4000}")


def make_alert(
    sender: str,
    name: str | None,
    status: AlertStatus,
    *,
    severity: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    value: str | None = None,
    starts_at: str | None = None,
    ends_at: str | None = None,
    at: str | None = None,
    links: Mapping[str, str] | None = None,
    group: str | None = None,
    raw: str = "",
) -> Alert:
    """`severity` as the post has it. `at`: a time that names neither start nor end, so the start, or a resolved notice's end.
    A sender that says nothing of a field leaves it out."""
    is_end = status == "resolved"
    name = (name or "").strip()[:MAX_NAME] or None
    kept = _kept(labels)
    return Alert(
        sender=sender,
        alert_name=name,
        status=status,
        severity=severity_of(severity),
        severity_raw=severity_written(severity),
        labels=kept,
        annotations=_kept(annotations),
        value=None if value in _NO_VALUE else (value or "").strip()[:MAX_VALUE] or None,
        starts_at=starts_at or (None if is_end else at),
        ends_at=ends_at or (at if is_end else None),
        links=dict(links or {}),
        group=(group or "").strip()[:MAX_NAME] or None,
        fingerprint=fingerprint(sender, name, kept, group),
        raw=raw.strip()[:MAX_RAW],
    )


def with_sender(alert: Alert, sender: str) -> Alert:
    """The same alert under another sender's name, and so under another fingerprint."""
    name = fingerprint(sender, alert.alert_name, alert.labels, alert.group)
    return alert.model_copy(update={"sender": sender, "fingerprint": name})


def fingerprint(sender: str, name: str | None, labels: Mapping[str, str], group: str | None = None) -> str:
    """Of sender, name, group and stable labels: the same when it fires, fires again with another value, and resolves."""
    stable = sorted((key.casefold(), value) for key, value in labels.items() if not _VOLATILE.match(key))
    text = "\x1f".join((sender, name or "", group or "", *(f"{key}\x1e{value}" for key, value in stable)))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


@lru_cache(512)
def link_kind(label: str) -> str:
    """runbook, silence, dashboard, panel, query or source for a post's name of a link; else that name itself."""
    name = " ".join(label.casefold().split())
    found = next((kind for kind, words in _LINK_KINDS if any(word in name for word in words)), None)
    plain = re.sub(r"[^\w]+", "_", re.sub(r":[a-z0-9_+-]{1,40}:", "", name)).strip("_")
    return found or (plain[:60] if plain.count("_") < 3 else "") or "link"


class Links:
    """Links by kind: no address twice, and a second one of a kind is kind_2."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def add(self, kind: str, url: str) -> Links:
        """Only web addresses count; whatever stands round one is left out."""
        match = _WEB.search(url) if url else None
        if match and match[0] not in self._found.values() and len(self._found) < MAX_ENTRIES:
            self._found[self._free(kind)] = match[0]
        return self

    def add_all(self, named: Iterable[tuple[str, str]]) -> Links:
        """(the post's name of the link, address)."""
        for label, url in named:
            self.add(link_kind(label), url)
        return self

    def add_links(self, links: Iterable[Link]) -> Links:
        return self.add_all((link.label, link.url) for link in links)

    def by_kind(self) -> dict[str, str]:
        return dict(self._found)

    def _free(self, kind: str) -> str:
        number, name = 1, kind
        while name in self._found:
            number += 1
            name = f"{kind}_{number}"
        return name


def _kept(pairs: Mapping[str, str] | None) -> dict[str, str]:
    found = [(key.strip()[:100], value.strip()[:MAX_VALUE]) for key, value in (pairs or {}).items()]
    return dict([(key, value) for key, value in found if key and value][:MAX_ENTRIES])
