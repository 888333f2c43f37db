"""How an answer looks by its verdict. A verdict is an entry here; its words are in prompts/replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts import AnswerSections, Verdict
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
