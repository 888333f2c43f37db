"""What an alert is about, in the form in which the engine reads a question: resources, a window, and its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from agents.contracts import Alert
from agents.offline.question import COMPLAINTS, Question, Subject, codes_of, terms_of, words
from agents.offline.times import Window

MAX_NAMES = 8
BEFORE, AFTER = timedelta(minutes=30), timedelta(hours=2)
LONG_FIRING = timedelta(hours=24)
TEXT_CHARS = 600

_WORKLOADS = "deployment|statefulset|daemonset|replicaset|cronjob|persistentvolumeclaim|horizontalpodautoscaler"
# what a label's name says of its value, the most telling first
_LABELS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"^(?:{pattern})$"))
    for kind, pattern in (
        ("pod", r"(kube_|exported_|kubernetes_)?pod(_name)?"),
        ("job", r"kube_job|job_name"),
        ("workload", rf"(kube_)?({_WORKLOADS})(_name)?|workload(_name)?"),
        ("database", r"db_?instance(_?identifier|_name)?|database(_name)?|read_replica|db_cluster"),
        ("queue", r"queue(_name)?|topic|consumer_?group|stream"),
        ("service", r"(exported_)?service(_name)?|app(lication)?(_name)?|component|subject|function(_name)?|monitor(_name)?"),
        ("node", r"(kube_|kubernetes_)?node(_?name)?"),
        ("host", r"host|host_?name|instance|server|machine"),
    )
)
_NAMESPACE = re.compile(r"^(kube_|kubernetes_|exported_|k8s_)?namespace(_name)?$")
_TYPE = re.compile(r"^(workload|owner|resource|object)_?(type|kind)$")
_NAME = re.compile(r"^[A-Za-z0-9][\w./:@-]{1,252}$")
_POD = re.compile(r"\b[a-z0-9]+(?:-[a-z0-9]+)*-(?=[a-z]*\d)[a-z0-9]{6,10}-[a-z0-9]{5}\b")
_NODE = re.compile(r"\b(?:[Nn]ode|[Hh]ost|[Mm]achine)\s+((?=[\w.-]*\d)[a-z0-9][a-z0-9.-]*[a-z0-9])")
_PORT = re.compile(r":\d{2,5}$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-./:]+")
_OF_NODE = re.compile(r"\b(node|host|instance|machine|server|kubelet)\b", re.IGNORECASE)
_WHERE = ("node", "host")
_NOT_IN_A_CLUSTER = ("service", "database", "queue", "host")
_URL = re.compile(r"^https?://(?!\d+(?:\.\d+){3}[:/])[A-Za-z0-9.-]+\.[A-Za-z]{2,}(?::\d+)?/\S*$")
_TELLING_TEXTS = ("summary", "title", "description", "message", "error", "suspected_symptom")


def subject_of(alerts: Sequence[Alert], now: datetime, zone: ZoneInfo) -> Question:
    """The first alert is the one to stay on. In a storm the node or host that most alerts share leads the names."""
    resources = resources_of(alerts)
    kinds = [one.kind for one in resources if one.kind not in (*_NOT_IN_A_CLUSTER, "")]
    namespaces = [one.namespace for one in resources if one.namespace]
    first = alerts[0] if alerts else None
    text = _text(first) if first else ""
    return Question(
        text=text,
        ask="why",
        names=tuple(dict.fromkeys(one.name for one in resources)),
        kind=kinds[0] if kinds else None,
        other_kinds=tuple(dict.fromkeys(kinds[1:])),
        namespaces=tuple(dict.fromkeys(namespaces)),
        subject=None,
        quoted=(),
        limit=None,
        records=(),
        codes=codes_of(text),
        window=_window(alerts, now, zone),
        terms=_terms(first.alert_name or "", is_labelled=bool(resources)) if first else (),
        alert=(first.alert_name or "") if first else "",
        subjects=resources,
        links=tuple(_runbooks(alerts)),
    )


def entities_of(alerts: Sequence[Alert]) -> tuple[str, ...]:
    """Names whose state is to be checked, the common cause of a storm first."""
    return tuple(dict.fromkeys(one.name for one in resources_of(alerts)))


def resources_of(alerts: Sequence[Alert]) -> tuple[Subject, ...]:
    """Of the alert to stay on, then of the others; a place that most of them share comes before them all."""
    found = [list(_resources(alert)) for alert in alerts]
    shared = _shared_place(alerts, found)
    ordered = [*([shared] if shared else []), *(one for resources in found for one in resources)]
    unique = {(one.kind, one.name): one for one in reversed(ordered)}
    kept = [unique[key] for key in dict.fromkeys((one.kind, one.name) for one in ordered)]
    names = list(dict.fromkeys(one.name for one in kept))[:MAX_NAMES]
    return tuple(one for one in kept if one.name in names)


def spoken(name: str) -> str:
    """KubePodNotReady → Kube Pod Not Ready."""
    return " ".join(_CAMEL.sub(" ", name).split())


def _terms(name: str, *, is_labelled: bool) -> tuple[str, ...]:
    """Words of the alert's name: where labels say whose it is, only what they say of how it ails."""
    terms = terms_of(spoken(name))
    return tuple(term for term in terms if term in COMPLAINTS) if is_labelled else terms


def _shared_place(alerts: Sequence[Alert], found: Sequence[Sequence[Subject]]) -> Subject | None:
    """The node or host of most alerts of a storm, or the one that an alert about a node is about."""
    if len(alerts) < 2:
        return None
    places = Counter(place for resources in found for place in {one for one in resources if one.kind in _WHERE})
    own = [
        one
        for alert, resources in zip(alerts, found, strict=True)
        for one in resources
        if one.kind in _WHERE and _OF_NODE.search(spoken(alert.alert_name or ""))
    ]
    best = max(places, key=lambda place: (place in own, places[place]), default=None)
    return best if best is not None and (places[best] > 1 or best in own) else None


def _resources(alert: Alert) -> Iterator[Subject]:
    stated = {key.lower(): value for key, value in {**_single_words(alert.annotations), **alert.labels}.items()}
    namespace = next((value for key, value in stated.items() if _NAMESPACE.match(key)), "")
    owner = next((value.lower() for key, value in stated.items() if _TYPE.match(key)), "")
    named: list[str] = []
    for kind, pattern in _LABELS:
        for key, value in stated.items():
            if pattern.match(key) and _NAME.match(value):
                named.append(value)
                yield from _kinds_of(kind, key, value, owner, namespace, alert)
    texts = f"{alert.alert_name or ''} {' '.join(alert.annotations.values())}"
    for node in dict.fromkeys(_NODE.findall(texts)):
        if node not in named:
            yield Subject("node", node, "")
    for pod in dict.fromkeys(_POD.findall(f"{texts} {'' if alert.annotations else alert.raw}")):
        if pod not in named:
            yield Subject("pod", pod, namespace)


def _kinds_of(role: str, key: str, value: str, owner: str, namespace: str, alert: Alert) -> Iterator[Subject]:
    """One resource, or one for each kind that it may be: monitors call a deployment a service."""
    if _POD.fullmatch(value):
        yield Subject("pod", value, namespace)
    elif role == "host":
        yield Subject("host", _PORT.sub("", value), namespace)
    elif role == "workload":
        said = re.search(_WORKLOADS, key)
        yield Subject(said[0] if said else owner or "deployment", value, namespace)
    elif role == "service" and namespace:
        kinds = [kind for word, kind in words().kinds.items() if word in spoken(alert.alert_name or "").lower().split()]
        yield from (Subject(kind, value, namespace) for kind in dict.fromkeys(kinds or [owner or "deployment", "pod"]))
    else:
        yield Subject(role, value, namespace)


def _single_words(annotations: dict[str, str]) -> dict[str, str]:
    """Annotations that hold a name are as good as labels."""
    return {key: value for key, value in annotations.items() if value and not any(mark.isspace() for mark in value)}


def _text(alert: Alert) -> str:
    name = alert.alert_name or ""
    told = [alert.annotations[key] for key in _TELLING_TEXTS if alert.annotations.get(key)]
    names = " ".join(one.name for one in _resources(alert))
    return " ".join(f"{name} {spoken(name)} {names} {' '.join(told)}".split())[:TEXT_CHARS]


def _window(alerts: Sequence[Alert], now: datetime, zone: ZoneInfo) -> Window | None:
    """From half an hour before the first start. Of an alert that fires for days the hours after its start: what began it
    stands there, and what is true now is asked of tools that know no window."""
    starts = [at for alert in alerts if (at := _moment(alert.starts_at, zone)) and at <= now]
    if not starts:
        return None
    start = min(starts)
    return Window(start - BEFORE, start + AFTER if now - start > LONG_FIRING else None)


def _moment(text: str | None, zone: ZoneInfo) -> datetime | None:
    try:
        at = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=zone)


def _runbooks(alerts: Sequence[Alert]) -> Iterator[str]:
    """Addresses of runbooks, of named hosts alone: an alert's text must not send a tool anywhere else."""
    for alert in alerts[:1]:
        told = [alert.links.get("runbook"), alert.annotations.get("runbook_url"), alert.annotations.get("runbook")]
        yield from dict.fromkeys(url for url in told if url and _URL.match(url))
