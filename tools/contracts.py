"""What a tool is, what it answers, and what it may reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field

from storage.audience import PUBLIC, Audience

if TYPE_CHECKING:
    from tools.business import BusinessQueries
    from tools.changes import ChangeSource
    from tools.clients.alertmanager import AlertmanagerClient
    from tools.clients.log_files import LogFiles
    from tools.clients.prometheus import PrometheusClient
    from tools.posted_changes import PostedChanges
    from tools.retrieval import Retriever
    from tools.skills import SkillRegistry


class Contract(BaseModel):
    """A value that crosses a border: unknown fields are an error, not noise."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EvidenceStatus(StrEnum):
    SUPPORTED = "supported"
    NO_EVIDENCE = "no_evidence"
    DEDUPED = "deduped"
    FAILED = "failed"


class EvidenceRef(Contract):
    """The smallest quotable piece of a tool's answer.

    `raw_path` is a JSONPath into the payload. `scope` (labels, source, window) is written by code and may
    support names and times of a claim, never its quote.
    """

    raw_path: str
    text: str
    scope: dict[str, str] = Field(default_factory=dict)


NO_EVIDENCE_PATH = "$.no_evidence"


class ToolResult(Contract):
    """One answer. `retrieval_details` holds retrieval_layer, l0_match_count, l1_match_count, relevance_level,
    retrieved_domains, dedup_reason, source_documents and whatever else the trace should keep."""

    payload: dict[str, Any]
    evidence_status: EvidenceStatus
    evidence_refs: tuple[EvidenceRef, ...] = ()
    retrieval_details: dict[str, Any] = Field(default_factory=dict)
    truncated: bool = False


def nothing_found(sentence: str, *, scope: dict[str, str], **details: Any) -> ToolResult:
    """"No match" as a result: `sentence` names the query and the window, and is quotable for gap claims alone."""
    return ToolResult(
        payload={"no_evidence": sentence},
        evidence_status=EvidenceStatus.NO_EVIDENCE,
        evidence_refs=(EvidenceRef(raw_path=NO_EVIDENCE_PATH, text=sentence, scope=scope),),
        retrieval_details=dict(details),
    )


@dataclass(frozen=True)
class CallContext:
    """What one call knows about its run. `now` is the run's clock (a replay sets it), `zone` the asker's, `audience`
    where the answer goes: nothing may be looked up that it could not read."""

    run_id: str
    now: datetime
    zone: ZoneInfo
    selected_skill: str | None = None
    audience: Audience = PUBLIC


class Addition(Contract):
    """What a person added to a run by hand, a few words or a log. `by` is the person's name; `name` that of a file."""

    text: str
    by: str
    at: datetime
    name: str = ""


@dataclass(frozen=True)
class ToolDeps:
    """The outside systems a tool may reach; None where the operator configured none. `additions` and
    `posted_changes` are this run's alone."""

    skills: SkillRegistry
    logs: LogFiles | None = None
    prometheus: PrometheusClient | None = None
    alertmanager: AlertmanagerClient | None = None
    retriever: Retriever | None = None
    business: BusinessQueries | None = None
    changes: ChangeSource | None = None
    posted_changes: PostedChanges | None = None
    additions: tuple[Addition, ...] = ()


ToolRun = Callable[[Any, ToolDeps, CallContext], Awaitable[ToolResult]]


def _always(_: ToolDeps) -> str | None:
    return None


@dataclass(frozen=True)
class ToolSpec:
    """A read-only tool. `run` takes a validated `input_model`; `unavailable` says why it cannot serve, or None.

    `evidence_level` "none" marks tools whose answers are never evidence (date_time, read_skill).
    `origin` "external" marks tools of other servers (a recorded scenario, MCP).
    `compiled` says what a call really asks for (query and window, defaults filled in): two calls with the same text are
    duplicates. Without it, the validated arguments are compared. `told` adds to the description what the operator
    configured (the named queries, say); `ToolRegistry.offered` applies it.
    """

    name: str
    description: str
    input_model: type[BaseModel]
    run: ToolRun
    evidence_level: Literal["direct", "indirect", "none"]
    timeout_seconds: float = 20.0
    origin: Literal["builtin", "external"] = "builtin"
    unavailable: Callable[[ToolDeps], str | None] = _always
    compiled: Callable[[Any, CallContext], str] | None = None
    told: Callable[[ToolDeps], str] | None = None

    @property
    def gives_evidence(self) -> bool:
        return self.evidence_level != "none"
