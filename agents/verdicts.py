"""How an answer looks by its verdict. A verdict is an entry here; its words are in prompts/replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.answer import marked
from agents.contracts import AiopsReport, AllowedClaim, AnswerSections, Verdict
from agents.replies import Replies


@dataclass(frozen=True)
class Template:
    """Keys of prompts/replies. `lead` None: the composer's own conclusion leads, and empty parts are left out."""

    lead: str | None
    gaps: str


TEMPLATES: dict[Verdict, Template] = {
    Verdict.PASS: Template(lead=None, gaps="gaps_low_confid"),
    Verdict.LOW_CONFID: Template(lead="low_confid_lead", gaps="gaps_low_confid"),
    Verdict.REJECT: Template(lead="reject_lead", gaps="gaps_reject"),
}


def with_lead(sections: AnswerSections, verdict: Verdict, replies: Replies, language: str) -> AnswerSections:
    """The sections under the verdict's fixed lead sentence, where it has one."""
    lead = TEMPLATES[verdict].lead
    return sections if lead is None else sections.model_copy(update={"lead": replies.text(language, lead)})


def rendered(sections: AnswerSections, verdict: Verdict, replies: Replies, language: str) -> str:
    template = TEMPLATES[verdict]
    parts = [sections.lead]
    for heading, lines, nothing in (
        ("confirmed", sections.confirmed, "none_confirmed"),
        (template.gaps, sections.gaps, "no_gaps"),
        ("next_steps", sections.next_steps, "no_next_steps"),
    ):
        if lines or template.lead is not None:
            shown = lines or (replies.text(language, nothing),)
            parts.append(_part(replies.text(language, heading), shown))
    return "\n\n".join(part for part in parts if part)


def _part(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *(f"- {line}" for line in lines)])


# ---------------------------------------------------------------- reports


def report_lead(carrying: Sequence[AllowedClaim], verdict: Verdict, replies: Replies, language: str) -> str:
    """The verdict's fixed sentence, or under PASS the claim that carries it: a cause, else a proof of health."""
    lead = TEMPLATES[verdict].lead
    if lead is not None or not carrying:
        return replies.text(language, lead) if lead else ""
    first = min(carrying, key=lambda claim: claim.claim.claim_type != "root_cause")
    key = "report_lead_cause" if first.claim.claim_type == "root_cause" else "report_lead_healthy"
    return replies.text(language, key, claim=marked(first))


def rendered_report(
    report: AiopsReport, sections: AnswerSections, allowed: Sequence[AllowedClaim], replies: Replies, language: str
) -> str:
    """A report as plain text: headline, lead, cause, facts, blast radius, changes, gaps, steps, leads."""
    gaps = TEMPLATES[report.evaluation.verdict].gaps
    by_id = {claim.claim.claim_id: claim for claim in allowed}
    told = set(report.probable_cause) | set(report.changes)
    rest = [marked(claim) for claim in allowed if claim.claim.claim_id not in told]
    parts = [
        report.headline,
        sections.lead,
        *_titled(replies.text(language, "report_cause"), [marked(by_id[name]) for name in report.probable_cause]),
        *_titled(replies.text(language, "confirmed"), rest),
        *_titled(replies.text(language, "report_blast"), list(_blast(report, by_id, replies, language))),
        *_titled(replies.text(language, "report_changes"), [marked(by_id[name]) for name in report.changes]),
        *_titled(replies.text(language, gaps), sections.gaps),
        *_titled(replies.text(language, "next_steps"), sections.next_steps),
        *_titled(replies.text(language, "report_cases"), [f"{case.title} ({case.case_id})" for case in report.similar_cases]),
    ]
    return "\n\n".join(part for part in parts if part)


def _titled(heading: str, lines: Sequence[str]) -> list[str]:
    return [_part(heading, lines)] if lines else []


def _blast(report: AiopsReport, by_id: Mapping[str, AllowedClaim], replies: Replies, language: str) -> Iterator[str]:
    for key, entries in (
        ("report_affected", report.affected),
        ("report_healthy", report.healthy),
        ("report_other_reason", report.other_reason),
    ):
        shown = [f"{entry.entity} {''.join(f'[{by_id[name].number}]' for name in entry.claim_ids)}" for entry in entries]
        if shown:
            yield replies.text(language, key, entities=", ".join(shown))
    if report.not_checked:
        yield replies.text(language, "report_not_checked", entities=", ".join(report.not_checked))
