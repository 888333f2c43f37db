"""The two tools whose answers are never evidence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tool_door import DoorOfRun

from tools.builtin.date_time import TOOL as DATE_TIME
from tools.builtin.read_skill import TOOL as READ_SKILL
from tools.contracts import EvidenceStatus, ToolDeps
from tools.skills import SkillRegistry

SKILL = "---\nname: {0}\ndescription: about {0}\n---\n# {0}\n\nLook at the disks.\n"


async def test_the_time_is_told_in_the_askers_zone_and_in_utc(run_door: DoorOfRun) -> None:
    invocation = await run_door.call(run_door.open([DATE_TIME]), "date_time")
    assert invocation.payload == {
        "utc": "2026-11-30T09:10:00Z",
        "local": "2026-11-30 10:10:00 CET (UTC+0100), Monday",
        "zone": "Europe/Berlin",
        "now_utc": "2026-11-30T09:10:00Z",
        "unix_seconds": 1796029800,
    }
    assert invocation.refs == ()


async def test_a_time_is_converted(run_door: DoorOfRun) -> None:
    invocation = await run_door.call(run_door.open([DATE_TIME]), "date_time", time="14:00", zone="Asia/Shanghai")
    assert invocation.payload["utc"] == "2026-11-29T13:00:00Z"
    assert invocation.payload["in_zone"] == "2026-11-29 21:00:00 CST (UTC+0800), Sunday"


@pytest.mark.parametrize(
    ("arguments", "told"), [({"time": "noonish"}, "is not a time"), ({"zone": "Mars"}, "is no time zone")]
)
async def test_what_is_no_time_or_zone_is_told(run_door: DoorOfRun, arguments: dict[str, str], told: str) -> None:
    assert told in str((await run_door.call(run_door.open([DATE_TIME]), "date_time", **arguments)).error)


@pytest.fixture
def deps(write: Callable[[str, str], Path]) -> ToolDeps:
    for name in ("disk-full", "queue-lag"):
        path = write(f"{name}/SKILL.md", SKILL.format(name))
    return ToolDeps(skills=SkillRegistry.load(path.parent.parent))


async def test_the_selected_skill_is_read_and_is_no_evidence(run_door: DoorOfRun, deps: ToolDeps) -> None:
    door = run_door.open([READ_SKILL], deps, replace(run_door.context, selected_skill="disk-full"))
    invocation = await run_door.call(door, "read_skill", name="disk-full")
    assert invocation.payload == {"name": "disk-full", "body": "# disk-full\n\nLook at the disks."}
    assert (invocation.refs, invocation.evidence_status) == ((), EvidenceStatus.SUPPORTED)


@pytest.mark.parametrize(
    ("selected", "asked", "told"),
    [
        ("disk-full", "queue-lag", "only the selected skill can be read: 'disk-full'"),
        (None, "disk-full", "no skill was selected"),
        ("gone", "gone", "cannot be read any more"),
    ],
)
async def test_no_other_skill_is_read(
    run_door: DoorOfRun, deps: ToolDeps, selected: str | None, asked: str, told: str
) -> None:
    door = run_door.open([READ_SKILL], deps, replace(run_door.context, selected_skill=selected))
    invocation = await run_door.call(door, "read_skill", name=asked)
    assert told in str(invocation.error)
    assert "Look at the disks" not in repr(invocation)
