"""Resources that the question and earlier answers name: what the next look-up can be asked about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.llm.base import Exchange
from agents.offline.question import Question
from tools.contracts import EvidenceStatus

_OWNED = re.compile(r"\b(Pod|Deployment|StatefulSet|DaemonSet|Job|CronJob|PersistentVolumeClaim|Node)/([a-z0-9][a-z0-9.-]*[a-z0-9])")
_CLAIM = re.compile(r"ClaimName:\s+([a-z0-9][a-z0-9.-]*)")
_CREATED = re.compile(r"Created pod: ([a-z0-9][a-z0-9.-]*)")
_NAMESPACE_LINE = re.compile(r"^Namespace:\s+([a-z0-9][a-z0-9-]*)\s*$")
_NAME = re.compile(r"^[a-z0-9][a-z0-9._/-]*$")
NAMESPACE_FIELDS = ("namespace", "ns", "kube_namespace")
KIND_FIELDS = ("kind", "resource_kind", "resource_type")
DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True)
class Entity:
    """`kind` "" where unknown; `namespace` "" where no answer stated it."""

    kind: str
    name: str
    namespace: str = ""


def entities(question: Question, exchanges: Sequence[Exchange]) -> tuple[Entity, ...]:
    """Found ones in order of appearance; a name of the question alone stands last, and only while nothing was found of it."""
    answered = [one for one in exchanges if one.evidence_status is not EvidenceStatus.NO_EVIDENCE]
    found = [entity for exchange in answered for entity in _found(question, exchange)]
    missing = (entity for entity in _stated(question) if not any(entity.name in other.name for other in found))
    return _merged([*found, *missing])


def namespaces(question: Question, known: Iterable[Entity]) -> tuple[str, ...]:
    named = [entity.namespace for entity in known if entity.namespace]
    return tuple(dict.fromkeys([*named, *question.namespaces]))


def mentions(question: Question, name: str) -> bool:
    """Whether the name belongs to something that the question names."""
    return any(asked in name for asked in question.names)


def _stated(question: Question) -> list[Entity]:
    if question.subjects:
        return [Entity(one.kind, one.name, one.namespace) for one in question.subjects]
    kind = next((kind for kind in (question.kind, *question.other_kinds) if kind and kind != "scaledobject"), "")
    namespace = question.namespaces[0] if question.namespaces else ""
    return [Entity(kind, name, namespace) for name in question.names]


def _found(question: Question, exchange: Exchange) -> list[Entity]:
    arguments = exchange.call.arguments or {}
    namespace = _argument(arguments, NAMESPACE_FIELDS)
    kind = _argument(arguments, KIND_FIELDS).lower()
    found: list[Entity] = []
    for cited in exchange.refs:
        line = cited.ref.text
        stated = _NAMESPACE_LINE.match(line.strip())
        namespace = stated[1] if stated else namespace
        found += _named(line, namespace)
        found += _row(question, line, kind, namespace)
    return found


def _argument(arguments: dict[str, object], fields: Iterable[str]) -> str:
    return next((str(arguments[name]) for name in fields if arguments.get(name)), "")


def _named(line: str, namespace: str) -> list[Entity]:
    found = [Entity("persistentvolumeclaim", match[1], namespace) for match in _CLAIM.finditer(line)]
    found += [Entity("pod", match[1], namespace) for match in _CREATED.finditer(line)]
    found += [Entity(match[1].lower(), match[2], namespace) for match in _OWNED.finditer(line)]
    return found


def _row(question: Question, line: str, kind: str, namespace: str) -> list[Entity]:
    """A row of a table: the cell that holds an asked name, with the namespace in the cell before it where there is one."""
    cells = line.split()
    if len(cells) < 3 or cells[0].endswith(":"):
        return []
    for index, cell in enumerate(cells[:2]):
        if mentions(question, cell) and _NAME.match(cell):
            before = cells[0] if index == 1 and _NAME.match(cells[0]) else namespace
            return [Entity(kind or ("app" if "/" in cell else ""), cell, before)]
    return []


def _merged(found: list[Entity]) -> tuple[Entity, ...]:
    """One entry a kind and name; a namespace learnt later fills the gap."""
    merged: dict[tuple[str, str], Entity] = {}
    for entity in found:
        key = (entity.kind, entity.name)
        earlier = merged.get(key)
        if earlier is None or (not earlier.namespace and entity.namespace):
            merged[key] = entity
    return tuple(merged.values())
