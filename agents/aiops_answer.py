"""The words of an alert's report: sections, and the text that a terminal shows."""

from __future__ import annotations

from dataclasses import replace

from agents.aiops_evaluation import carrying_claim
from agents.aiops_guard import guarded
from agents.aiops_report import report_of
from agents.answer import actions, allowed_claims, broken_checks, hypothesis_steps, joined, marked, missing_info
from agents.contracts import AiopsReport, AnswerSections
from agents.deps import RunDeps
from agents.state import RunState
from agents.verdicts import rendered_report, report_lead

NOTHING = AnswerSections(lead="", confirmed=(), gaps=(), next_steps=())


def answered(state: RunState, deps: RunDeps, first: AnswerSections = NOTHING) -> RunState:
    """The state with report, sections and answer. `first` is what has to be said before anything else is missing.
    What the model wrote beside its claims goes on only as far as the guard lets it."""
    state = guarded(state, deps)
    report, allowed = report_of(state, deps), allowed_claims(state)
    carrying = carrying_claim(state, deps.door.invocations())
    said = AnswerSections(
        lead=report_lead(carrying, state.verdict, deps.replies, state.language),
        confirmed=tuple(marked(claim) for claim in allowed),
        gaps=first.gaps,
        next_steps=first.next_steps,
    )
    sections = joined(joined(said, _open(state, deps, report)), broken_checks(state, deps.door.invocations(), deps.replies))
    answer = rendered_report(report, sections, allowed, deps.replies, state.language)
    return replace(state, report=report, sections=sections, answer=answer)


def _open(state: RunState, deps: RunDeps, report: AiopsReport) -> AnswerSections:
    """What is missing and what to do: the actions, the runbook that the alert names, and what is worth checking."""
    unproven = state.alerts and not report.evaluation.claims_verified
    nothing = (deps.replies.text(state.language, "gap_nothing_proven"),) if unproven else ()
    links = [alert.links["runbook"] for alert in report.alerts if "runbook" in alert.links][:1]
    steps = (
        *(action.action_text for action in actions(state)),
        *(deps.replies.text(state.language, "report_runbook", link=link) for link in links),
        *hypothesis_steps(state, deps.replies),
    )
    return AnswerSections(lead="", confirmed=(), gaps=(*nothing, *missing_info(state)), next_steps=steps)
