"""SKILL.md files: the good load, the broken are named with their line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.errors import ToolConfigError
from tools.skills import SkillRegistry

Write = Callable[[str, str], Path]
GOOD = """---
name: disk-full
description: "Use when a disk fills --- or a write fails. 磁盘满"
license: MIT
metadata:
  fault_category: DISK
---
# Disk full

## Evidence steps

1. `query_metrics(mode="alerts")` to see what fires.
"""


def test_a_skill_is_read_with_its_body_and_metadata(write: Write) -> None:
    folder = write("disk-full/SKILL.md", GOOD).parent.parent
    skills = SkillRegistry.load(folder)
    skill = skills.read("disk-full")
    assert skill is not None
    assert skill.description == "Use when a disk fills --- or a write fails. 磁盘满"
    assert skill.metadata == {"fault_category": "DISK"}
    assert skill.body.startswith("# Disk full\n\n## Evidence steps")
    assert skills.cards() == (("disk-full", skill.description),)
    assert skills.problems == ()


def test_a_skills_own_folder_may_be_given(write: Write) -> None:
    assert SkillRegistry.load(write("disk-full/SKILL.md", GOOD).parent).names == ("disk-full",)


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter(write: Write) -> None:
    path = write("disk-full/SKILL.md", "")
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert SkillRegistry.load(path.parent.parent).names == ("disk-full",)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("# no front matter", 1, "must begin with front matter"),
        ("---\nname: disk-full\n", 1, "no closing line"),
        ("---\nname: disk-full\ndescription: a: b: c\n---\nbody", 3, "not YAML"),
        ("---\n- a\n---\nbody", 2, "field: value"),
        ("---\nname: disk-full\n---\nbody", 2, "description is missing"),
        ("---\nname: disk-full\ndescription: x\nversion: 1\n---\nbody", 4, "unknown field 'version'"),
        ("---\nname: Disk-Full\ndescription: x\n---\nbody", 2, "lower-case letters"),
        ("---\nname: disk--full\ndescription: x\n---\nbody", 2, "single hyphens"),
        ("---\nname: other\ndescription: x\n---\nbody", 2, "must be that of its folder, 'disk-full'"),
        (f"---\nname: disk-full\ndescription: {'x' * 1025}\n---\nbody", 3, "at most 1024"),
        (f"---\nname: {'a' * 65}\ndescription: x\n---\nbody", 2, "at most 64"),
        ('---\nname: disk-full\ndescription: " "\n---\nbody', 3, "at least 1"),
        ("---\nname: disk-full\ndescription: x\nmetadata:\n  n: 1\n---\nbody", 4, "valid string"),
        ("---\nname: disk-full\ndescription: x\n---\n\n", 4, "nothing follows"),
    ],
)
def test_a_broken_skill_is_reported_with_its_line_and_the_others_load(
    write: Write, text: str, line: int, told: str
) -> None:
    write("good-one/SKILL.md", GOOD.replace("disk-full", "good-one"))
    folder = write("disk-full/SKILL.md", text).parent.parent
    skills = SkillRegistry.load(folder)
    assert skills.names == ("good-one",)
    (problem,) = skills.problems
    assert (problem.path, problem.line) == (folder / "disk-full" / "SKILL.md", line)
    assert told in problem.detail
    assert str(problem) == f"{problem.path}:{line}: {problem.detail}"


def test_bytes_that_are_no_text_are_reported_with_their_line(write: Write) -> None:
    path = write("disk-full/SKILL.md", "")
    path.write_bytes(GOOD.encode() + b"\xff\xfe")
    (problem,) = SkillRegistry.load(path.parent.parent).problems
    assert (problem.line, problem.detail) == (GOOD.count("\n") + 1, "is not UTF-8 text")


def test_a_later_folder_replaces_a_skill_of_an_earlier_one(write: Write) -> None:
    ours = write("ours/disk-full/SKILL.md", GOOD).parent.parent
    theirs = write("theirs/disk-full/SKILL.md", GOOD.replace("# Disk full", "# Our disks")).parent.parent
    skill = SkillRegistry.load(ours, theirs).read("disk-full")
    assert skill is not None
    assert skill.body.startswith("# Our disks")


def test_a_folder_that_is_not_there_is_the_operators_to_mend(tmp_path: Path) -> None:
    with pytest.raises(ToolConfigError, match="does not exist"):
        SkillRegistry.load(tmp_path / "nowhere")


def test_a_name_nobody_has_reads_as_nothing() -> None:
    assert SkillRegistry().read("nobody") is None
