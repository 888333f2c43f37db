"""Rules that see a whole claim: its facts (7), that it is one fact (atomicity), and that a cause has enough (9)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts import Claim
from agents.gate.bindings import Found, Refusal
from agents.gate.causes import KNOWLEDGE_TOOL, enough_tools, is_lead, speaks_of_cause, states_own_cause
from agents.gate.facts import Passage, Sources, Statement, missing_facts, scope_durations, scope_zones
from agents.gate.normalise import has_forbidden, normalise
from agents.gate.once import once
from agents.gate.quoting import quoted_ranges
from agents.gate.rules import RULES
from agents.gate.times import blank
from agents.gate.tokens import CJK

MOST_NUMBERS = 2
MOST_CHARACTERS = 200
_LONGEST_CLAIM = 2000
_SENTENCE_END = re.compile(r"[。！？!?;](?=.)|(?<=[a-z0-9)\"'])\.\s+(?=[A-Z\u4e00-\u9fff])")
_SENTENCE = re.compile(rf"[A-Za-z]{{2,}}[^A-Za-z]+[A-Za-z]{{2,}}|[{CJK}]{{3,}}")


@dataclass
class ClaimReading:
    """A claim whose bindings all quote truly: its words against those of its evidence."""

    claim: Claim
    found: Sequence[Found]

    @once
    def text(self) -> str:
        return normalise(self.claim.claim_text).text

    @once
    def quotes(self) -> list[Passage]:
        hints = (
            " ".join(one.record.ref.scope.get(key, "") for key in ("metric", "unit", "query")) for one in self.found
        )
        return [
            Passage(one.record.normal.text, one.span.start, one.span.end, hint)
            for one, hint in zip(self.found, hints, strict=True)
        ]

    @once
    def sources(self) -> Sources:
        scopes = [one.record.ref.scope for one in self.found]
        labels = {one.record.labels.text: one.record.labels for one in self.found}
        return Sources(
            [*self.quotes, *labels.values()],
            tuple(zone for scope in scopes for zone in scope_zones(scope)),
            tuple(length for scope in scopes if scope for length in scope_durations(scope)),
        )

    @once
    def said(self) -> Statement:
        return Statement(self.text, self._ranges[0])

    @property
    def marked(self) -> list[tuple[int, int]]:
        return self._ranges[1]

    @once
    def _ranges(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        return quoted_ranges(self.text, self.quotes)

    @once
    def own_words(self) -> str:
        """The claim with spaces where it quotes."""
        return blank(self.text, [*self._ranges[0], *self._ranges[1]])


def check_words(reading: ClaimReading) -> Refusal | None:
    """The first rule the claim's own words break, causes aside."""
    if not reading.text:
        return Refusal("empty_claim", RULES["empty_claim"])
    if has_forbidden(reading.claim.claim_text):
        return Refusal("forbidden_characters", f"{RULES['forbidden_characters']}: claim {reading.claim.claim_id}")
    if len(reading.text) > _LONGEST_CLAIM:
        return Refusal("atomicity", f"{RULES['atomicity']}: {len(reading.text)} characters")
    missing = next(missing_facts(reading.said, reading.sources), None)
    if missing is not None:
        return Refusal(missing.rule, f"{RULES[missing.rule]}: {missing.literal} ({missing.why})")
    return _atomicity(reading)


def _atomicity(reading: ClaimReading) -> Refusal | None:
    own = reading.own_words
    length = len(" ".join(own.split()))
    numbers = reading.said.amounts_outside(reading.marked)
    sentences = [piece for piece in _SENTENCE_END.split(own) if _SENTENCE.search(piece)]
    if length > MOST_CHARACTERS:
        said = f"{length} characters outside its quotes, at most {MOST_CHARACTERS}"
    elif numbers > MOST_NUMBERS:
        said = f"{numbers} numbers outside its quotes, at most {MOST_NUMBERS}"
    elif len(sentences) > 1:
        said = f"{len(sentences)} sentences, one is allowed"
    else:
        return None
    return Refusal("atomicity", f"{RULES['atomicity']}: {said}")


def check_cause(reading: ClaimReading) -> Refusal | None:
    """Rule 9. A cause stated by the record of its own event suffices; a runbook or a lead never states one."""
    is_cause = reading.claim.claim_type == "root_cause"
    if not is_cause and not speaks_of_cause(reading.own_words):
        return None
    proofs = [
        (one, is_lead(one.binding.tool_name, one.binding.raw_path, one.record.ref.scope)) for one in reading.found
    ]
    if enough_tools([(one.binding.tool_name, lead) for one, lead in proofs]):
        return None
    for one, lead in proofs:
        stated = not lead and one.binding.tool_name != KNOWLEDGE_TOOL
        if stated and states_own_cause(reading.text, one.text, one.record.labels.text):
            return None
    named = ", ".join(sorted({one.binding.tool_name for one in reading.found}))
    return Refusal("cause_needs_more", f"{RULES['cause_needs_more']}: only {named}; it stays a hypothesis")
