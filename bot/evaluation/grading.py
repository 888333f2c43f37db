"""Grades a finished run against what its scenario expects, without a judge model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from agents.contracts import RunOutcome
from bot.evaluation.scenarios import BrokenScenario, Expect, Scenario


class Grade(BaseModel):
    """One scenario's result. `met` and `missed` name each expectation; `verified_quotes` and `invocations` count."""

    model_config = ConfigDict(frozen=True)

    id: str
    verdict: str
    met: tuple[str, ...]
    missed: tuple[str, ...]
    false_mentions: tuple[str, ...]
    verified_quotes: int
    invocations: int
    degraded: bool
    duration_ms: int
    tokens: int


class Failure(BaseModel):
    """A scenario that gave no grade: a broken folder, an input of a later issue, a run that could not be started."""

    model_config = ConfigDict(frozen=True)

    id: str
    reason: str


class Summary(BaseModel):
    """`must_mention_share` and `verdict_share` are None where nothing was expected."""

    model_config = ConfigDict(frozen=True)

    summary: bool = True
    scenarios: int
    verdicts: dict[str, int]
    with_verified_quote: int
    degraded: int
    verdict_share: float | None
    must_mention_share: float | None
    false_mentions: int
    all_met: int
    tokens: int
    duration_ms: int
    skipped: tuple[Failure, ...]
    broken: tuple[Failure, ...]


@dataclass(frozen=True)
class _Check:
    name: str
    holds: bool


def grade(scenario: Scenario, outcome: RunOutcome, tools_called: list[str]) -> Grade:
    """`tools_called` are the run's invocations by name, one entry a call."""
    expect = scenario.file.expect
    checks = list(_checks(expect, outcome, tools_called))
    answer = outcome.answer.casefold()
    return Grade(
        id=scenario.file.id,
        verdict=outcome.verdict.value,
        met=tuple(check.name for check in checks if check.holds),
        missed=tuple(check.name for check in checks if not check.holds),
        false_mentions=tuple(word for word in expect.must_not_mention if word.casefold() in answer),
        verified_quotes=len(_quotes(outcome)),
        invocations=len(tools_called),
        degraded=outcome.orchestration_trace.degraded,
        duration_ms=outcome.duration_ms,
        tokens=outcome.usage.prompt_tokens + outcome.usage.completion_tokens,
    )


def summarise(grades: list[Grade], skipped: list[Failure], broken: list[BrokenScenario]) -> Summary:
    return Summary(
        scenarios=len(grades),
        verdicts={name: sum(grade.verdict == name for grade in grades) for name in ("PASS", "LOW_CONFID", "REJECT")},
        with_verified_quote=sum(grade.verified_quotes > 0 for grade in grades),
        degraded=sum(grade.degraded for grade in grades),
        verdict_share=_share(grades, "verdict_in"),
        must_mention_share=_share(grades, "must_mention"),
        false_mentions=sum(len(grade.false_mentions) for grade in grades),
        all_met=sum(not grade.missed and not grade.false_mentions for grade in grades),
        tokens=sum(grade.tokens for grade in grades),
        duration_ms=sum(grade.duration_ms for grade in grades),
        skipped=tuple(skipped),
        broken=tuple(Failure(id=one.name, reason=one.reason) for one in broken),
    )


def _checks(expect: Expect, outcome: RunOutcome, tools_called: list[str]) -> Iterator[_Check]:
    answer, quotes = outcome.answer, _quotes(outcome)
    if expect.verdict_in:
        yield _Check(f"verdict_in: {' | '.join(expect.verdict_in)}", outcome.verdict.value in expect.verdict_in)
    for words in expect.must_mention:
        yield _Check(f"must_mention: {' | '.join(words)}", any(_within(word, [answer]) for word in words))
    for words_quoted in expect.must_quote:
        yield _Check(f"must_quote: {words_quoted}", _within(words_quoted, quotes))
    if expect.root_cause_service:
        holds = _within(expect.root_cause_service, _causes(outcome))
        yield _Check(f"root_cause_service: {expect.root_cause_service}", holds)
    for tool in expect.tools_called:
        yield _Check(f"tools_called: {tool}", tool in tools_called)
    if expect.max_tool_calls is not None:
        yield _Check(f"max_tool_calls: {expect.max_tool_calls}", len(tools_called) <= expect.max_tool_calls)


def _within(word: str, texts: Iterable[str]) -> bool:
    return any(word.casefold() in text.casefold() for text in texts)


def _quotes(outcome: RunOutcome) -> list[str]:
    return [evidence.span_text for allowed in outcome.claims for evidence in allowed.evidence]


def _causes(outcome: RunOutcome) -> list[str]:
    """The words of verified causes, and the services that their evidence is about."""
    causes = [allowed for allowed in outcome.claims if allowed.claim.claim_type == "root_cause"]
    services = [evidence.scope.get("service", "") for allowed in causes for evidence in allowed.evidence]
    return [allowed.claim.claim_text for allowed in causes] + services


def _share(grades: list[Grade], kind: str) -> float | None:
    met = sum(name.startswith(f"{kind}: ") for grade in grades for name in grade.met)
    missed = sum(name.startswith(f"{kind}: ") for grade in grades for name in grade.missed)
    return round(met / (met + missed), 4) if met + missed else None
