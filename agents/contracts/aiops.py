"""The values of an alert's run that cross a node: the alert as read, the plan, the draft, the report."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agents.contracts.chat import (
    DraftAction,
    DraftClaim,
    Hypothesis,
    KnowledgeDomain,
    RecommendedAction,
    RetryContext,
    SkillCard,
    ToolPermissions,
    Verdict,
)
from tools.contracts import Contract

AlertStatus = Literal["firing", "resolved", "acknowledged", "no_data"]
Severity = Literal["critical", "high", "warning", "info"]
AiopsMode = Literal["PAYLOAD_TARGETED", "AUTO_DISCOVERY"]
BlastGroup = Literal["affected", "healthy", "other_reason"]

# ---------------------------------------------------------------- the alert


class Alert(Contract):
    """One alert as its post says it. What the post does not say is null or empty, never guessed.

    `severity_raw` is as written. `starts_at` and `ends_at`: with a zone in the post they are UTC with Z, without one they
    carry no suffix. `links` by kind: dashboard, runbook, source, silence, further ones under the post's own name for
    them. `group` names what the post groups by. `fingerprint` is of sender, name and stable labels. `raw` is the
    part of the post that it was read from. `enriched` names the labels, and `starts_at`, where they came from
    Prometheus or Alertmanager.
    """

    sender: str
    alert_name: str | None
    status: AlertStatus
    severity: Severity | None = None
    severity_raw: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    value: str | None = None
    starts_at: str | None = None
    ends_at: str | None = None
    links: dict[str, str] = Field(default_factory=dict)
    group: str | None = None
    fingerprint: str
    raw: str = ""
    enriched: tuple[str, ...] = ()


# ---------------------------------------------------------------- planner and executor


class AiopsPlannerInput(Contract):
    """`alerts` are the incident's, the one to stay on first; none in AUTO_DISCOVERY before the first look-up."""

    mode: AiopsMode
    alerts: tuple[Alert, ...]
    round: int
    available_knowledge_domains: tuple[KnowledgeDomain, ...] = ()
    skill_catalog: tuple[SkillCard, ...] = ()
    retry_context: RetryContext | None = None


class AiopsPlan(Contract):
    """`entities` are the services, hosts or pods whose state is to be checked for the blast radius."""

    selected_skill: str | None
    selection_reason: str
    plan: tuple[str, ...]
    entities: tuple[str, ...]
    reasoning: str


class AiopsExecutorInput(Contract):
    mode: AiopsMode
    alerts: tuple[Alert, ...]
    planner_plan: AiopsPlan
    available_knowledge_domains: tuple[KnowledgeDomain, ...] = ()
    retry_context: RetryContext | None = None
    tool_permissions: ToolPermissions


class DraftBlast(Contract):
    """An entity's group as the model sees it, with the claims that say so. Code moves it to not_checked where none of
    them holds."""

    entity: str
    group: BlastGroup
    claim_ids: tuple[str, ...]


class AiopsDraft(Contract):
    """The aiops_executor's answer as the model writes it. Claims, hypotheses and actions as in ExecutorDraft."""

    diagnosis_summary: str
    claims: tuple[DraftClaim, ...]
    blast_radius: tuple[DraftBlast, ...]
    not_checked: tuple[str, ...]
    hypotheses: tuple[Hypothesis, ...]
    recommended_actions: tuple[DraftAction, ...]
    missing_info: tuple[str, ...]


# ---------------------------------------------------------------- evaluation and report


class AiopsRuleEvaluation(Contract):
    """Five yes-or-no checks, by code; `score` is the share that is met, `verdict` follows from them (DESIGN 7)."""

    focused: bool
    tools_answered: bool
    claims_verified: bool
    cause_verified: bool
    actions_present: bool
    score: float
    verdict: Verdict
    reasons: tuple[str, ...]


class BlastEntry(Contract):
    """`claim_ids`: verified claims whose quoted words or scope name the entity."""

    entity: str
    claim_ids: tuple[str, ...] = Field(min_length=1)


class SimilarCase(Contract):
    """A lead from the case library or a past incident, never evidence."""

    case_id: str
    title: str
    detail: str = ""


class AiopsReport(Contract):
    """What an incident's thread shows. `headline` is by code from the alert and is attributed to its sender: it is no claim.
    Claim ids point at the outcome's claims."""

    headline: str
    mode: AiopsMode
    alerts: tuple[Alert, ...]
    probable_cause: tuple[str, ...]
    affected: tuple[BlastEntry, ...]
    healthy: tuple[BlastEntry, ...]
    other_reason: tuple[BlastEntry, ...]
    not_checked: tuple[str, ...]
    changes: tuple[str, ...]
    actions: tuple[RecommendedAction, ...]
    similar_cases: tuple[SimilarCase, ...]
    missing_info: tuple[str, ...]
    evaluation: AiopsRuleEvaluation
