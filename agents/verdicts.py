"""How an answer looks by its verdict. A verdict is an entry here; its words are in prompts/replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.answer import marked
from agents.contracts import AiopsReport, AllowedClaim, AnswerSections, BlastEntry, Verdict
from agents.replies import Replies

# A group's entity needs its proof, not all of its proofs.
MARKS = 3


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


def report_lead(carrying: AllowedClaim | None, verdict: Verdict, replies: Replies, language: str) -> str:
    """The verdict's fixed sentence, or under PASS the claim that carries it: a cause, else a proof of health."""
    lead = TEMPLATES[verdict].lead
    if lead is not None or carrying is None:
        return replies.text(language, lead) if lead else ""
    key = "report_lead_cause" if carrying.claim.claim_type == "root_cause" else "report_lead_healthy"
    return replies.text(language, key, claim=marked(carrying))


def rendered_report(
    report: AiopsReport, sections: AnswerSections, allowed: Sequence[AllowedClaim], replies: Replies, language: str
) -> str:
    """A report as plain text: headline, lead, cause, facts, blast radius, changes, gaps, steps, leads. What the lead
    states is not said again."""
    by_id = {claim.claim.claim_id: claim for claim in allowed}
    said = {claim.claim.claim_id for claim in allowed if marked(claim) in sections.lead}
    told = {*said, *report.probable_cause, *report.changes}

    def lines(ids: Iterable[str]) -> list[str]:
        return [marked(by_id[name]) for name in ids if name not in said]

    titled = (
        ("report_cause", lines(report.probable_cause)),
        ("confirmed", lines(name for name in by_id if name not in told)),
        ("report_blast", list(_blast(report, by_id, replies, language))),
        ("report_changes", lines(report.changes)),
        (TEMPLATES[report.evaluation.verdict].gaps, sections.gaps),
        ("next_steps", sections.next_steps),
        ("report_cases", [f"{case.title} ({case.case_id})" for case in report.similar_cases]),
    )
    parts = [_part(replies.text(language, key), shown) for key, shown in titled if shown]
    return "\n\n".join(part for part in (report.headline, sections.lead, *parts) if part)


def _blast(report: AiopsReport, by_id: Mapping[str, AllowedClaim], replies: Replies, language: str) -> Iterator[str]:
    for key, entries in (
        ("report_affected", report.affected),
        ("report_healthy", report.healthy),
        ("report_other_reason", report.other_reason),
    ):
        shown = [f"{entry.entity} {_marks(entry, by_id)}" for entry in entries]
        if shown:
            yield replies.text(language, key, entities=", ".join(shown))
    if report.not_checked:
        yield replies.text(language, "report_not_checked", entities=", ".join(report.not_checked))


def _marks(entry: BlastEntry, by_id: Mapping[str, AllowedClaim]) -> str:
    return "".join(f"[{by_id[name].number}]" for name in entry.claim_ids[:MARKS])
