"""Calls of tools from other servers: arguments are filled by their names, or the tool is left alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.llm.base import Exchange, ToolOffer
from agents.offline.entities import DEFAULT_NAMESPACE, Entity, entities, mentions, namespaces
from agents.offline.external_counts import counts
from agents.offline.question import Question, words
from tools.contracts import EvidenceStatus

BUILTIN = frozenset(
    {"date_time", "lookup_knowledge", "query_changes", "query_logs", "query_metrics", "query_order", "read_skill"}
)
MAX_CALLS = 14
BATCH = 5

_THINGS = (
    "workload|deployment|statefulset|service|host|hostname|function|instance|db_instance|source|queue|topic|job|cronjob|release"
    "|kustomization|ingress|component"
)
# which argument a field's name asks for: the first pattern that fits decides
_ROLES: tuple[tuple[str, str], ...] = (
    ("namespace", r"^(namespace|ns|kube_namespace|k8s_namespace)$"),
    ("kind", r"^(kind|resource_kind|resource_type|object_kind)$"),
    ("pod", r"^(pod|pod_name)$"),
    ("app", r"^(app|app_name|application|application_name)$"),
    ("node", r"^(node|node_name|nodename)$"),
    ("name", rf"^(name|{_THINGS}|({_THINGS}|resource|object)_(name|identifier))$"),
    ("keyword", r"^(keyword|search|search_term|substring|name_contains)$"),
    ("url", r"^(url|link|uri|address)$"),
    ("id", r"(^|_)id$"),
    ("filter", r"^(filter|pattern|text|contains|grep|match)$"),
    ("limit", r"^(limit|tail|tail_lines|lines|max_lines|max_results)$"),
    ("since", r"^(since|start|start_time|from|from_time)$"),
    ("until", r"^(until|end|end_time|to|to_time)$"),
    ("jq", r"^jq_expr(ession)?$"),
)
_NODES = re.compile(r"\bnode\(s\)|nodes are available", re.IGNORECASE)
_ERRORS = re.compile(r"\berrors?\b|报错|错误", re.IGNORECASE)
_FALLBACK_KINDS = ("pod", "deployment", "statefulset", "job")


@dataclass(frozen=True)
class PlannedCall:
    tool: str
    arguments: dict[str, Any]
    priority: int


@dataclass(frozen=True)
class _World:
    question: Question
    exchanges: Sequence[Exchange]
    known: tuple[Entity, ...]

    def tried(self, tool: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.call.name == tool]


def next_calls(question: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange]) -> list[PlannedCall]:
    """The next batch, most telling first; empty when nothing is left to ask or the share of calls is spent."""
    external = [offer for offer in offers if offer.origin == "external" and offer.gives_evidence]
    names = {offer.name for offer in external}
    made = [(exchange.call.name, exchange.call.arguments) for exchange in exchanges if exchange.call.name in names]
    world = _World(question, exchanges, entities(question, exchanges))
    wanted = [call for offer in external for call in _calls_of(offer, world)]
    unmade = [call for call in wanted if (call.tool, call.arguments) not in made]
    fresh = [call for at, call in enumerate(unmade) if (call.tool, call.arguments) not in _made_before(unmade, at)]
    fresh.sort(key=lambda call: call.priority)
    lowest = fresh[0].priority if fresh else 0
    batch = [call for call in fresh if call.priority <= lowest + 1][:BATCH]
    return batch[: max(0, MAX_CALLS - len(made))]


def _made_before(calls: Sequence[PlannedCall], at: int) -> list[tuple[str, dict[str, Any]]]:
    """One name may stand for resources of two kinds, of which a tool without a kind makes one call."""
    return [(call.tool, call.arguments) for call in calls[:at]]


def is_external(exchange: Exchange, offers: Sequence[ToolOffer]) -> bool:
    """By its offer; where none stands any more (the calls are spent), by its name."""
    origin = next((offer.origin for offer in offers if offer.name == exchange.call.name), None)
    return origin == "external" if origin else exchange.call.name not in BUILTIN


def unfilled(question: Question, offers: Sequence[ToolOffer], exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    """External tools that were left alone because the question and the answers name nothing to ask them about."""
    called = {exchange.call.name for exchange in exchanges}
    external = [offer for offer in offers if offer.origin == "external" and offer.gives_evidence]
    if len([exchange for exchange in exchanges if is_external(exchange, offers)]) >= MAX_CALLS or entities(question, exchanges):
        return ()
    return tuple(offer.name for offer in external if offer.name not in called)


def _calls_of(offer: ToolOffer, world: _World) -> Iterator[PlannedCall]:
    fields = _fields(offer)
    roles = {role: name for name in fields if (role := _role(name)) is not None}
    required = set(offer.parameters.get("required", ()))
    if not fields or (not required and not roles):
        yield PlannedCall(offer.name, {}, 0)
        return
    if any(_role(name) is None for name in required):
        return
    for values, priority in _subjects(offer, roles, world):
        arguments = {roles[role]: value for role, value in values.items() if role in roles and value}
        if roles.get("kind") in arguments:
            arguments[roles["kind"]] = _spelled(fields[roles["kind"]], arguments[roles["kind"]])
        arguments |= _options(roles, world.question, required)
        if required <= arguments.keys() and arguments:
            yield PlannedCall(offer.name, arguments, priority)


def _fields(offer: ToolOffer) -> dict[str, Any]:
    properties = offer.parameters.get("properties", {})
    return properties if isinstance(properties, dict) else {}


def _spelled(field: Any, kind: str) -> str:
    """The kind as the tool's own manual writes it: `hpa` for a horizontalpodautoscaler."""
    shown = [*(field.get("enum") or ()), *(field.get("examples") or ())] if isinstance(field, dict) else []
    kinds = words().kinds
    alike = (one for one in shown if isinstance(one, str) and kinds.get(one.lower(), one.lower()) == kind)
    return kind if kind in shown else next(alike, kind)


def _role(field: str) -> str | None:
    lowered = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field).lower()
    return next((role for role, pattern in _ROLES if re.search(pattern, lowered)), None)


def _subjects(offer: ToolOffer, roles: dict[str, str], world: _World) -> Iterator[tuple[dict[str, str], int]]:
    """Whom to ask about: (role → value, priority) in the order in which they are worth asking."""
    if "keyword" in roles:
        yield from _searches(offer, world)
    elif "url" in roles:
        yield from _pages(offer, world)
    elif "id" in roles:
        subject = world.question.subject
        if subject and subject.id:
            yield {"id": subject.id, "kind": subject.kind}, 0
    elif "jq" in roles:
        yield from counts(world.question)
    elif "app" in roles:
        yield from _apps(world)
    elif "node" in roles and "pod" not in roles:
        yield from _nodes(world)
    elif "pod" in roles or "name" in roles:
        yield from _named(offer, roles, world)
    elif "kind" in roles:
        yield from _lists(roles, world)
    elif "namespace" in roles:
        for namespace in namespaces(world.question, world.known):
            yield {"namespace": namespace}, 1


def _searches(offer: ToolOffer, world: _World) -> Iterator[tuple[dict[str, str], int]]:
    """A search per asked name, kind after kind until one finds something; pods of a found owner are searched as well."""
    question = world.question
    stated = [kind for kind in (question.kind, *question.other_kinds) if kind]
    for name in question.names:
        tried = [exchange for exchange in world.tried(offer.name) if name in str(exchange.call.arguments)]
        hits = [exchange for exchange in tried if _rows_with(name, exchange)]
        kinds = list(dict.fromkeys([*stated, *_FALLBACK_KINDS]))
        wanted = kinds[: len(tried) + 1] if not hits else kinds[: len(tried)]
        if hits and "pod" not in wanted:
            wanted = [*wanted, "pod"]
        for kind in wanted:
            yield {"kind": kind, "keyword": name}, 0


def _pages(offer: ToolOffer, world: _World) -> Iterator[tuple[dict[str, str], int]]:
    """The alert's runbook; servers tell a page from the same address with a slash at its end."""
    for link in world.question.links:
        yield {"url": link}, 0
        if any(one.evidence_status is not EvidenceStatus.SUPPORTED for one in world.tried(offer.name)):
            yield {"url": link.removesuffix("/") if link.endswith("/") else f"{link}/"}, 0


def _rows_with(name: str, exchange: Exchange) -> bool:
    return any(name in cell for cited in exchange.refs for cell in cited.ref.text.split()[:2])


def _apps(world: _World) -> Iterator[tuple[dict[str, str], int]]:
    apps = [entity for entity in world.known if mentions(world.question, entity.name)]
    for entity in sorted(apps, key=lambda entity: entity.kind != "app"):
        yield {"app": entity.name, "namespace": entity.namespace}, 1


def _nodes(world: _World) -> Iterator[tuple[dict[str, str], int]]:
    found = [entity.name for entity in world.known if entity.kind == "node"]
    asked = "node" in (world.question.kind, *world.question.other_kinds)
    for name in found or (world.question.names if asked else ()):
        yield {"node": name, "name": name, "kind": "node"}, 2


def _named(offer: ToolOffer, roles: dict[str, str], world: _World) -> Iterator[tuple[dict[str, str], int]]:
    for entity in world.known:
        kind = entity.kind or "pod"
        if kind == "app" or ("pod" in roles and kind != "pod"):
            continue
        for namespace in _namespaces_left(offer, entity, roles, world):
            values = {"pod": entity.name, "name": entity.name, "namespace": namespace, "kind": kind}
            yield values, _priority(offer, entity, world)


def _namespaces_left(offer: ToolOffer, entity: Entity, roles: dict[str, str], world: _World) -> list[str]:
    """The entity's own namespace, and others that were named while every answer so far was empty or an error."""
    if "namespace" not in roles:
        return [""]
    known = [entity.namespace, *namespaces(world.question, world.known)]
    order = list(dict.fromkeys(name for name in known if name)) or [DEFAULT_NAMESPACE]
    tried = [exchange for exchange in world.tried(offer.name) if entity.name in (exchange.call.arguments or {}).values()]
    if any(exchange.evidence_status in (EvidenceStatus.SUPPORTED, EvidenceStatus.DEDUPED) for exchange in tried):
        return order[: len(tried)]
    return order[: len(tried) + 1]


def _priority(offer: ToolOffer, entity: Entity, world: _World) -> int:
    """State, events and logs of what was asked about come first; its relatives and raw YAML later."""
    words = offer.name.lower()
    found = entity.namespace != "" and any(entity.name in cited.ref.text for exchange in world.exchanges for cited in exchange.refs)
    subjects = (world.question.subject, *world.question.subjects)
    stated = any(subject is not None and subject.name == entity.name for subject in subjects)
    rank = 2 if found or stated else 5
    if "yaml" in words or "previous" in words or "all_containers" in words:
        return rank + 5
    return rank + (0 if re.search(r"describe|events|logs|status", words) else 2)


def _lists(roles: dict[str, str], world: _World) -> Iterator[tuple[dict[str, str], int]]:
    """Lists of a kind: what was asked for, the pods of a namespace, and the nodes where pods find none."""
    question = world.question
    stated = [kind for kind in (question.kind, *question.other_kinds) if kind]
    if "namespace" in roles:
        kinds = [kind for kind in dict.fromkeys([*stated, "pod"]) if kind not in ("namespace", "node")]
        for kind, namespace in itertools.product(kinds, namespaces(question, world.known)):
            yield {"kind": kind, "namespace": namespace}, 1 if kind in stated else 4
        return
    if _texts_match(world, _NODES):
        yield {"kind": "node"}, 4
    if not question.names and stated:
        yield {"kind": stated[0]}, 0


def _texts_match(world: _World, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(cited.ref.text) for exchange in world.exchanges for cited in exchange.refs)


def _options(roles: dict[str, str], question: Question, required: set[str]) -> dict[str, Any]:
    """What narrows a call: text, number and time of the question."""
    chosen: dict[str, Any] = {}
    if "filter" in roles and question.ask == "logs":
        wanted = question.quoted[0] if question.quoted else "ERROR" if _ERRORS.search(question.text) else None
        chosen |= {roles["filter"]: wanted} if wanted else {}
    if "limit" in roles and question.limit:
        chosen[roles["limit"]] = question.limit
    if question.window and "since" in roles:
        chosen[roles["since"]] = _stamp(question.window.since)
    if question.window and question.window.until and "until" in roles:
        chosen[roles["until"]] = _stamp(question.window.until)
    return {name: value for name, value in chosen.items() if value is not None or name in required}


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
