"""What a run has found so far: one frozen value that every node takes and gives back, stored as versioned JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from agents.contracts import (
    AiopsMode,
    AiopsPlan,
    AiopsReport,
    AiopsRuleEvaluation,
    Alert,
    AnswerSections,
    ComposerOutput,
    DraftBlast,
    ExecutorEvidence,
    GatekeeperResult,
    HistoryTurn,
    Hypothesis,
    ParseStatus,
    PlannerPlan,
    RetryContext,
    Transition,
    Verdict,
    Verification,
    VerifiedClaim,
    VerifiedEvidence,
    VerifierDecision,
)
from tools.contracts import Addition

STATE_VERSION = 1
NOT_YET = ParseStatus(status="missing", detail="the node has not answered yet")

Status = Literal["SUCCESS", "FAILED", "CANCELLED"]


class StateUnreadable(Exception):
    """The stored state is of another version or damaged: this run cannot be resumed."""


@dataclass(frozen=True)
class RunRequest:
    """What somebody, or an alert, asks for. `now` is the run's clock with a zone (a replay sets the past), `zone` an IANA
    name. `mode` and `alerts` are those of an AI_OPS run, whose `question` is a summary of the alert."""

    session_id: str
    question: str
    language: str
    zone: str
    now: datetime
    history: tuple[HistoryTurn, ...] = ()
    agent_flow: Literal["CHAT", "AI_OPS"] = "CHAT"
    deadline_seconds: int = 180
    additions: tuple[Addition, ...] = ()
    mode: AiopsMode | None = None
    alerts: tuple[Alert, ...] = ()


@dataclass(frozen=True)
class Walk:
    """The walker's own share of the state.

    `failures` counts technical failures a node, `broken` holds how its last answer broke the contract, `taken_over` are the nodes that the offline backend serves,
    `ending` says why a run went to its fallback.
    """

    next_node: str
    transitions: tuple[Transition, ...] = ()
    executions: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    broken: dict[str, ParseStatus] = field(default_factory=dict)
    taken_over: tuple[str, ...] = ()
    evidence_retries: int = 0
    ending: str = ""

    @property
    def degraded(self) -> bool:
        return bool(self.taken_over)


@dataclass(frozen=True)
class RunState:
    """A run. `mode` to `report` belong to AI_OPS runs alone. `fence` is the random mark round untrusted text; `passed_evidence`, `demoted_claims`
    and `demoted` (causes that became hypotheses) are the gate's; `verified_…` is what the verifier sees of them. `answer`
    and `sections` are set by the node that ends the run."""

    run_id: str
    session_id: str
    question: str
    language: str
    zone: str
    now: datetime
    deadline_seconds: int
    fence: str
    walk: Walk
    history: tuple[HistoryTurn, ...] = ()
    additions: tuple[Addition, ...] = ()
    round: int = 1
    retry_context: RetryContext | None = None
    plan: PlannerPlan | None = None
    executor_output: ExecutorEvidence | None = None
    executor_parse_status: ParseStatus = NOT_YET
    gatekeeper_result: GatekeeperResult | None = None
    passed_evidence: tuple[VerifiedEvidence, ...] = ()
    demoted_claims: tuple[VerifiedClaim, ...] = ()
    demoted: tuple[Hypothesis, ...] = ()
    verified_claims: tuple[VerifiedClaim, ...] = ()
    verified_evidence: tuple[VerifiedEvidence, ...] = ()
    decision: VerifierDecision | None = None
    composer_output: ComposerOutput | None = None
    composer_parse_status: ParseStatus = NOT_YET
    answer: str = ""
    sections: AnswerSections | None = None
    mode: AiopsMode | None = None
    alerts: tuple[Alert, ...] = ()
    aiops_plan: AiopsPlan | None = None
    blast_radius: tuple[DraftBlast, ...] = ()
    not_checked: tuple[str, ...] = ()
    rule_evaluation: AiopsRuleEvaluation | None = None
    report: AiopsReport | None = None
    version: int = STATE_VERSION

    @property
    def may_retry_evidence(self) -> bool:
        return self.walk.evidence_retries == 0

    @property
    def anything_passed(self) -> bool:
        return bool(self.demoted_claims or (self.gatekeeper_result and self.gatekeeper_result.passed_claim_ids))

    @property
    def verdict(self) -> Verdict:
        """The run's verdict as it stands: a run that ends in its fallback proves nothing."""
        if self.rule_evaluation is not None and not self.walk.ending:
            return self.rule_evaluation.verdict
        if self.walk.ending or self.decision is None:
            return Verdict.REJECT
        if self.walk.degraded and self.decision.verdict is Verdict.PASS:
            return Verdict.LOW_CONFID
        return self.decision.verdict

    @property
    def allowed_claim_ids(self) -> frozenset[str]:
        """Claims that the answer may state. A claim that this round's verifier left out is not allowed; one that no
        verifier has reached yet stands on the gate alone."""
        checks = {check.claim_id: check.verification for check in self.decision.claim_checks} if self.decision else {}
        reached = self.decision is not None and self.decision.round == self.round
        unchecked = Verification.NONE if reached else Verification.DIRECT
        good = (Verification.DIRECT, Verification.INDIRECT)
        return frozenset(c.claim_id for c in self.verified_claims if checks.get(c.claim_id, unchecked) in good)

    def with_walk(self, walk: Walk) -> RunState:
        return replace(self, walk=walk)


def first_state(request: RunRequest, run_id: str, fence: str, start: str) -> RunState:
    return RunState(
        run_id=run_id,
        session_id=request.session_id,
        question=request.question,
        language=request.language,
        zone=request.zone,
        now=request.now,
        deadline_seconds=request.deadline_seconds,
        fence=fence,
        walk=Walk(next_node=start),
        history=request.history,
        additions=request.additions,
        mode=request.mode,
        alerts=request.alerts,
    )


def dump_state(state: RunState) -> str:
    return _adapter().dump_json(state).decode()


def load_state(text: str) -> RunState:
    """Raises StateUnreadable."""
    try:
        version = json.loads(text)["version"]
        if version != STATE_VERSION:
            raise StateUnreadable(f"the run's state has version {version}, this program reads {STATE_VERSION}")
        return _adapter().validate_json(text)
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise StateUnreadable(f"the run's state is damaged: {error}") from error


@cache
def _adapter() -> TypeAdapter[RunState]:
    return TypeAdapter(RunState)
