"""Whom it hits: each thing's group, by the claims that name it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agents.contracts import BlastGroup, DraftBlast, DraftClaim
from agents.llm.base import CitedRef, Exchange
from agents.offline.reading import SERVICE_LABELS, pairs_of
from agents.offline.records import object_of

_GROUPS: Mapping[str, BlastGroup] = {
    "root_cause": "affected", "symptom": "affected", "impact": "affected", "healthy": "healthy",
}  # fmt: skip
# a pod, a host, an instance; a monitor's title or the name of a wait is none
_THING = re.compile(r"(?=[^\s]*[-.\d])[A-Za-z0-9][\w.-]*")
_SERVICE = re.compile(r"[A-Za-z][\w.-]*")


def blast_radius(
    claims: Sequence[DraftClaim],
    entities: Sequence[str],
    exchanges: Sequence[Exchange],
    over: frozenset[str],
    *,
    is_elsewhere: bool = False,
) -> tuple[DraftBlast, ...]:
    """Things that the alert names and things that the quoted records are of; affected before healthy, each once.

    `over` are claims that tell of trouble which is past: nobody is affected by it any more. `is_elsewhere`: what ails
    other things than the alert's ails them for another reason."""
    refs = {cited.handle: cited for exchange in exchanges for cited in exchange.refs}
    found: dict[tuple[str, BlastGroup], list[str]] = {}
    for claim in claims:
        group = _GROUPS.get(claim.claim_type)
        if group is None or (group == "affected" and claim.claim_id in over):
            continue
        cited = [refs[citation.ref] for citation in claim.evidence if citation.ref in refs]
        for name in _named(cited, entities):
            other = is_elsewhere and group == "affected" and name not in entities
            found.setdefault((name, "other_reason" if other else group), []).append(claim.claim_id)
    hit = {name for name, group in found if group == "affected"}
    kept = [key for key in found if key[1] == "affected" or key[0] not in hit]  # a thing that ails is not well
    return tuple(DraftBlast(entity=name, group=group, claim_ids=tuple(found[name, group])) for name, group in kept)


def _named(cited: Sequence[CitedRef], entities: Iterable[str]) -> list[str]:
    text = " ".join(f"{one.ref.text} {' '.join(one.ref.scope.values())}" for one in cited)
    own = [object_of(one) for one in cited]
    services = [pairs_of(one.ref.text).get(label, "") for one in cited for label in SERVICE_LABELS if label != "job"]
    found = [*(name for name in own if _THING.fullmatch(name)), *(name for name in services if _SERVICE.fullmatch(name))]
    return [name for name in dict.fromkeys([*found, *(name for name in entities if name in text)]) if name]
