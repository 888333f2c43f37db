"""What an alert names: services, machines, places. Two alerts that name the same are near each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from agents.contracts import Alert


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


# More than that of a kind is a storm: further names bring nothing.
MOST = 200
MAX_TEXT = 4_000
SERVICE_KEYS = _all(
    "service service_name servicename app application app_kubernetes_io_name deployment statefulset daemonset workload"
    " workload_name monitor monitor_name endpoint check project function functionname queue queuename topic database"
    " db_instance dbinstanceidentifier subject"
)
HOST_KEYS = _all(
    "host hostname host_name instance instance_id instanceid node nodename node_name kubernetes_node server machine vm device ip"
    " host_ip exported_instance"
)
POD_KEYS = _all("pod pod_name podname")
PLACE_KEYS = {
    "namespace": "namespace",
    "exported_namespace": "namespace",
    "kubernetes_namespace": "namespace",
    "cluster": "cluster",
    "cluster_name": "cluster",
}
# Jobs that watch a whole fleet say nothing of what is ill; those that speak for others give their own address.
FLEET_JOB = re.compile(
    r"node|node[-_]exporter|kubelet|kubernetes[-_].*|cadvisor|.*kube[-_]state[-_]metrics.*|ksm|push-?gateway|federate|"
    r"blackbox.*|.*[-_]exporter|prometheus.*|integrations/.*|windows|snmp.*"
)
SPEAKS_FOR_OTHERS = re.compile(r".*kube[-_]state[-_]metrics.*|ksm|push-?gateway|federate|blackbox.*|.*cloudwatch.*|snmp.*")
POD_TAIL = re.compile(r"(?:-[a-z0-9]{6,10})?-[a-z0-9]{5}\Z|-\d{1,4}\Z")
SERVICE_TAIL = re.compile(r"[-_.](?:service|svc)\Z")
PORT = re.compile(r":\d{1,5}\Z")
ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:]+")
URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://\S*", re.IGNORECASE)
WORD = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?")
# worker-7, ip-10-0-1-5.ec2.internal, db03, 10.0.4.17; neither p95, 2026-11-30, 1.2.3 nor a region.
MACHINE = re.compile(r"(?=[^\d]*\d)(?=.*[a-z])[a-z0-9]+(?:[-.][a-z0-9]+)+|[a-z]{2,}\d{1,4}|\d{1,3}(?:\.\d{1,3}){3}")
NO_MACHINE = re.compile(
    r"(?:us|eu|ap|sa|ca|me|af|cn|il)-(?:gov-)?[a-z]+-?\d[a-z]?|v?\d+(?:\.\d+){1,2}(?:[-+].*)?|\d+(?:\.\d+)?[a-z%]+|"
    r"(?:http|utf|sha|ipv|md|sev|prio|log)-?\d{1,3}|(?!db)[a-z]{1,2}\d{1,4}[a-z]?|[a-z]-\d+|\d{4}-\d\d-\d\d.*"
)
# Alertmanager's own title gives values without their names: [FIRING:1] HighErrorRate (checkout shop critical).
TITLE = re.compile(r"\[(?:firing|resolved)[^\]]{0,20}\]\s*([^(\n]{0,300})(?:\(([^)\n]{0,500})\))?", re.IGNORECASE)
SAYS_NOTHING = _all(
    "critical high error major warning average medium minor info low none page disaster emergency prod production prd staging stage"
    " stg dev development test testing qa uat live default kube-system monitoring true false"
)
NODE_ALERT = re.compile(
    r"(?:node|host|machine|server|kubelet|instance|vm\b|hypervisor|主机|节点|服务器|机器|ノード|サーバ|ホスト|узел|хост|сервер)"
    r".{0,40}?(?:down|not[\s_-]?ready|unreachable|offline|unavailable|missing|disappeared|reboot|restart|lost|dead|crash|"
    r"unresponsive|no response|宕机|失联|不可达|离线|掉线|ダウン|停止|недоступ|не отвечает|упал)"
    r"|(?:down|unreachable|lost|offline|宕机).{0,20}?(?:node|host|machine|server|主机|节点)"
    r"|ping (?:loss|failed)|zabbix agent is not available|unavailable by icmp",
    re.IGNORECASE | re.DOTALL,
)


KINDS = ("services", "hosts", "places", "words", "values")


@dataclass(frozen=True)
class Names:
    """Folded to lower case. `hosts` are what labels call a machine, `words` what looks like one in the alert's text;
    `places` hold a namespace or cluster with its key; `values` are those of a title that leaves the keys out; `is_node`
    where the alert is about a machine as a whole."""

    services: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    is_node: bool = False

    def stored(self) -> dict[str, object]:
        return {**{kind: sorted(getattr(self, kind)) for kind in KINDS}, "is_node": self.is_node}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Names:
        kinds = {kind: frozenset(stored.get(kind, ())) for kind in KINDS}
        return cls(**kinds, is_node=bool(stored.get("is_node")))

    def __or__(self, other: Names) -> Names:
        kinds = {kind: _some(getattr(self, kind), getattr(other, kind)) for kind in KINDS}
        return Names(**kinds, is_node=self.is_node or other.is_node)

    @property
    def machines(self) -> frozenset[str]:
        """Those that other alerts may speak of: named by a label, or by the text of an alert about a machine."""
        return self.hosts | (self.words if self.is_node and not self.hosts else frozenset())


def names_of(alert: Alert) -> Names:
    labels = {_key(key): value.lower().strip() for key, value in alert.labels.items()}
    job = labels.get("job", "")
    services = {_service(value) for key, value in labels.items() if key in SERVICE_KEYS}
    services |= {POD_TAIL.sub("", value) for key, value in labels.items() if key in POD_KEYS}
    if job and not FLEET_JOB.fullmatch(job):
        services.add(_service(job.rpartition("/")[2]))
    hosts = {_host(value) for key, value in labels.items() if key in HOST_KEYS and not _is_anothers(key, job)}
    places = {f"{kind}={labels[key]}" for key, kind in PLACE_KEYS.items() if key in labels}
    is_node = bool(NODE_ALERT.search(f"{alert.alert_name or ''} {_first_line(alert.raw)}"[:500]))
    kinds = (_clean(services), _clean(hosts), _clean(places), _machines_in(alert), _values(alert))
    return Names(*kinds, is_node=is_node)


def subject_of(alert: Alert) -> str | None:
    """What the alert is about, as it writes it: the machine of an alert about one, else the service, else a machine."""
    names = names_of(alert)
    machines = [value for key, value in alert.labels.items() if _host(value.lower()) in names.hosts and key.lower() != "ip"]
    services = [value for key, value in alert.labels.items() if _key(key) in SERVICE_KEYS]
    text = WORD.findall(_text(alert)) if names.is_node and not machines else []
    words = [word for word in dict.fromkeys(text) if word in names.words]
    order = [*machines, *words, *services] if names.is_node else [*services, *machines]
    return PORT.sub("", order[0].strip()) if order else None


def same_machine(some: Iterable[str], others: frozenset[str]) -> bool:
    """Whether one of them is in both; a short name is that of a long one (db-1, db-1.eu.example)."""
    short = {name.partition(".")[0] for name in others if not ADDRESS.fullmatch(name)}
    for name in some:
        if name in others or ("." not in name and name in short):
            return True
        if not ADDRESS.fullmatch(name) and name.partition(".")[0] in others:
            return True
    return False


def forms_of(name: str) -> frozenset[str]:
    """A service's or machine's name as alerts' names are kept: folded, and without "-service" or a port."""
    folded = name.strip().lower()
    return frozenset({folded, SERVICE_TAIL.sub("", folded), _host(folded)})


def names_it(text: str, name: str) -> bool:
    """Whether the text says this name, on its own or as the first part of a word (checkout in CheckoutSlow): web-12 does not
    name web-1."""
    return re.search(rf"(?<![a-z0-9]){re.escape(name.lower())}(?![0-9]|[-.:]\w)", text.lower()) is not None


def _key(label: str) -> str:
    return label.lower().replace(".", "_").replace("-", "_")


def _is_anothers(key: str, job: str) -> bool:
    """The address of who watches, not of what is watched."""
    return key == "instance" and bool(job) and bool(SPEAKS_FOR_OTHERS.fullmatch(job))


def _service(value: str) -> str:
    return SERVICE_TAIL.sub("", POD_TAIL.sub("", value) if value.count("-") >= 2 else value)


def _host(value: str) -> str:
    without = URL.sub(lambda match: match[0].partition("://")[2].partition("/")[0], value.strip())
    return PORT.sub("", without) if without.count(":") == 1 else without


def _text(alert: Alert) -> str:
    parts = [alert.alert_name or "", *alert.annotations.values(), *alert.labels.values(), alert.raw]
    return URL.sub(" ", " ".join(parts)[:MAX_TEXT]).lower()


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _machines_in(alert: Alert) -> frozenset[str]:
    """An alert that is called node-down-5m names no machine with that."""
    name = (alert.alert_name or "").lower()
    found = {word for word in WORD.findall(_text(alert)) if MACHINE.fullmatch(word) and not NO_MACHINE.fullmatch(word)}
    return _clean(found - {name} if NODE_ALERT.search(name) else found)


def _values(alert: Alert) -> frozenset[str]:
    return _clean({SERVICE_TAIL.sub("", word) for word in title_values(alert)})


def title_values(alert: Alert) -> frozenset[str]:
    """The values of a title that leaves the keys out, as they stand there, folded to lower case."""
    if set(alert.labels) - {"alertname", "severity"}:
        return frozenset()
    title = TITLE.search(_first_line(alert.raw)[:1_000])
    if title is None:
        return frozenset()
    said = f" {title[1]} {title[2] or ''} ".lower()
    if alert.alert_name:
        # The whole name alone: in "DiskFull (diskfull-svc)" the service is not cut.
        said = re.sub(rf"(?<=\s){re.escape(alert.alert_name.lower().strip())}(?=[\s:,;])", " ", said)
    words = {word.strip(",;:") for word in said.split()}
    return _clean({word for word in words if word not in SAYS_NOTHING and not FLEET_JOB.fullmatch(word)})


def exclude(one: Alert, other: Alert) -> bool:
    """Whether the titles of two alerts each hold a value that the other's has not."""
    ours, theirs = title_values(one), title_values(other)
    return bool(ours - theirs and theirs - ours)


def fingerprint_apart(alert: Alert) -> str:
    """That of the alert among others of its title's group: made of the values as well. Its own where there are none."""
    values = title_values(alert)
    if not values:
        return alert.fingerprint
    return sha256("\n".join([alert.fingerprint, *sorted(values)]).encode()).hexdigest()[:16]


def _clean(names: set[str]) -> frozenset[str]:
    return frozenset(sorted(name[:200] for name in names if name)[:MOST])


def _some(ours: frozenset[str], theirs: frozenset[str]) -> frozenset[str]:
    both = ours | theirs
    return both if len(both) <= MOST else ours
