"""The playbooks that ship with the project: valid in their form, and every built-in call in them can be made."""

from pathlib import Path
from typing import Any

import pytest
from skills_ref.validator import validate

from agents.offline.skill_steps import steps_of
from tools.registry import ToolRegistry
from tools.skills import SkillRegistry

FOLDER = Path(__file__).parent.parent / "skills"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/SKILL.md"))
EXPECTED = {
    "certificate-or-dns-failure",
    "connection-pool-exhaustion",
    "disk-full",
    "error-rate-spike",
    "latency-after-deploy",
    "oom-and-restarts",
    "queue-lag",
    "third-party-api-errors",
}


def test_the_playbooks_we_promise_are_there() -> None:
    assert set(NAMES) >= EXPECTED


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_valid_in_the_agent_skills_form(name: str) -> None:
    assert validate(FOLDER / name) == []


def test_our_own_reader_takes_them_all() -> None:
    skills = SkillRegistry.load(FOLDER)
    assert (skills.problems, sorted(skills.names)) == ((), NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_steps_call_tools_with_fields_that_they_have(name: str) -> None:
    built_in = ToolRegistry.builtin()
    steps = steps_of(_body(name))
    known = [(spec, arguments) for tool, arguments in steps if (spec := built_in.get(tool)) is not None]
    assert len(known) >= 4
    for spec, arguments in known:
        spec.input_model.model_validate(_filled(arguments))


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_names_what_to_look_at_and_both_languages_find_it(name: str) -> None:
    skill = SkillRegistry.load(FOLDER).read(name)
    assert skill is not None
    assert skill.metadata["fault_category"].isupper()
    assert any("\u4e00" <= character <= "\u9fff" for character in skill.description)


def _body(name: str) -> str:
    skill = SkillRegistry.load(FOLDER).read(name)
    assert skill is not None
    return skill.body


def _filled(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: value.replace("{", "").replace("}", "") if isinstance(value, str) else value for key, value in arguments.items()}
