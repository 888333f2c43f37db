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
from small_incident import CAUSE, CHANGE, claim, composed, draft, looks, plan, request, specs, votes, world

from agents.contracts import Verdict
from agents.errors import ModelRefused, ModelUnavailable
from agents.graph import MAX_EXECUTIONS
from agents.ledger import RunLimits
from agents.llm.base import ModelReply, ModelRequest
from agents.llm.scripted import Scripted, Turn
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
    "composer": [composed(), composed("Everything is fine on host-99 since 03:00")],
}
# What a model that does its work would do; drawn more often, so that walks get far.
LIKELY: dict[tuple[str, bool], list[Turn]] = {
    ("executor", False): [ANSWERS["executor"][0]] * 12,
    ("executor", True): [ANSWERS["executor"][3]] * 12,
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
    dice = Dice(seed)
    tools = [_erratic(spec, dice) for spec in specs()]
    offline = Erratic(dice, "offline") if with_offline else None
    model = Erratic(dice, "scripted")
    made = world(sqlite_database, model, offline=offline, limits=LIMITS, tool_limits=TOOLS, tools=tools)
    place = replace(made.place, new_id=lambda: uuid4().hex)
    outcome = asyncio.run(ask(request(language=language), place))
    trace = outcome.orchestration_trace
    assert outcome.answer.strip()
    assert outcome.verdict in Verdict
    assert trace.evidence_retry_count <= 1
    assert trace.final_node in ("COMPOSER", "FALLBACK")
    assert len(trace.transitions) <= MAX_EXECUTIONS
    assert outcome.usage.steps <= LIMITS.steps
    assert outcome.usage.tool_calls <= TOOLS.max_calls
    assert outcome.status == ("SUCCESS" if trace.final_node == "COMPOSER" else "FAILED")
    assert trace.final_node == "COMPOSER" or outcome.verdict is Verdict.REJECT
    assert not (trace.degraded and outcome.verdict is Verdict.PASS)
    assert TraceStore(sqlite_database).run(outcome.run_id).status == outcome.status
    stated = {binding.claim_id for binding in (outcome.gatekeeper_result.checked_bindings if outcome.gatekeeper_result else ())}
    assert all(allowed.claim.claim_id.split(".")[0] in stated for allowed in outcome.claims)
    assert "words that no tool returned" not in outcome.answer
