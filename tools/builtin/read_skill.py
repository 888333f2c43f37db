"""The body of the one playbook that the planner selected. Never evidence."""

from __future__ import annotations

from pydantic import Field

from tools.contracts import CallContext, Contract, EvidenceStatus, ToolDeps, ToolResult, ToolSpec
from tools.errors import ToolFailed


class ReadSkillInput(Contract):
    name: str = Field(description="The selected skill's name.")


async def run(arguments: ReadSkillInput, deps: ToolDeps, context: CallContext) -> ToolResult:
    selected = context.selected_skill
    if selected is None:
        raise ToolFailed("no skill was selected for this run: go on without one")
    if arguments.name.strip() != selected:
        raise ToolFailed(f"only the selected skill can be read: {selected!r}")
    skill = deps.skills.read(selected)
    if skill is None:
        raise ToolFailed(f"skill {selected!r} cannot be read any more: go on without it")
    return ToolResult(payload={"name": skill.name, "body": skill.body}, evidence_status=EvidenceStatus.SUPPORTED)


def _unavailable(deps: ToolDeps) -> str | None:
    return None if deps.skills.names else "no skills are loaded; add folders to skills_dirs"


TOOL = ToolSpec(
    name="read_skill",
    description="Reads the playbook that was selected for this run. It says where to look; it is never evidence.",
    input_model=ReadSkillInput,
    run=run,
    evidence_level="none",
    timeout_seconds=5.0,
    unavailable=_unavailable,
)
