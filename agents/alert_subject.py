"""What an alert is about: the names by which evidence can be told to speak of it, and to speak of something else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.contracts import Alert, AllowedClaim, VerifiedEvidence
from agents.gate.identifiers import claimed_names
from agents.gate.tokens import content_words, parts
from agents.gate.words import KNOWN_TECH

# Keys of labels, annotations and scopes whose values are things that can be looked at, the most telling first.
ENTITY_KEYS = (
    "pod", "pod_name", "kube_pod", "service", "service_name", "deployment", "kube_deployment", "statefulset", "daemonset",
    "job_name", "workload", "workload_name", "subject", "app", "application", "host", "hostname", "node", "instance", "db_instance",
    "db_instance_identifier", "read_replica", "container", "monitor", "url", "check", "queue", "topic", "database", "device",
)  # fmt: skip
NOISE_KEYS = frozenset({
    "alertname", "severity", "priority", "prometheus", "receiver", "alertgroup", "monitor_id", "pipeline_name",
    "workload_type", "value", "status", "source", "replica", "team", "owner", "color", "runbook_url", "dashboard_url",
})  # fmt: skip
MACHINE_KEYS = ("node", "nodename", "kubernetes_node", "host", "hostname", "instance")
# So many alerts, most of them of one machine, are about the machine.
STORM = 3
PRODUCTS = KNOWN_TECH | {"rds", "aws", "eks", "gke", "aks", "kubernetes", "postgres", "postgresql"}
_COMPOUND = re.compile(r"(?=.*[a-z])[A-Za-z0-9]+(?:[-._:/@][A-Za-z0-9]+)+")
_POD_HASH = re.compile(r"-[a-f0-9]{6,10}-[a-z0-9]{5}$|-(?=[a-z]*\d)[a-z0-9]{5}$")
_PORT = re.compile(r":\d{2,5}$")
_REPLICA = r"(?:-[a-f0-9]{6,10}(?:-[a-z0-9]{5})?|-(?=[a-z]*\d)[a-z0-9]{5}|-\d{1,3})?"
_LETTERS = re.compile(r"[^\W\d_]")
MAX_NAMES = 60
SHARED_WORDS = 2
# Shorter ones (p95, 5xx) stand everywhere.
NAME_LETTERS = 4


@dataclass(frozen=True)
class Subject:
    """`entities` are services, hosts, pods … that the alerts name, the first alert's first; `other` their names and what
    else in them looks like a name; `words` the telling words of the alerts' names and summaries."""

    entities: tuple[str, ...]
    other: tuple[str, ...]
    words: frozenset[str]

    @classmethod
    def of(cls, alerts: Sequence[Alert]) -> Subject:
        entities = _distinct(name for alert in alerts for name in _entities(alert))
        other = _distinct(name for alert in alerts for name in _other(alert))
        words = content_words(" ".join(_in_words(alert) for alert in alerts))
        return cls(entities, tuple(name for name in other if name not in entities), frozenset(words))

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.entities, *self.other)

    def is_of(self, claim: AllowedClaim) -> bool:
        """Whether the quotes, with their scope, speak of this: they name it, or, where the alerts name no thing, they name
        none either and share telling words with what the alerts say."""
        text = evidence_text(claim.evidence)
        if any(names(name, text) for name in self.names):
            return True
        if self.entities or scope_entities(claim.evidence):
            return False
        shared = self.words & content_words(f"{claim.claim.claim_text} {text}")
        return len(shared) >= max(1, min(SHARED_WORDS, len(self.words)))


def evidence_text(evidence: Iterable[VerifiedEvidence]) -> str:
    """Quoted words and the labels that stand with them."""
    return "\n".join(f"{proof.span_text}\n{' '.join(proof.scope.values())}" for proof in evidence)


def scope_entities(evidence: Iterable[VerifiedEvidence]) -> tuple[str, ...]:
    """The things that the labels of the quotes name."""
    return _distinct(
        value for proof in evidence for key, value in proof.scope.items() if key in ENTITY_KEYS and is_nameable(value)
    )


def names(name: str, text: str) -> bool:
    """Whether the text holds the name as a whole; a workload may stand as its pod's prefix."""
    at = text.lower().find(name.lower())
    if at < 0:
        return False
    return re.search(rf"(?<![\w-]){re.escape(name)}{_REPLICA}(?![\w-])", text, re.IGNORECASE) is not None


def is_nameable(value: str) -> bool:
    return 2 < len(value) <= 120 and not value.isdigit() and "\n" not in value


def main_entity(alerts: Sequence[Alert]) -> str | None:
    """What the alerts are about, in one name: the machine that most of a storm stands on, else the first alert's thing; a
    product's name (rds, redis) only where there is no other."""
    machine = shared_machine(alerts)
    if machine is not None:
        return machine
    found = [name for alert in alerts[:1] for name in _entities(alert)]
    return min(found, key=lambda name: name.lower() in PRODUCTS, default=None)


def shared_machine(alerts: Sequence[Alert]) -> str | None:
    """The machine that over half of three or more alerts name, without its port."""
    if len(alerts) < STORM:
        return None
    named = Counter(name for alert in alerts for name in {_PORT.sub("", value) for value in _machines(alert)})
    most, count = max(named.items(), key=lambda item: item[1], default=("", 0))
    return most if 2 * count > len(alerts) else None


def _machines(alert: Alert) -> Iterator[str]:
    return (alert.labels[key] for key in MACHINE_KEYS if is_nameable(alert.labels.get(key, "")))


def _entities(alert: Alert) -> Iterator[str]:
    for value in _by_key({**alert.annotations, **alert.labels}):
        yield from _spellings(value)
    for key, value in alert.labels.items():
        if key not in NOISE_KEYS and key not in ENTITY_KEYS and _COMPOUND.fullmatch(value) and is_nameable(value):
            yield from _spellings(value)


def _by_key(values: Mapping[str, str]) -> Iterator[str]:
    lowered = {key.lower(): value for key, value in values.items()}
    yield from (lowered[key] for key in ENTITY_KEYS if key in lowered and is_nameable(lowered[key]))


def _spellings(value: str) -> Iterator[str]:
    """A pod also by its workload's name, a host also without its port."""
    yield value
    for ending in (_POD_HASH, _PORT):
        short = ending.sub("", value)
        if short != value and is_nameable(short):
            yield short


def _other(alert: Alert) -> Iterator[str]:
    if alert.alert_name and is_nameable(alert.alert_name):
        yield alert.alert_name
    texts = (alert.alert_name or "", alert.group or "", *alert.annotations.values())
    for text in texts:
        yield from (name.text for name in claimed_names(text[:2_000]) if _tells(name.text))


def _tells(name: str) -> bool:
    return is_nameable(name) and len(_LETTERS.findall(name)) >= NAME_LETTERS


def _in_words(alert: Alert) -> str:
    name = alert.alert_name or ""
    said = (alert.annotations.get(key, "") for key in ("title", "summary", "description", "message"))
    return " ".join([name, *parts(name), alert.group or "", *said])[:2_000]


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))[:MAX_NAMES]
