"""Deploy notes that were posted in Slack, alone and beside a file of changes."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tool_door import DoorOfRun

from storage.audience import Audience
from storage.change_events import ChangeEvent, ChangeEvents
from storage.engine import Database
from tools.builtin.query_changes import TOOL
from tools.changes import Change, ChangeSource
from tools.contracts import EvidenceStatus, ToolDeps
from tools.invoke import Invocation
from tools.posted_changes import PostedChanges, told_once
from tools.skills import SkillRegistry

Write = Callable[[str, str], Path]
HERE = Audience("T1", "C1")
AT = datetime(2026, 11, 30, 8, 40, tzinfo=UTC)
DEPLOY = {"kind": "deploy", "version": "v5.12", "author": "ana"}
NOTE = ChangeEvent("T1", "C1", "1.1", "Deployed orders v5.12", AT, "orders", DEPLOY, is_private=False)
RECORD = {"time": "2026-11-30T08:38:07Z", "kind": "deployment", "service": "orders-service", "version": "5.12"}


@pytest.fixture
def posted(database: Database) -> PostedChanges:
    """One note of a public channel, one of a private one."""
    events = ChangeEvents(database)
    events.add(NOTE)
    events.add(replace(NOTE, channel="C2", ts="1.2", summary="Deployed billing v1.2", service="billing", is_private=True))
    return PostedChanges(database)


async def ask(run_door: DoorOfRun, posted: PostedChanges, file: Path | None = None, **arguments: Any) -> Invocation:
    audience = arguments.pop("audience", HERE)
    deps = ToolDeps(skills=SkillRegistry(), changes=ChangeSource(file) if file else None, posted_changes=posted)
    door = run_door.open([TOOL], deps, replace(run_door.context, audience=audience))
    invocation: Invocation = await run_door.call(door, "query_changes", **arguments)
    return invocation


async def test_a_posted_note_is_quotable_and_says_where_it_stands(run_door: DoorOfRun, posted: PostedChanges) -> None:
    [ref] = (await ask(run_door, posted)).refs
    assert ref.text == (
        'time=2026-11-30T08:40:00Z kind=deploy service=orders version=v5.12 summary="Deployed orders v5.12" author=ana'
    )
    window = {"window_from": "2026-11-29T09:10:00Z", "window_to": "2026-11-30T09:10:00Z"}
    assert ref.scope == {"source": "slack", "channel": "C1", "service": "orders", **window}


@pytest.mark.parametrize(
    ("audience", "services"),
    [
        (HERE, ["orders"]),
        (Audience("T1", "C2"), ["orders", "billing"]),
        (Audience("T2", "C2"), []),
        (Audience(), ["orders"]),
    ],
)
async def test_a_private_channels_note_is_read_there_alone(
    run_door: DoorOfRun, posted: PostedChanges, audience: Audience, services: list[str]
) -> None:
    invocation = await ask(run_door, posted, audience=audience)
    assert [change["service"] for change in invocation.payload.get("changes", [])] == services


async def test_a_deploy_that_both_tell_of_is_told_once_with_the_records_time(
    run_door: DoorOfRun, posted: PostedChanges, write: Write
) -> None:
    other = {"time": "2026-11-30T08:39:00Z", "kind": "config", "service": "orders", "summary": "pool size 30 -> 8"}
    file = write("changes.jsonl", f"{json.dumps(RECORD)}\n{json.dumps(other)}")
    invocation = await ask(run_door, posted, file)
    assert [(ref.scope["source"], ref.raw_path) for ref in invocation.refs] == [
        ("changes.jsonl", "$.changes[0]"),
        ("changes.jsonl", "$.changes[1]"),
    ]


async def test_what_only_one_of_them_tells_comes_in_order_of_time(
    run_door: DoorOfRun, posted: PostedChanges, write: Write
) -> None:
    rows = [RECORD | {"time": "2026-11-30T08:50:00Z", "version": "5.13"}, RECORD | {"service": "cart"}]
    invocation = await ask(run_door, posted, write("changes.jsonl", "\n".join(map(json.dumps, rows))))
    assert [ref.scope["source"] for ref in invocation.refs] == ["changes.jsonl", "slack", "changes.jsonl"]
    assert [change["service"] for change in invocation.payload["changes"]] == ["cart", "orders", "orders-service"]


async def test_a_secret_in_a_note_is_masked(run_door: DoorOfRun, database: Database) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ChangeEvents(database).add(replace(NOTE, summary=f"Deployed orders with token {secret}"))
    invocation = await ask(run_door, PostedChanges(database))
    [row] = run_door.rows()
    assert "[REDACTED:" in invocation.refs[0].text
    assert secret not in json.dumps([invocation.payload, row.payload, row.retrieval_details])


async def test_notes_are_told_where_the_file_cannot_be_read(
    run_door: DoorOfRun, posted: PostedChanges, tmp_path: Path
) -> None:
    invocation = await ask(run_door, posted, tmp_path / "gone.jsonl")
    assert [ref.scope["source"] for ref in invocation.refs] == ["slack"]
    assert "gone.jsonl" in invocation.details["unreadable"][0]
    nothing = await ask(run_door, posted, tmp_path / "gone.jsonl", window_minutes=5)
    assert nothing.evidence_status is EvidenceStatus.FAILED


async def test_nothing_found_names_both_sources(run_door: DoorOfRun, posted: PostedChanges, write: Write) -> None:
    invocation = await ask(run_door, posted, write("changes.jsonl", json.dumps(RECORD)), service="gateway")
    assert invocation.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert invocation.refs[0].scope["source"] == "changes.jsonl, slack"


@pytest.mark.parametrize(
    ("fields", "minutes", "is_told"),
    [
        ({"service": "orders", "kind": "deploy", "version": "5.12"}, 14, False),
        ({"service": "ORDERS-svc", "kind": "release"}, -14, False),
        ({"summary": "orders is live"}, 1, False),
        ({"service": "orders", "kind": "deploy", "version": "5.12"}, 16, True),
        ({"service": "orders", "kind": "deploy", "version": "5.13"}, 1, True),
        ({"service": "orders", "kind": "rollback", "version": "5.12"}, 1, True),
        ({"service": "cart", "kind": "deploy", "version": "5.12"}, 1, True),
        ({"summary": "all is live"}, 1, True),
    ],
)
def test_a_note_is_left_out_only_where_a_record_tells_of_the_same(fields: dict[str, str], minutes: int, is_told: bool) -> None:
    record = Change(AT, {"service": "orders", "kind": "deploy", "version": "v5.12"}, {})
    note = Change(_later(minutes), fields, {"source": "slack"})
    assert (note in told_once([record], [note])) == is_told
    assert record in told_once([record], [note])


def test_a_deploys_begin_and_end_are_one_change() -> None:
    begun, done = (Change(_later(minutes), {"service": "orders", "version": "5.12"}, {}) for minutes in (0, 5))
    assert told_once([], [begun, done]) == [begun]


def _later(minutes: int) -> datetime:
    return AT + timedelta(minutes=minutes)
