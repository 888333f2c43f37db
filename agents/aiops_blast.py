"""The blast radius in four groups, by code: an entity stands in a group only with a verified claim that names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.alert_subject import PRODUCTS, evidence_text, is_nameable, main_entity, names
from agents.contracts import AllowedClaim, BlastEntry, BlastGroup, ClaimType, DraftBlast
from agents.state import RunState
from tools.invocation import Invocation

MAX_NOT_CHECKED = 12
_NO_NAME = re.compile(r"[,;={}<>\"\n]")
KINDS: Mapping[BlastGroup, tuple[ClaimType, ...]] = {
    "affected": ("root_cause", "symptom", "impact"),
    "healthy": ("healthy",),
    "other_reason": ("change", "symptom", "impact", "root_cause"),
}


@dataclass(frozen=True)
class BlastRadius:
    affected: tuple[BlastEntry, ...]
    healthy: tuple[BlastEntry, ...]
    other_reason: tuple[BlastEntry, ...]
    not_checked: tuple[str, ...]


def blast_radius(
    state: RunState, allowed: Sequence[AllowedClaim], invocations: Iterable[Invocation]
) -> BlastRadius:
    """Each entity once, in the first group that holds. Names that neither the alert nor a tool ever said are left out."""
    drafted = (*state.blast_radius, *_own(state, allowed))
    placed: dict[str, BlastGroup] = {}
    entries: dict[BlastGroup, list[BlastEntry]] = {group: [] for group in KINDS}
    for blast in drafted:
        entry = _entry(blast, allowed)
        if entry is not None and blast.entity not in placed and not _NO_NAME.search(blast.entity):
            placed[blast.entity] = blast.group
            entries[blast.group].append(entry)
    return BlastRadius(
        affected=tuple(entries["affected"]),
        healthy=tuple(entries["healthy"]),
        other_reason=tuple(entries["other_reason"]),
        not_checked=_not_checked(state, placed, invocations),
    )


def _own(state: RunState, allowed: Sequence[AllowedClaim]) -> list[DraftBlast]:
    """The thing that the alert is about has its place, also where the draft forgot it."""
    entity = main_entity(state.alerts)
    if entity is None or _has_place_by_host(entity, state):
        return []
    ids = tuple(claim.claim.claim_id for claim in allowed)
    groups: tuple[BlastGroup, ...] = ("affected", "healthy")
    return [DraftBlast(entity=entity, group=group, claim_ids=ids) for group in groups]


def _has_place_by_host(entity: str, state: RunState) -> bool:
    """A label says db-3:9100 where the draft speaks of db-3."""
    return any(entity.partition(":")[0] == blast.entity for blast in state.blast_radius if ":" in entity)


def _entry(blast: DraftBlast, allowed: Sequence[AllowedClaim]) -> BlastEntry | None:
    """The claims of the right kind whose quotes, with their scope, name the entity."""
    cited, kinds = set(blast.claim_ids), KINDS[blast.group]
    ids = tuple(
        claim.claim.claim_id
        for claim in allowed
        if claim.claim.claim_id in cited
        and claim.claim.claim_type in kinds
        and names(blast.entity, evidence_text(claim.evidence))
    )
    return BlastEntry(entity=blast.entity, claim_ids=ids) if ids else None


def _not_checked(
    state: RunState, placed: Mapping[str, BlastGroup], invocations: Iterable[Invocation]
) -> tuple[str, ...]:
    planned = state.aiops_plan.entities if state.aiops_plan else ()
    wanted = (*(blast.entity for blast in state.blast_radius), *state.not_checked, *planned)
    own = main_entity(state.alerts)
    own = None if own is not None and _has_place_by_host(own, state) else own
    left = [name for name in dict.fromkeys((*((own,) if own else ()), *wanted)) if name not in placed and is_nameable(name)]
    left = [name for name in left if not _NO_NAME.search(name) and name.lower() not in PRODUCTS]
    known = _known_text(state, invocations) if left else ""
    return tuple(name for name in left if names(name, known))[:MAX_NOT_CHECKED]


def _known_text(state: RunState, invocations: Iterable[Invocation]) -> str:
    """All that the alerts and the tools' answers said."""
    alerts = [f"{alert.alert_name} {alert.group} {alert.labels} {alert.annotations}" for alert in state.alerts]
    refs = [f"{ref.text} {' '.join(ref.scope.values())}" for call in invocations for ref in call.refs]
    return "\n".join([*alerts, *refs])
