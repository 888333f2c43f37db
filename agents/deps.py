"""What a node may reach: one value a run attempt, made by bot/jobs.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from agents.contracts import KnowledgeDomain, SkillCard
from agents.events import OnEvent, RunEvent, ignore_event
from agents.ledger import Ledger, RunLimits
from agents.llm import RoleModels
from agents.llm.base import Model, Role, ToolOffer
from agents.prompts import Prompts
from agents.replies import Replies
from agents.trace_summary import Level

if TYPE_CHECKING:
    from storage.engine import Database
    from storage.trace import Lease, TraceStore
    from tools.invoke import ToolDoor


@dataclass(frozen=True)
class RunDeps:
    """`offline` takes over a node whose model fails; None where nothing can. `without_model` is the same backend
    for the fallback, also where the run uses no model at all. `levels` is each tool's evidence level. `names` are words that gaps and next steps
    may use beside the evidence: hosts and sources from the settings. `ignored_alerts` are patterns of names that no patrol looks into."""

    lease: Lease
    store: TraceStore
    db: Database
    door: ToolDoor
    models: RoleModels
    offline: Model | None
    without_model: Model | None
    prompts: Prompts
    replies: Replies
    ledger: Ledger
    clock: Callable[[], datetime]
    sleep: Callable[[float], Awaitable[None]]
    limits: RunLimits = field(default_factory=RunLimits)
    offers: tuple[ToolOffer, ...] = ()
    skills: tuple[SkillCard, ...] = ()
    domains: tuple[KnowledgeDomain, ...] = ()
    levels: Mapping[str, Level] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    ignored_alerts: tuple[str, ...] = ()
    on_event: OnEvent = ignore_event

    def model(self, role: Role, *, taken_over: bool) -> Model:
        if taken_over and self.offline is not None:
            return self.offline
        return self.models.for_role(role)

    def tell(self, event: RunEvent) -> None:
        self.on_event(event)
