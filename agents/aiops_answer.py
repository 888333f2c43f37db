"""The words of an alert's report: sections, and the text that a terminal shows."""

from __future__ import annotations

from dataclasses import replace

from agents.aiops_evaluation import carrying_claims
from agents.aiops_report import guarded_steps, report_of
from agents.answer import allowed_claims, broken_checks, hypothesis_steps, joined, marked
from agents.contracts import AiopsReport, AnswerSections
from agents.deps import RunDeps
from agents.state import RunState
from agents.verdicts import rendered_report, report_lead

NOTHING = AnswerSections(lead="", confirmed=(), gaps=(), next_steps=())


def answered(state: RunState, deps: RunDeps, first: AnswerSections = NOTHING) -> RunState:
    """The state with report, sections and answer. `first` is what has to be said before anything else is missing."""
    report, allowed = report_of(state, deps), allowed_claims(state)
    carrying = carrying_claims(state, deps.door.invocations())
    said = AnswerSections(
        lead=report_lead(carrying, state.verdict, deps.replies, state.language),
        confirmed=tuple(marked(claim) for claim in allowed),
        gaps=first.gaps,
        next_steps=first.next_steps,
    )
    sections = joined(said, joined(_of_report(state, deps, report), broken_checks(state, deps.door.invocations(), deps.replies)))
    answer = rendered_report(report, sections, allowed, deps.replies, state.language)
    return replace(state, report=report, sections=sections, answer=answer)


def _of_report(state: RunState, deps: RunDeps, report: AiopsReport) -> AnswerSections:
    """Its gaps and steps, the runbook that the alert names, and what is worth checking."""
    links = dict.fromkeys(alert.links["runbook"] for alert in report.alerts if "runbook" in alert.links)
    runbooks = [deps.replies.text(state.language, "report_runbook", link=link) for link in list(links)[:1]]
    hypotheses = guarded_steps(state, deps, hypothesis_steps(state, deps.replies))
    steps = (*(action.action_text for action in report.actions), *runbooks, *hypotheses)
    return AnswerSections(lead="", confirmed=(), gaps=report.missing_info, next_steps=steps)
