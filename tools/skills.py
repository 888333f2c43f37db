"""Playbooks: SKILL.md files in the Agent Skills form. They name evidence steps, never facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tools.errors import ToolConfigError

SKILL_FILE = "SKILL.md"
_MAX_BYTES = 256 * 1024
_FENCE = re.compile(r"^---[ \t]*$")
_NAME = re.compile(r"[^\W_A-Z]+(?:-[^\W_A-Z]+)*")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True)
class Skill:
    """`body` is the Markdown after the front matter, `metadata` the front matter's own map."""

    name: str
    description: str
    body: str
    metadata: dict[str, str]
    path: Path


class SkillText(NamedTuple):
    name: str
    description: str


@dataclass(frozen=True)
class SkillProblem:
    """A SKILL.md that was left out, and why: `path:line: detail`."""

    path: Path
    line: int
    detail: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.detail}"


class SkillRegistry:
    """The readable skills by name, in the order of their folders; a later folder's skill replaces an earlier one."""

    def __init__(self, skills: Iterable[Skill] = (), problems: Iterable[SkillProblem] = ()) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self.problems = tuple(problems)

    @classmethod
    def load(cls, *folders: Path) -> SkillRegistry:
        """Reads folders of skills (DIR/NAME/SKILL.md, or a single skill's own folder). Broken files become problems;
        a folder that is not there raises ToolConfigError."""
        skills: list[Skill] = []
        problems: list[SkillProblem] = []
        for path in (path for folder in folders for path in _files(folder)):
            try:
                skills.append(_read(path))
            except _Broken as broken:
                problems.append(SkillProblem(path, broken.line, str(broken)))
        return cls(skills, problems)

    def cards(self) -> tuple[SkillText, ...]:
        """All that a planner may see."""
        return tuple(SkillText(skill.name, skill.description) for skill in self._skills.values())

    def read(self, name: str) -> Skill | None:
        return self._skills.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._skills)


class _Broken(Exception):
    def __init__(self, line: int, detail: str) -> None:
        super().__init__(detail)
        self.line = line


class _FrontMatter(BaseModel):
    """The fields of the Agent Skills form; others are refused, since a misspelt one would be lost in silence."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, strict=True)

    name: Annotated[Text, StringConstraints(max_length=64)]
    description: Annotated[Text, StringConstraints(max_length=1024)]
    license: str | None = None
    compatibility: Annotated[str, StringConstraints(max_length=500)] | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    allowed_tools: str | None = Field(default=None, alias="allowed-tools")


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ToolConfigError(f"skills folder {folder} does not exist: create it or take it out of the settings")
    if (folder / SKILL_FILE).is_file():
        return [folder / SKILL_FILE]
    return sorted(folder.glob(f"*/{SKILL_FILE}"))


def _read(path: Path) -> Skill:
    lines = _text(path).splitlines()
    end = _end_of_front_matter(lines)
    front = _front_matter(lines[1:end])
    folder = path.resolve().parent.name
    if not _NAME.fullmatch(front.name):
        raise _Broken(
            _line_of(lines, "name"), f"name {front.name!r}: lower-case letters, digits and single hyphens only"
        )
    if front.name != folder:
        raise _Broken(_line_of(lines, "name"), f"name {front.name!r} must be that of its folder, {folder!r}")
    body = "\n".join(lines[end + 1 :]).strip()
    if not body:
        raise _Broken(end + 1, "nothing follows the front matter: write the playbook")
    return Skill(front.name, front.description, body, front.metadata, path)


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        if len(raw) > _MAX_BYTES:
            raise _Broken(1, f"{len(raw)} bytes; a skill may have {_MAX_BYTES}")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise _Broken(1, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _Broken(line, "is not UTF-8 text") from error


def _end_of_front_matter(lines: list[str]) -> int:
    """The index of the closing fence: a line of its own, so that `---` inside a value splits nothing."""
    if not lines or not _FENCE.match(lines[0]):
        raise _Broken(1, "must begin with front matter: a line `---`, then name and description, then `---`")
    for index, line in enumerate(lines[1:], 1):
        if _FENCE.match(line):
            return index
    raise _Broken(1, "the front matter has no closing line `---`")


def _front_matter(lines: list[str]) -> _FrontMatter:
    try:
        values = yaml.safe_load("\n".join(lines))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "unreadable"
        raise _Broken(mark.line + 2 if mark else 2, f"front matter is not YAML: {problem}") from error
    if not isinstance(values, dict):
        raise _Broken(2, "front matter must be a list of `field: value` lines")
    try:
        return _FrontMatter.model_validate(values)
    except ValidationError as error:
        fault: Any = error.errors(include_url=False)[0]
        field = str(fault["loc"][0])
        raise _Broken(_line_of(["---", *lines], field), _said(field, fault)) from error


def _said(field: str, fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        return f"unknown field {field!r}; put your own under metadata"
    return f"{field} is missing" if fault["type"] == "missing" else f"{field}: {fault['msg']}"


def _line_of(lines: list[str], field: str) -> int:
    for number, line in enumerate(lines, 1):
        if line.startswith(f"{field}:"):
            return number
    return 2
