"""An invented storm, in the states that an incident's line tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from bot.blocks.incident import IncidentView
from bot.blocks.sample_run import RUN, SAMPLE_AT
from storage.incidents import Incident, StoredAlert

_NAMES = ("NodeNotReady", "PodsPending", "HighErrorRate", "LatencyHigh", "QueueBacklog", "CheckoutSlow")


def sample_incidents() -> Iterator[tuple[str, IncidentView]]:
    """(state, what is told of it)."""
    storm = _storm()
    some = replace(storm, run_id=RUN, firing_count=2, flaps=3, occurrence=2)
    yield "firing", IncidentView(some, _alerts(over=4))
    yield "waiting", IncidentView(replace(storm, queue_position=2), _alerts(over=0))
    yield "not_looked", IncidentView(replace(storm, not_run_reason="hour:high"), _alerts(over=0))
    end = SAMPLE_AT + timedelta(minutes=42)
    ended = replace(storm, status="resolved", firing_count=0, resolved_at=end)
    yield "over", IncidentView(ended, _alerts(over=len(_NAMES)), has_line=True)
    yield "left", IncidentView(replace(storm, status="resolved", resolved_at=SAMPLE_AT), _alerts(over=0), has_line=True)
    yield "part", IncidentView(replace(ended, merged_into="inc-2"), whole="worker-7: NodeNotReady", has_line=True)


def _storm() -> Incident:
    return Incident(
        incident_id="inc-1", occurrence=1, team="T1", channel="C1", root_ts="1.1", status="open",
        title="worker-7: NodeNotReady", severity="critical", lead="f0", entities={}, alert_count=len(_NAMES), post_count=9,
        firing_count=len(_NAMES), opened_at=SAMPLE_AT, last_seen_at=SAMPLE_AT, grown_at=SAMPLE_AT,
    )  # fmt: skip


def _alerts(over: int) -> list[StoredAlert]:
    """The last `over` of them have ended."""
    return [_alert(number, number >= len(_NAMES) - over) for number in range(len(_NAMES))]


def _alert(number: int, is_over: bool) -> StoredAlert:
    document = {"alert_name": _NAMES[number], "sender": "alertmanager", "value": "0.2 %" if is_over else "12 %"}
    status, ended = ("resolved", SAMPLE_AT + timedelta(minutes=5 + number)) if is_over else ("firing", None)
    weight = 0 if is_over else 1
    return StoredAlert("inc-1", f"f{number}", status, document, "1.1", "1.1", weight, 1, SAMPLE_AT, SAMPLE_AT, ended)
