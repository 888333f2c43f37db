"""The composer's guard: what an answer says beyond its allowed claims is cut, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts import AllowedClaim, AnswerSections
from agents.gate.causes import speaks_of_cause
from agents.gate.facts import Passage, Sources, Statement, missing_facts, scope_durations, scope_zones
from agents.gate.identifiers import claimed_names, occurs
from agents.gate.normalise import has_forbidden, normalise
from agents.gate.once import once
from agents.gate.quoting import marked_quotes, stands_in
from agents.gate.times import Stamp, blank, stamps, states
from agents.guard_sentences import sentences

MOST_CUT = 1 / 3

_MARK = re.compile(r"\[(\d+(?:\s*[,、-]\s*\d+)*)\]|【(\d+)】")
_ORDINAL = re.compile(r"^\s*(?:\(?\d{1,2}[.)、](?=\s|[^\d\s])|[-*•]\s|#+\s)")
_UNSURE = re.compile(
    r"\b(?:not|no|unknown|unclear|could not|cannot|unproven|unconfirmed|may|might|possibly|hypothes[ie]s)\b|未|无法|不明|尚|没有|可能|疑似|假设",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class GuardVocabulary:
    """Names that gaps and next steps may use beside the claims': those of the question, tools, settings, runbooks."""

    question: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cut:
    """A sentence that went, and why, in words a person reads."""

    section: str
    sentence: str
    reason: str


@dataclass(frozen=True)
class GuardResult:
    """`must_rebuild`: the lead sentence or over a third of all sentences went, so the answer is written from the claims."""

    sections: AnswerSections
    must_rebuild: bool
    cut: tuple[Cut, ...] = ()


def guard_sections(
    sections: AnswerSections, allowed: Sequence[AllowedClaim], vocabulary: GuardVocabulary
) -> GuardResult:
    """The sections without the sentences that hold a number, name, path, host, time or quoted string which no allowed
    claim, its spans or its scope bears."""
    ground = _Ground(allowed, vocabulary)
    lead = _guarded("lead", sections.lead, ground)
    lists = {
        name: [_guarded(name, line, ground) for line in getattr(sections, name)]
        for name in ("confirmed", "gaps", "next_steps")
    }
    every = [lead, *(line for lines in lists.values() for line in lines)]
    cut = tuple(one for line in every for one in line.cut)
    kept = AnswerSections(
        lead=lead.text, **{name: tuple(line.text for line in lines if line.text) for name, lines in lists.items()}
    )
    total = sum(line.sentences for line in every)
    return GuardResult(kept, lead.lost_first or len(cut) > total * MOST_CUT, cut)


@dataclass(frozen=True)
class _Line:
    text: str
    sentences: int
    cut: tuple[Cut, ...]
    lost_first: bool


def _guarded(section: str, text: str, ground: _Ground) -> _Line:
    pieces = [piece for piece in sentences(text) if piece.strip()]
    reasons = [ground.objection(piece, section) for piece in pieces]
    kept = "".join(piece for piece, reason in zip(pieces, reasons, strict=True) if reason is None)
    cut = tuple(
        Cut(section, piece.strip(), reason) for piece, reason in zip(pieces, reasons, strict=True) if reason is not None
    )
    return _Line(kept.strip(), len(pieces), cut, bool(reasons) and reasons[0] is not None)


@dataclass
class _Ground:
    """What sentences may stand on."""

    allowed: Sequence[AllowedClaim]
    vocabulary: GuardVocabulary

    @once
    def sources(self) -> Sources:
        proofs = [proof for one in self.allowed for proof in one.evidence]
        texts = [one.claim.claim_text for one in self.allowed]
        texts += [proof.span_text for proof in proofs]
        texts += [", ".join(f"{key}={value}" for key, value in proof.scope.items()) for proof in proofs]
        return Sources(
            [Passage.whole(normalise(text).text) for text in dict.fromkeys(texts)],
            tuple(zone for proof in proofs for zone in scope_zones(proof.scope)),
            tuple(length for proof in proofs for length in scope_durations(proof.scope)),
        )

    @once
    def words(self) -> list[Passage]:
        """The vocabulary's texts; no name may be pieced together from two of them."""
        return [
            Passage.whole(normalise(text).text) for text in (self.vocabulary.question, *self.vocabulary.names) if text
        ]

    @once
    def asked_times(self) -> tuple[Stamp, ...]:
        return stamps(normalise(self.vocabulary.question).text)

    @once
    def states_cause(self) -> bool:
        return any(
            one.claim.claim_type == "root_cause" or speaks_of_cause(one.claim.claim_text) for one in self.allowed
        )

    def objection(self, sentence: str, section: str) -> str | None:
        """Why the sentence may not stand, or None. Facts are held to claims alone; gaps and next steps may also name
        what was asked about and what could be looked at."""
        if has_forbidden(sentence):
            return "it holds characters that hide or reorder words"
        text = normalise(sentence).text
        if (mark := self._unknown_mark(text)) is not None:
            return f"[{mark}] is no claim"
        text = _set_aside(text)
        wide = section in ("gaps", "next_steps")
        return (
            self._unproven_quote(text, wide=wide)
            or self._unproven_fact(text, wide=wide)
            or self._overreach(text, wide=wide)
        )

    def _unknown_mark(self, text: str) -> str | None:
        numbers = {str(one.number) for one in self.allowed}
        cited = [number for match in _MARK.finditer(text) for number in re.findall(r"\d+", match[0])]
        return next((number for number in cited if number not in numbers), None)

    def _unproven_quote(self, text: str, *, wide: bool) -> str | None:
        passages = [*self.sources.passages, *(self.words if wide else [])]
        for _, _, words in marked_quotes(text):
            if not any(stands_in(words, passage) for passage in passages):
                return f'"{words}" is no quote of the evidence'
        return None

    def _unproven_fact(self, text: str, *, wide: bool) -> str | None:
        for missing in missing_facts(Statement(text), self.sources):
            if not (wide and self._is_known(missing.rule, text[missing.start : missing.end], text)):
                return f"{missing.literal} is in no allowed claim ({missing.why})"
        return None

    def _is_known(self, rule: str, literal: str, text: str) -> bool:
        if rule == "time_not_in_evidence":
            return all(states(stamp, self.asked_times) for stamp in stamps(literal)) and bool(stamps(literal))
        if rule != "name_not_in_evidence":
            return False
        names = [name for name in claimed_names(text) if name.text == literal]
        return any(occurs(name, one.text, one.low, one.high) for name in names for one in self.words)

    def _overreach(self, text: str, *, wide: bool) -> str | None:
        """Rule 9 holds for the composer too: no cause where no allowed claim states one."""
        if wide or self.states_cause or _UNSURE.search(text):
            return None
        own = blank(text, [(start, end) for start, end, _ in marked_quotes(text)])
        return "it states a cause that no allowed claim states" if speaks_of_cause(own) else None


def _set_aside(text: str) -> str:
    """The sentence with spaces for list ordinals and marks."""
    text = _ORDINAL.sub(lambda match: " " * len(match[0]), text)
    return _MARK.sub(lambda match: " " * len(match[0]), text)
