"""Whatever models and tools do, a walk ends: with an answer, inside its caps, after at most one evidence retry."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_alert import LOOK_UPS, alert_draft, alert_looks, alert_plan, alert_request
from small_incident import CAUSE, CHANGE, claim, composed, draft, looks, plan, request, specs, votes, world

from agents.contracts import RunOutcome, Verdict
from agents.errors import ModelRefused, ModelUnavailable
from agents.graph import MAX_EXECUTIONS
from agents.ledger import RunLimits
from agents.llm.base import ModelReply, ModelRequest
from agents.llm.scripted import Scripted, Turn
from agents.state import RunRequest
from bot.jobs import ask
from storage.engine import Database
from storage.trace import TraceStore
from tools.contracts import CallContext, ToolDeps, ToolResult, ToolSpec
from tools.errors import ToolFailed
from tools.invoke import ToolLimits

LIMITS = RunLimits(steps=25, tokens=4_000, poll_seconds=30.0)
TOOLS = ToolLimits(max_calls=6)
MISQUOTED = claim(3, "symptom", "a thing", ("E1", "words that no tool returned"))
UNCITED = claim(4, "root_cause", "it just is")
FOREIGN = claim(5, "impact", "a foreign ref", ("E77", "HikariPool-1"))

ANSWERS: dict[str, list[Turn]] = {
    "planner": [plan(), plan(None), plan("no-such-skill")],
    "executor": [
        looks(("query_logs", "order-service"), ("query_metrics", "order-service"), ("query_changes", "order-service")),
        looks(("query_logs", "nobody")),
        looks(("no_such_tool", "x")),
        draft(CAUSE, CHANGE),
        draft(CAUSE, CHANGE, MISQUOTED),
        draft(MISQUOTED, UNCITED, FOREIGN),
        draft(),
    ],
    "verifier": [
        votes(("r1-c1", "direct_evidence"), ("r1-c2", "direct_evidence"), ("r2-c1", "direct_evidence")),
        votes(("r1-c1", "contradicted")),
        votes(("r1-c1", "indirect_support"), answered=False),
        votes(("invented", "direct_evidence")),
    ],
    "aiops_planner": [alert_plan(), alert_plan("connection-pool"), alert_plan("no-such-skill", ("ghost-9",))],
    "aiops_executor": [
        LOOK_UPS,
        alert_looks(("query_logs", "nobody")),
        alert_looks(("no_such_tool", "x")),
        alert_draft(CAUSE, CHANGE),
        alert_draft(CAUSE, CHANGE, MISQUOTED),
        alert_draft(MISQUOTED, UNCITED, FOREIGN, not_checked=["ghost-9"]),
        alert_draft(),
    ],
    "composer": [composed(), composed("Everything is fine on host-99 since 03:00")],
}
# What a model that does its work would do; drawn more often, so that walks get far.
LIKELY: dict[tuple[str, bool], list[Turn]] = {
    ("executor", False): [ANSWERS["executor"][0]] * 12,
    ("executor", True): [ANSWERS["executor"][3]] * 12,
    ("aiops_executor", False): [ANSWERS["aiops_executor"][0]] * 12,
    ("aiops_executor", True): [ANSWERS["aiops_executor"][3]] * 12,
    ("verifier", False): [ANSWERS["verifier"][0]] * 6,
}
JUNK = ["", "prose only", "{", '{"a": 1}', "<think>hm</think>", '```json\n{"claims": "x"}\n```', '{"x": "\\ud800"}']


class Dice:
    """Chance by place, not by order: parallel calls may come in any order, and a seed must give one run."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._thrown: Counter[str] = Counter()

    def pick(self, place: str, options: Sequence[Any]) -> Any:
        self._thrown[place] += 1
        return Random(f"{self._seed} {place} {self._thrown[place]}").choice(options)


class Erratic(Scripted):
    """Gives a good turn, junk, or a failure."""

    def __init__(self, dice: Dice, name: str) -> None:
        super().__init__([])
        self.name = name
        self._dice = dice

    async def complete(self, asked: ModelRequest) -> ModelReply:
        place = f"{self.name} {asked.role}"
        kind = self._dice.pick(place, ["turn"] * 12 + ["junk", "down", "refused"])
        if kind == "down":
            raise ModelUnavailable("down", self._dice.pick(place, [None, 0.0, 5.0, 9_999.0]))
        if kind == "refused":
            raise ModelRefused("refused")
        likely = LIKELY.get((asked.role, bool(asked.exchanges)), [])
        turn = self._dice.pick(place, [*ANSWERS[asked.role], *likely])
        if kind == "junk":
            turn = Turn(role=asked.role, reply=self._dice.pick(place, JUNK))
        return await Scripted([turn]).complete(asked)


def _erratic(spec: ToolSpec, dice: Dice) -> ToolSpec:
    async def sometimes(arguments: Any, deps: ToolDeps, context: CallContext) -> ToolResult:
        outcome = dice.pick(f"{spec.name} {arguments}", ["ok"] * 8 + ["failed", "broken"])
        if outcome == "failed":
            raise ToolFailed("503")
        if outcome == "broken":
            raise RuntimeError("boom")
        return await spec.run(arguments, deps, context)

    return replace(spec, run=sometimes)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), language=st.sampled_from(["zh", "en", "fr"]), with_offline=st.booleans())
def test_every_walk_ends_with_an_answer_inside_its_caps(
    sqlite_database: Database, seed: int, language: str, with_offline: bool
) -> None:
    outcome = _walked(sqlite_database, request(language=language), seed, with_offline)
    assert outcome.orchestration_trace.evidence_retry_count <= 1
    _check_end(outcome, sqlite_database, "COMPOSER")


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), language=st.sampled_from(["zh", "en", "fr"]), with_offline=st.booleans())
def test_every_triage_ends_with_a_report_inside_its_caps(
    sqlite_database: Database, seed: int, language: str, with_offline: bool
) -> None:
    outcome = _walked(sqlite_database, alert_request(language=language), seed, with_offline)
    _check_end(outcome, sqlite_database, "REPORT")
    sources = [step.source for step in outcome.orchestration_trace.transitions if step.target != step.source]
    assert sources.count("AIOPS_EXECUTOR") <= 3
    assert outcome.report is not None
    assert outcome.report.evaluation.verdict is outcome.verdict
    assert "ghost-9" not in outcome.answer
    known = {allowed.claim.claim_id for allowed in outcome.claims}
    assert all(set(entry.claim_ids) <= known for entry in (*outcome.report.affected, *outcome.report.healthy))


def _walked(db: Database, asked: RunRequest, seed: int, with_offline: bool) -> RunOutcome:
    dice = Dice(seed)
    tools = [_erratic(spec, dice) for spec in specs()]
    offline = Erratic(dice, "offline") if with_offline else None
    made = world(db, Erratic(dice, "scripted"), offline=offline, limits=LIMITS, tool_limits=TOOLS, tools=tools)
    return asyncio.run(ask(asked, replace(made.place, new_id=lambda: uuid4().hex)))


def _check_end(outcome: RunOutcome, db: Database, last: str) -> None:
    trace = outcome.orchestration_trace
    assert outcome.answer.strip()
    assert outcome.verdict in Verdict
    assert trace.final_node in (last, "FALLBACK")
    assert len(trace.transitions) <= MAX_EXECUTIONS
    assert outcome.usage.steps <= LIMITS.steps
    assert outcome.usage.tool_calls <= TOOLS.max_calls
    assert outcome.status == ("SUCCESS" if trace.final_node == last else "FAILED")
    assert trace.final_node == last or outcome.verdict is Verdict.REJECT
    assert not (trace.degraded and outcome.verdict is Verdict.PASS)
    assert TraceStore(db).run(outcome.run_id).status == outcome.status
    stated = {binding.claim_id for binding in (outcome.gatekeeper_result.checked_bindings if outcome.gatekeeper_result else ())}
    assert all(allowed.claim.claim_id.split(".")[0] in stated for allowed in outcome.claims)
    assert "words that no tool returned" not in outcome.answer
