"""aiops_rule_evaluation: five yes-or-no checks on what was proven, and the verdict that follows from them. No model votes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from agents.alert_subject import Subject, evidence_text, main_entity, names, scope_entities
from agents.answer import actions, allowed_claims
from agents.contracts import AiopsRuleEvaluation, AllowedClaim, Verdict
from agents.gate.overlap import content_share
from agents.gate.quoting import marked_quotes
from agents.gate.times import blank
from agents.state import RunState
from agents.verification import LEAST_SHARE, round_share
from tools.contracts import EvidenceStatus
from tools.invocation import Invocation

NO_EVIDENCE_TOOLS = frozenset({"date_time", "read_skill"})
LEAST_FOCUS = 0.5
_OVER = re.compile(
    r"\b(?:(?:is|are) over|recover\w*|resolved|cleared|ended|no longer|transient|subsided|back to normal)\b"
    r"|恢复|结束|解除|消失|已过去|不再|恢復|回落",
    re.IGNORECASE,
)


def evaluated(state: RunState, invocations: Sequence[Invocation]) -> AiopsRuleEvaluation:
    """PASS needs focus, a verified claim about the alert itself and a verified cause or verified health; REJECT where
    nothing about the alert verified; else LOW_CONFID. A run that was cut short is a REJECT, a degraded one no PASS."""
    checks = _Checks(state, invocations)
    met = {
        "focused": checks.focused,
        "tools_answered": checks.tools_answered,
        "claims_verified": bool(checks.own),
        "cause_verified": bool(checks.carrying),
        "actions_present": bool(actions(state)),
    }
    return AiopsRuleEvaluation(
        **met,
        score=round_share(sum(met.values()), len(met)),
        verdict=_verdict(state, met["focused"], met["claims_verified"], met["cause_verified"]),
        reasons=tuple(checks.reasons()),
    )


def carrying_claim(state: RunState, invocations: Sequence[Invocation]) -> AllowedClaim | None:
    """The cause that a PASS would rest on, else the proof of health."""
    found = _Checks(state, invocations).carrying
    return min(found, key=lambda claim: claim.claim.claim_type != "root_cause", default=None)


def _verdict(state: RunState, focused: bool, claims_verified: bool, cause_verified: bool) -> Verdict:
    if state.walk.ending or not claims_verified:
        return Verdict.REJECT
    proven = focused and cause_verified and not state.walk.degraded
    return Verdict.PASS if proven else Verdict.LOW_CONFID


class _Checks:
    """What each check looks at. A patrol that found no alert has no subject: there every claim is about it."""

    def __init__(self, state: RunState, invocations: Sequence[Invocation]) -> None:
        self._state = state
        self._invocations = [call for call in invocations if call.tool_name not in NO_EVIDENCE_TOOLS]
        self._claims = allowed_claims(state)
        self._subject = Subject.of(state.alerts)
        self.own = [claim for claim in self._claims if self._is_own(claim)]
        self._near = self._connected()
        self.carrying = [claim for claim in self._claims if self._carries(claim)]

    @property
    def tools_answered(self) -> bool:
        return any(call.evidence_status is EvidenceStatus.SUPPORTED for call in self._invocations)

    @property
    def focused(self) -> bool:
        """The causes lie on the alert's side, and so does at least half of all that is stated."""
        if not self.own:
            return False
        causes = [claim for claim in self._claims if claim.claim.claim_type == "root_cause"]
        share = round_share(len(self._near), len(self._claims))
        return all(claim.number in self._near for claim in causes) and share >= LEAST_FOCUS

    def reasons(self) -> Iterator[str]:
        """In words for auditors, one a check and one for each thing that held the verdict down."""
        stated = self._state.executor_output.claims if self._state.executor_output else ()
        answered = [call for call in self._invocations if call.evidence_status is EvidenceStatus.SUPPORTED]
        yield f"{len(self._near)} of {len(self._claims)} verified claims are connected with the alert"
        yield f"{len(answered)} of {len(self._invocations)} look-ups answered"
        yield f"{len(self.own)} of {len(stated)} claims verified about the alert itself"
        yield f"{len(self.carrying)} verified causes or proofs of health"
        yield f"{len(actions(self._state))} next steps"
        if self._state.walk.degraded:
            yield "a step was done by rules in place of the model"
        if self._state.walk.ending:
            yield f"the run was cut short: {self._state.walk.ending}"

    def _is_own(self, claim: AllowedClaim) -> bool:
        if not self._state.alerts:
            return True
        return claim.claim.claim_type != "gap" and self._subject.is_of(claim)

    def _carries(self, claim: AllowedClaim) -> bool:
        """A cause on the alert's side, or health of the very thing; its words must be its quotes' words."""
        kind = claim.claim.claim_type
        good = (kind == "root_cause" and claim.number in self._near) or (kind == "healthy" and self._is_health(claim))
        return good and content_share(claim.claim.claim_text, claim.evidence) >= LEAST_SHARE

    def _is_health(self, claim: AllowedClaim) -> bool:
        """Health of a sibling proves nothing, and none does beside trouble of the alert's own that is not told as over."""
        if claim not in self.own or any(_is_open(one) for one in self.own):
            return False
        main = main_entity(self._state.alerts)
        return main is None or names(main, evidence_text(claim.evidence))

    def _connected(self) -> frozenset[int]:
        """The alert's own claims, and step by step those that share a thing with one of them."""
        near = {claim.number for claim in self.own}
        texts = {claim.number: evidence_text(claim.evidence) for claim in self._claims}
        things = _things(self._state, self._claims)
        while True:
            named = [thing for thing in things if any(names(thing, texts[number]) for number in near)]
            more = {number for number, text in texts.items() if number not in near and any(names(t, text) for t in named)}
            if not more:
                return frozenset(near)
            near |= more


def _is_open(claim: AllowedClaim) -> bool:
    """Trouble that the claim, in its own words, does not tell as over."""
    text = claim.claim.claim_text
    own = blank(text, [(start, end) for start, end, _ in marked_quotes(text)])
    return claim.claim.claim_type in ("symptom", "impact") and not _OVER.search(own)


def _things(state: RunState, claims: Iterable[AllowedClaim]) -> tuple[str, ...]:
    """Services, hosts and pods that quotes' labels or the draft's groups name."""
    found = [thing for claim in claims for thing in scope_entities(claim.evidence)]
    return tuple(dict.fromkeys([*found, *(blast.entity for blast in state.blast_radius if blast.entity)]))
