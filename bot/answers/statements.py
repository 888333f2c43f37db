"""What an answer states, in the order in which a reader wants it, each statement with the claims it rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.contracts import AllowedClaim, RunOutcome

_MARK = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class Statement:
    """`text` None: the conclusion above has just said it."""

    text: str | None
    claims: tuple[AllowedClaim, ...]


def statements(outcome: RunOutcome) -> list[Statement]:
    """Those of the conclusion first, then line by line, then claims that no line mentions."""
    claims = {allowed.number: allowed for allowed in outcome.claims}
    lead = outcome.sections.lead
    stated: list[Statement] = []
    for number in marks(lead):
        if number in claims:
            stated.append(_of(claims.pop(number), lead))
    for text in outcome.sections.confirmed:
        numbers = [number for number in marks(text) if number in claims]
        if numbers or not marks(text):
            shown = None if text == lead else text
            stated.append(Statement(shown, tuple(claims.pop(number) for number in numbers)))
    return [*stated, *(_of(allowed, lead) for allowed in claims.values())]


def marks(text: str) -> list[int]:
    return list(dict.fromkeys(int(mark) for mark in _MARK.findall(text)))


def _of(allowed: AllowedClaim, lead: str) -> Statement:
    text = f"{allowed.claim.claim_text} [{allowed.number}]"
    return Statement(None if text == lead else text, (allowed,))
