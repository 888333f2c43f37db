"""Whatever is posted, in whatever order: the books add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from alert_posts import Channel, ends, fires
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.contracts import Alert
from bot.incidents.intake import Intake
from storage.engine import Database
from storage.incidents import IncidentStore

NAMES = st.sampled_from(["Down", "Slow", "KubeNodeNotReady", "Host db-1 is down"])
WHERE = st.fixed_dictionaries(
    {},
    optional={
        "service": st.sampled_from(["a", "b", "c"]),
        "node": st.sampled_from(["web-1", "db-1"]),
        "namespace": st.just("shop"),
    },
)
SEVERITIES = st.sampled_from(["critical", "warning", "info", None])
KINDS = st.sampled_from(["fires", "fires", "ends", "acknowledged"])
ALERTS = st.lists(st.tuples(KINDS, NAMES, SEVERITIES, WHERE), min_size=1, max_size=4)
POSTS = st.lists(
    st.tuples(ALERTS, st.integers(0, 900), st.integers(0, 5), st.sampled_from(["post", "post", "edit", "reply"])), max_size=14
)


@pytest.fixture
def numbers() -> Iterator[int]:
    return count(1)


def read(kind: str, name: str, severity: str | None, where: dict[str, str]) -> Alert:
    if kind == "ends":
        return ends(name, severity, **where)
    return fires(name, severity, **where, status="firing" if kind == "fires" else kind)


@given(posts=POSTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_books_add_up(sqlite_database: Database, numbers: Iterator[int], posts: list[Any]) -> None:
    store = IncidentStore(sqlite_database)
    name, clock = f"C{next(numbers)}", 0
    roots: list[str] = []
    channel = Channel(Intake(store), channel=name)
    for alerts, wait, more, how in posts:
        clock += wait
        ts = f"{len(roots)}.{next(numbers)}"
        earlier = roots[more % len(roots)] if roots and how != "post" else None
        edits, thread = (earlier if how == "edit" else None), (earlier if how == "reply" else None)
        roots.append(ts)
        read_alerts = [read(*alert) for alert in alerts]
        taken = channel.post(
            *read_alerts, at=clock, count=len(alerts) + more, edits=edits, thread=thread, ts=ts
        )
        assert {each.alert.fingerprint for each in taken} == {alert.fingerprint for alert in read_alerts}
        check(store, name)


def check(store: IncidentStore, channel: str) -> None:
    firing: Counter[str] = Counter()
    for one in store.open(channel):
        rows = store.alerts_of(one.incident_id)
        assert one.firing_count == sum(row.weight for row in rows if row.is_firing) > 0
        assert one.alert_count == sum(row.most for row in rows) >= one.firing_count
        assert one.lead in {row.fingerprint for row in rows}
        assert one.title
        assert one.merged_into is None
        assert (one.run_id, one.due_at is None) != (None, one.not_run_reason is None)
        firing.update(row.fingerprint for row in rows if row.is_firing)
    assert all(number == 1 for number in firing.values())
