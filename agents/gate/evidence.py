"""This run's quotable texts, by key; each is normalised once a gate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.contracts import EvidenceBinding, InvocationEvidence, InvocationId
from agents.gate.facts import Passage
from agents.gate.normalise import Normalised, normalise
from agents.gate.once import once
from agents.gate.spans import Span, find_span
from tools.contracts import EvidenceRef, EvidenceStatus

_CUT_MARK = "truncated"  # scope key of a ref whose text was cut
_MOST_HINT_LOOKS = 200  # refs looked through for the right path of one mis-copied binding


@dataclass
class Record:
    """One ref of one invocation."""

    invocation: InvocationEvidence
    ref: EvidenceRef
    others_are_marked: bool
    scopes: dict[tuple[object, ...], Passage]

    @once
    def normal(self) -> Normalised:
        return normalise(self.ref.text)

    @once
    def sha256(self) -> str:
        return hashlib.sha256(self.ref.text.encode("utf-8", "surrogatepass")).hexdigest()

    @once
    def labels(self) -> Passage:
        """The scope as a passage of `key=value` pairs, so that names, times and numbers are read from it as from any
        text; refs of one scope share what is read."""
        key = (self.invocation.tool_name, *self.ref.scope.items())
        known = self.scopes.get(key)
        if known is None:
            pairs = [f"{name}={value}" for name, value in self.ref.scope.items()]
            text = normalise(", ".join([*pairs, f"tool={self.invocation.tool_name}"])).text
            known = self.scopes.setdefault(key, Passage.whole(text))
        return known

    @once
    def is_cut(self) -> bool:
        """Whether a cap cut this text. Tools mark the refs they cut; where none is marked, any may be."""
        if not self.invocation.truncated or self.ref.scope.get(_CUT_MARK):
            return self.invocation.truncated
        return not self.others_are_marked

    def find(self, excerpt: str) -> Span | str:
        """The span, or the id of the rule that refuses the excerpt."""
        found = find_span(self.normal, self.ref.text, excerpt, cut_off=self.is_cut)
        return found if isinstance(found, Span) else found.rule


@dataclass
class Evidence:
    """The invocations a gate was given, indexed; those of other runs are known by id only."""

    run_id: str
    _own: dict[str, InvocationEvidence] = field(default_factory=dict)
    _foreign: set[str] = field(default_factory=set)
    _records: dict[tuple[str, str], Record] = field(default_factory=dict)
    _scopes: dict[tuple[object, ...], Passage] = field(default_factory=dict)
    _paths: dict[tuple[str, str], list[Record]] = field(default_factory=dict)

    @classmethod
    def of(cls, invocations: Sequence[InvocationEvidence], run_id: str) -> Evidence:
        evidence = cls(run_id)
        for invocation in invocations:
            if invocation.run_id == run_id:
                evidence._add(invocation)
            else:
                evidence._foreign.add(str(invocation.id))
        return evidence

    def _add(self, invocation: InvocationEvidence) -> None:
        key = str(invocation.id)
        if key in self._own:
            return
        self._own[key] = invocation
        marked = invocation.truncated and any(_CUT_MARK in ref.scope for ref in invocation.evidence_refs)
        for ref in invocation.evidence_refs:
            record = Record(invocation, ref, marked, self._scopes)
            if self._records.setdefault((key, ref.raw_path), record) is record:
                self._paths.setdefault((invocation.tool_name, ref.raw_path), []).append(record)

    def invocation(self, invocation_id: InvocationId) -> InvocationEvidence | None:
        return self._own.get(str(invocation_id))

    def is_foreign(self, invocation_id: InvocationId) -> bool:
        return str(invocation_id) in self._foreign

    def record(self, binding: EvidenceBinding) -> Record | None:
        return self._records.get((str(binding.source_invocation_id), binding.raw_path))

    def right_path(self, binding: EvidenceBinding) -> str | None:
        """Where in the same invocation the excerpt does stand: a hint for the retry, never a rebind."""
        invocation = self._own[str(binding.source_invocation_id)]
        for ref in invocation.evidence_refs[:_MOST_HINT_LOOKS]:
            record = self._records[(str(invocation.id), ref.raw_path)]
            if ref.raw_path != binding.raw_path and isinstance(record.find(binding.evidence_excerpt), Span):
                return ref.raw_path
        return None

    def earlier(self, binding: EvidenceBinding) -> Record | None:
        """The record of an earlier call of the same tool that a deduped call repeats."""
        for record in self._supported(binding.tool_name, binding.raw_path):
            if isinstance(record.find(binding.evidence_excerpt), Span):
                return record
        return None

    def _supported(self, tool_name: str, raw_path: str) -> Iterator[Record]:
        for record in self._paths.get((tool_name, raw_path), [])[:_MOST_HINT_LOOKS]:
            if record.invocation.evidence_status in (EvidenceStatus.SUPPORTED, EvidenceStatus.NO_EVIDENCE):
                yield record
