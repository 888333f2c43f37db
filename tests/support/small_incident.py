"""A small incident for pipeline tests: two tools with fixed answers, and the turns of a model that works through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from agents.events import RunEvent
from agents.ledger import RunLimits
from agents.llm import RoleModels
from agents.llm.base import Model
from agents.llm.scripted import Scripted, ScriptedCall, Turn
from agents.prompts import Prompts
from agents.replies import Replies
from agents.state import RunRequest
from bot.jobs import Workplace
from storage.engine import Database
from tools.contracts import (
    CallContext,
    EvidenceRef,
    EvidenceStatus,
    ToolDeps,
    ToolResult,
    ToolSpec,
    nothing_found,
)
from tools.errors import ToolFailed
from tools.invoke import ToolLimits
from tools.registry import ToolRegistry
from tools.skills import Skill, SkillRegistry

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 30, 9, 10, tzinfo=UTC)
QUESTION = "Why is checkout slow?"

POOL_LINE = "2026-11-30 08:43:12 ERROR order-service HikariPool-1 Connection is not available, request timed out after 30000ms"
WAITING_LINE = "order-service hikaricp_connections_pending max=42 at 08:44, before=0"
CHANGE_LINE = "08:41 order-service config maximum-pool-size changed from 30 to 5"
HERRING_LINE = "2026-11-30 08:30:00 WARN recommendation-service feature cache miss, falling back to defaults"


class ServiceInput(BaseModel):
    model_config = ConfigDict(extra="forbid")

    service: str


class SkillInput(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


def _answers(path: str, lines: Mapping[str, Sequence[str]]) -> Callable[..., Any]:
    async def run(arguments: ServiceInput, _: ToolDeps, context: CallContext) -> ToolResult:
        found = lines.get(arguments.service)
        if found is None:
            return nothing_found(f"no {path} of {arguments.service} in 30 min", scope={"service": arguments.service})
        return ToolResult(
            payload={path: list(found)},
            evidence_status=EvidenceStatus.SUPPORTED,
            evidence_refs=tuple(
                EvidenceRef(raw_path=f"$.{path}[{index}]", text=line, scope={"service": arguments.service})
                for index, line in enumerate(found)
            ),
        )

    return run


async def _read_skill(arguments: SkillInput, deps: ToolDeps, context: CallContext) -> ToolResult:
    skill = deps.skills.read(arguments.name)
    if skill is None or arguments.name != context.selected_skill:
        raise ToolFailed(f"{arguments.name} was not selected by the planner")
    return ToolResult(payload={"body": skill.body}, evidence_status=EvidenceStatus.SUPPORTED)


async def _broken(_: ServiceInput, __: ToolDeps, ___: CallContext) -> ToolResult:
    raise ToolFailed("the metrics server answered 503: ask again later")


LOGS = {"order-service": (POOL_LINE,), "recommendation-service": (HERRING_LINE,)}
METRICS = {"order-service": (WAITING_LINE,)}
CHANGES = {"order-service": (CHANGE_LINE,)}


def specs() -> tuple[ToolSpec, ...]:
    return (
        ToolSpec("query_logs", "Log lines of a service", ServiceInput, _answers("logs", LOGS), "direct"),
        ToolSpec("query_metrics", "Metrics of a service", ServiceInput, _answers("series", METRICS), "direct"),
        ToolSpec("query_changes", "Deploys and config changes", ServiceInput, _answers("changes", CHANGES), "direct"),
        ToolSpec("read_skill", "The selected playbook", SkillInput, _read_skill, "none"),
        ToolSpec("broken_metrics", "A tool that is down", ServiceInput, _broken, "direct"),
    )


def skills() -> SkillRegistry:
    pool = Skill("connection-pool", "Pool exhaustion", "SECRET BODY: look at hikaricp first", {}, Path("SKILL.md"))
    disk = Skill("disk-full", "Disks that fill up", "SECRET BODY TWO", {}, Path("SKILL.md"))
    return SkillRegistry([pool, disk])


class Clock:
    """Stands still unless told; each look moves it by `step` seconds."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = datetime.now(UTC)
        self._step = timedelta(seconds=step)

    def __call__(self) -> datetime:
        self.now += self._step
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class World:
    """A workplace with what tests look at. `slept` are the waits between technical retries."""

    place: Workplace
    events: list[RunEvent] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def told(self, kind: str) -> list[str]:
        return [event.name for event in self.events if event.kind == kind]


def world(
    db: Database,
    model: Model,
    *,
    offline: Model | None = None,
    limits: RunLimits | None = None,
    tool_limits: ToolLimits | None = None,
    tools: Sequence[ToolSpec] | None = None,
    clock: Callable[[], datetime] | None = None,
    owner: str = "test",
    prefix: str = "id",
) -> World:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    numbers = count(1)
    place = Workplace(
        db=db,
        registry=ToolRegistry(specs() if tools is None else tools),
        tools=ToolDeps(skills=skills()),
        models=RoleModels(model),
        offline=offline,
        prompts=Prompts.load(ROOT / "prompts"),
        replies=Replies.load(ROOT / "prompts" / "replies"),
        owner=owner,
        limits=limits or RunLimits(poll_seconds=0.01),
        tool_limits=tool_limits or ToolLimits(),
        clock=clock or Clock(),
        sleep=sleep,
        new_id=lambda: f"{prefix}{next(numbers):010d}",
    )
    return World(place, slept=slept)


def request(question: str = QUESTION, language: str = "en", **changes: Any) -> RunRequest:
    values: dict[str, Any] = {
        "session_id": "session-1",
        "question": question,
        "language": language,
        "zone": "UTC",
        "now": NOW,
    }
    return RunRequest(**(values | changes))


# ---------------------------------------------------------------- turns


def plan(skill: str | None = "connection-pool") -> Turn:
    return Turn(
        role="planner",
        reply={
            "selected_skill": skill,
            "selection_reason": "slow and pool words",
            "plan": ["logs of order-service", "metrics of order-service"],
            "reasoning": "start at the order service",
        },
    )


def looks(*calls: tuple[str, str]) -> Turn:
    return Turn(
        role="executor",
        tool_calls=tuple(ScriptedCall(name=name, arguments={"service": service}) for name, service in calls),
    )


def claim(number: int, kind: str, text: str, *evidence: tuple[str, str], support: str = "direct") -> dict[str, Any]:
    return {
        "claim_id": f"c{number}",
        "claim_type": kind,
        "claim_text": text,
        "support_level": support,
        "evidence": [{"ref": ref, "excerpt": excerpt} for ref, excerpt in evidence],
    }


CAUSE = claim(
    1,
    "root_cause",
    "order-service ran out of connections: HikariPool-1 Connection is not available, connections pending max=42",
    ("E1", "HikariPool-1 Connection is not available, request timed out after 30000ms"),
    ("E2", "order-service hikaricp_connections_pending max=42"),
)
CHANGE = claim(
    2,
    "change",
    "order-service maximum-pool-size changed from 30 to 5",
    ("E3", "order-service config maximum-pool-size changed from 30 to 5"),
)


def draft(*claims: dict[str, Any], **changes: Any) -> Turn:
    reply: dict[str, Any] = {
        "diagnosis_summary": "The pool is exhausted.",
        "claims": list(claims),
        "hypotheses": [],
        "recommended_actions": [{"action_text": "Set maximum-pool-size back", "reason": "undo", "evidence": []}],
        "missing_info": ["No traces were available"],
        "user_facing_answer": "never shown",
    }
    return Turn(role="executor", reply=reply | changes)


def votes(*checks: tuple[str, str], answered: bool = True, critical: bool = True) -> Turn:
    return Turn(
        role="verifier",
        reply={
            "claim_checks": [
                {"claim_id": name, "verification": vote, "is_critical": critical, "detail": "said so"}
                for name, vote in checks
            ],
            "question_answered": answered,
            "rationale": "judged",
        },
    )


GOOD_VOTES = votes(("r1-c1", "direct_evidence"), ("r1-c2", "direct_evidence"))


def composed(lead: str = "HikariPool-1 of order-service has no connection available. [1]", *lines: str) -> Turn:
    confirmed = lines or (
        "HikariPool-1 Connection is not available in order-service [1]",
        "maximum-pool-size changed from 30 to 5 [2]",
    )
    return Turn(
        role="composer",
        reply={
            "used_claim_ids": ["r1-c1", "r1-c2"],
            "sections": {
                "lead": lead,
                "confirmed": list(confirmed),
                "gaps": ["No traces were available"],
                "next_steps": ["Set maximum-pool-size back"],
            },
        },
    )


LOOK_UPS = looks(("query_logs", "order-service"), ("query_metrics", "order-service"), ("query_changes", "order-service"))


def good_run() -> list[Turn]:
    """Six calls of a model that does everything right, and ends in PASS."""
    return [plan(), LOOK_UPS, draft(CAUSE, CHANGE), GOOD_VOTES, composed()]


def scripted(*turns: Turn) -> Scripted:
    return Scripted(turns)
