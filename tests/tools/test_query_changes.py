"""Deploys and config changes from a file."""

import json
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tool_door import DoorOfRun

from tools.builtin.query_changes import TOOL
from tools.changes import ChangeSource
from tools.contracts import EvidenceStatus, ToolDeps
from tools.errors import ToolConfigError
from tools.invoke import Invocation
from tools.skills import SkillRegistry

Write = Callable[[str, str], Path]
ROWS = [
    {"time": "2026-11-28T15:20:44Z", "kind": "deploy", "service": "payment-service", "version": "3.31.0", "summary": "old"},
    {"time": "2026-11-30T08:41:07Z", "kind": "config", "service": "order-service", "version": "r882", "summary": "pool size 30 -> 8", "author": "a.brandt"},
    {"time": "2026-11-30T08:30:05Z", "kind": "deploy", "service": "recommendation-service", "version": "2.14.0", "summary": "per-segment features"},
]  # fmt: skip
CSV = """time,service,kind,summary,author
2026-11-30T09:41:07,order-service,config,"pool size 30 -> 8, by hand",a.brandt
"""


def deps(path: Path, zone: ZoneInfo | None = None) -> ToolDeps:
    return ToolDeps(skills=SkillRegistry(), changes=ChangeSource(path, zone))


async def ask(run_door: DoorOfRun, tools: ToolDeps, **arguments: object) -> Invocation:
    return await run_door.call(run_door.open([TOOL], tools), "query_changes", **arguments)


@pytest.fixture
def file(write: Write) -> Path:
    return write("changes.jsonl", "\n".join(json.dumps(row) for row in ROWS))


async def test_the_changes_of_the_last_day_come_in_order_of_time(run_door: DoorOfRun, file: Path) -> None:
    invocation = await ask(run_door, deps(file))
    assert [ref.text for ref in invocation.refs] == [
        'time=2026-11-30T08:30:05Z kind=deploy service=recommendation-service version=2.14.0 summary="per-segment features"',
        'time=2026-11-30T08:41:07Z kind=config service=order-service version=r882 summary="pool size 30 -> 8" author=a.brandt',
    ]
    assert invocation.refs[1].raw_path == "$.changes[1]"
    assert invocation.refs[1].scope == {
        "source": "changes.jsonl",
        "service": "order-service",
        "window_from": "2026-11-29T09:10:00Z",
        "window_to": "2026-11-30T09:10:00Z",
    }


@pytest.mark.parametrize(
    ("arguments", "services"),
    [
        ({"service": "order"}, ["order-service"]),
        ({"kind": "deploy"}, ["recommendation-service"]),
        ({"text": "POOL SIZE"}, ["order-service"]),
        ({"window_minutes": 60 * 72}, ["payment-service", "recommendation-service", "order-service"]),
        ({"since": "09:35", "until": "09:45"}, ["order-service"]),
        ({"limit": 1}, ["order-service"]),
    ],
)
async def test_changes_are_filtered(
    run_door: DoorOfRun, file: Path, arguments: dict[str, object], services: list[str]
) -> None:
    invocation = await ask(run_door, deps(file), **arguments)
    assert [change["service"] for change in invocation.payload["changes"]] == services


async def test_nothing_found_names_filter_and_window(run_door: DoorOfRun, file: Path) -> None:
    invocation = await ask(run_door, deps(file), service="gateway", window_minutes=60)
    assert invocation.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert invocation.refs[0].text == (
        "No change is recorded for service=gateway from 2026-11-30T08:10:00Z to 2026-11-30T09:10:00Z."
    )


async def test_a_csv_is_read_too_and_its_bare_times_in_the_files_zone(run_door: DoorOfRun, write: Write) -> None:
    invocation = await ask(run_door, deps(write("changes.csv", CSV), ZoneInfo("Europe/Berlin")))
    assert invocation.refs[0].text == (
        'time=2026-11-30T08:41:07Z service=order-service kind=config summary="pool size 30 -> 8, by hand" author=a.brandt'
    )


async def test_unreadable_lines_are_counted_and_named(run_door: DoorOfRun, write: Write) -> None:
    lines = ["{not json", '{"service": "a"}', '{"time": "noonish"}', "[1]", "", json.dumps(ROWS[1]), "x" * 30_000]
    invocation = await ask(run_door, deps(write("changes.jsonl", "\n".join(lines))))
    assert len(invocation.refs) == 1
    assert invocation.details["lines_unreadable"] == 5
    assert invocation.details["unreadable"] == [
        "line 1: is not JSON",
        "line 2: has no time",
        "line 3: time 'noonish' cannot be read",
        "line 4: is not an object",
        "line 7: has over 20000 characters",
    ]


async def test_nothing_found_in_an_unreadable_file_says_so(run_door: DoorOfRun, write: Write) -> None:
    invocation = await ask(run_door, deps(write("changes.jsonl", "garbage\nmore garbage")))
    assert "(2 lines of the file could not be read)" in invocation.refs[0].text


async def test_a_file_that_is_gone_is_a_failure_not_an_absence(run_door: DoorOfRun, tmp_path: Path) -> None:
    invocation = await ask(run_door, deps(tmp_path / "gone.jsonl"))
    assert invocation.evidence_status is EvidenceStatus.FAILED
    assert "the changes file gone.jsonl cannot be read" in str(invocation.error)
    with pytest.raises(ToolConfigError, match="Set changes_file"):
        ChangeSource(tmp_path / "gone.jsonl").check()


async def test_the_same_window_in_other_words_is_a_duplicate(run_door: DoorOfRun, file: Path) -> None:
    door = run_door.open([TOOL], deps(file))
    await run_door.call(door, "query_changes", since="2026-11-30T08:10:00Z")
    again = await run_door.call(door, "query_changes", window_minutes=60)
    other = await run_door.call(door, "query_changes", window_minutes=61)
    assert (again.evidence_status, other.evidence_status) == (EvidenceStatus.DEDUPED, EvidenceStatus.SUPPORTED)
