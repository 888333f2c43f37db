"""Labels from Prometheus and Alertmanager: added where one active alert alone can be meant, marked, never guessed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from loopback_http import served

from agents.contracts import Alert
from bot.incidents.enrichment import completed, enriched
from tools.active_alerts import ActiveAlert
from tools.clients.alertmanager import AlertmanagerClient
from tools.contracts import ToolDeps
from tools.skills import SkillRegistry

NOW = datetime(2026, 11, 30, 9, 10, tzinfo=UTC)


def posted(name: str | None = "DiskFull", **labels: str) -> Alert:
    return Alert(sender="alertmanager", alert_name=name, status="firing", labels=labels, fingerprint="f1")


def active(name: str = "DiskFull", since: str = "", **labels: str) -> ActiveAlert:
    return ActiveAlert(name, "firing", labels, since, "", "", "http://am")


def test_the_one_that_is_meant_gives_its_labels_and_they_are_marked() -> None:
    made = completed(posted(severity="critical"), [active(severity="critical", instance="db-1:9100", job="node"), active("Other")])
    assert made.labels == {"severity": "critical", "instance": "db-1:9100", "job": "node"}
    assert made.enriched == ("instance", "job")
    assert made.fingerprint == "f1"


def test_a_start_that_the_post_left_out_is_added_and_marked() -> None:
    made = completed(posted(), [active(since="2026-11-30T08:43:00Z")])
    assert (made.starts_at, made.enriched) == ("2026-11-30T08:43:00Z", ("starts_at",))


def test_a_start_that_the_post_gives_stays() -> None:
    said = posted().model_copy(update={"starts_at": "2026-11-30T08:00:00Z"})
    assert completed(said, [active(since="2026-11-30T08:43:00Z")]) is said


@pytest.mark.parametrize(
    ("alert", "others"),
    [
        (posted(), [active(instance="db-1"), active(instance="db-2")]),
        (posted(severity="warning"), [active(severity="critical", instance="db-1")]),
        (posted(), [active("DiskFullSoon", instance="db-1")]),
        (posted(None), [active("", instance="db-1")]),
        (posted(), []),
        (posted(Instance="db-1"), [active(instance="db-1")]),
    ],
)
def test_whatever_is_not_sure_adds_nothing(alert: Alert, others: list[ActiveAlert]) -> None:
    assert completed(alert, others) is alert


def test_what_the_post_says_tells_two_of_a_name_apart() -> None:
    made = completed(posted(instance="db-2"), [active(instance="db-1", job="a"), active(instance="db-2", job="b")])
    assert made.labels == {"instance": "db-2", "job": "b"}


async def test_a_source_that_is_away_changes_nothing() -> None:
    with served(lambda path, query: (200, [])) as url:
        pass
    client = AlertmanagerClient(url)
    tools = ToolDeps(skills=SkillRegistry(), alertmanager=client)
    assert await enriched([posted()], tools, NOW) == (posted(),)
    assert await enriched([posted()], ToolDeps(skills=SkillRegistry()), NOW) == (posted(),)
    await client.close()


async def test_alertmanager_is_asked() -> None:
    listed: list[dict[str, Any]] = [{"labels": {"alertname": "DiskFull", "instance": "db-1"}, "status": {"state": "active"}}]
    with served(lambda path, query: (200, listed)) as url:
        client = AlertmanagerClient(url)
        [made] = await enriched([posted()], ToolDeps(skills=SkillRegistry(), alertmanager=client), NOW)
        await client.close()
    assert (made.labels, made.enriched) == ({"instance": "db-1"}, ("instance",))
