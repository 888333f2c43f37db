"""Who calls whom, read off the lines: a service whose lines name another one depends on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agents.offline.evidence import Evidence, LogKind
from agents.offline.question import Question

_PARTS = re.compile(r"[^a-z0-9]+")
_GENERIC = frozenset({"service", "svc", "server", "api", "app", "ts", "the", "prod", "web"})
_MAX_HOPS = 4


def asked_services(question: Question, evidence: Evidence) -> tuple[str, ...]:
    """Services whose names hold a word of the question ("checkout" asks for checkout-service); else those whose errors
    carry a code that the question names."""
    asked = _asked(question)
    named = [one for one in evidence.services if _names(question.text, one) or _parts(one) & asked]
    coded = [kind.service for kind in evidence.kinds if kind.is_error and set(kind.codes[:1]) & set(question.codes)]
    return tuple(named) or tuple(dict.fromkeys(coded))


def _asked(question: Question) -> set[str]:
    named = {part for name in question.names for part in _PARTS.split(name.lower())}
    words = named | set(question.terms)
    return (words | {word.removesuffix("s") for word in words}) - _GENERIC


def _parts(service: str) -> set[str]:
    return {part for part in _PARTS.split(service.lower()) if part} - _GENERIC


def callees(service: str, kinds: Sequence[LogKind], services: Sequence[str]) -> tuple[str, ...]:
    """Services that the troubled lines of this one name."""
    lines = [kind.line for kind in kinds if kind.service == service and (kind.is_error or kind.is_new)]
    named = [other for other in services if other != service and any(_names(line, other) for line in lines)]
    return tuple(named)


def _names(line: str, service: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(service)}(?![\w-])", line) is not None


def callers(reached: Iterable[str], kinds: Sequence[LogKind]) -> tuple[str, ...]:
    """Services outside whose troubled lines name one of these: who suffers with them."""
    inside = tuple(reached)
    found = [
        kind.service
        for kind in kinds
        if kind.service not in inside and kind.is_error and any(_names(kind.line, one) for one in inside)
    ]
    return tuple(dict.fromkeys(found))


def depths(question: Question, evidence: Evidence) -> dict[str, int]:
    """Hops from an asked service along the troubled calls. Where the question names no service, all stand at 0."""
    services = evidence.services
    reached = dict.fromkeys(asked_services(question, evidence), 0)
    if not reached:
        return dict.fromkeys(services, 0)
    frontier = tuple(reached)
    for depth in range(1, _MAX_HOPS + 1):
        named = dict.fromkeys(other for one in frontier for other in callees(one, evidence.kinds, services))
        frontier = tuple(other for other in named if other not in reached)
        reached.update(dict.fromkeys(frontier, depth))
    return reached
