"""Which incidents an alert belongs to: what near things share, and what is known to hang together. Values in, values out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents.contracts import Alert
from bot.incidents.course import Times, is_resting, knows, names_in
from bot.incidents.names import Names, forms_of, names_of, same_machine
from storage.incidents import Incident

# A value that stands in most of at least so many incidents (a cluster, an environment) tells none from another.
COMMON_AMONG = 4


@dataclass(frozen=True)
class Topology:
    """What is known to hang together: each name's neighbours, in lower case and both ways."""

    near: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, neighbours: Mapping[str, Iterable[str]]) -> Topology:
        """As an operator writes it down: one way, and a service with or without its "-service"."""
        near: dict[str, set[str]] = {}
        for name, others in neighbours.items():
            for other in others:
                ours, theirs = forms_of(name), forms_of(other)
                for one in ours:
                    near.setdefault(one, set()).update(theirs)
                for one in theirs:
                    near.setdefault(one, set()).update(ours)
        return cls({name: frozenset(others) for name, others in near.items()})

    def connects(self, one: Names, other: Names) -> bool:
        theirs = other.services | other.hosts | other.values
        return any(self.near.get(name, frozenset()) & theirs for name in one.services | one.hosts | one.values)


def kin(alert: Alert, at: datetime, incidents: Iterable[Incident], times: Times, topology: Topology = Topology()) -> list[Incident]:
    """Those of these incidents that the alert belongs to, in their order: near in time, or just reported with an alert of
    this name."""
    known, names = list(incidents), names_of(alert)
    common = common_values(known)
    near = [one for one in known if _is_near(one, at, times) or (knows(one, alert) and is_resting(one, at, times))]
    return [one for one in near if related(names, names_in(one), knows(one, alert), common, topology)]


def related(
    one: Names, other: Names, same_alert: bool, common: frozenset[str] = frozenset(), topology: Topology = Topology()
) -> bool:
    """Whether both name one service or machine, one speaks of the other's machine, or the topology connects them. One
    namespace alone is enough only for the same alert, where nothing tells them apart."""
    if one.services & other.services or same_machine(one.hosts, other.hosts):
        return True
    if same_machine(one.machines, other.hosts | other.words) or same_machine(other.machines, one.hosts | one.words):
        return True
    if _share_values(one, other, common) or topology.connects(one, other):
        return True
    apart = (one.services and other.services) or (one.hosts and other.hosts)
    return bool(same_alert and one.places & other.places and not apart)


def common_values(incidents: Sequence[Incident]) -> frozenset[str]:
    """What stands in most of them, so that sharing it means nothing."""
    found = [names_in(one).values for one in incidents]
    found = [values for values in found if values]
    if len(found) < COMMON_AMONG:
        return frozenset()
    return frozenset(
        value for value in frozenset().union(*found) if 2 * sum(value in values for values in found) > len(found)
    )


def is_told_otherwise(one: Alert, other: Alert) -> bool:
    """Whether both are one alert of a sender, whose posts have given more of its labels, or only their values, since."""
    if (one.sender, one.alert_name) != (other.sender, other.alert_name):
        return False
    ours, theirs = _telling_labels(one), _telling_labels(other)
    if any(ours[key] != theirs[key] for key in ours.keys() & theirs.keys()):
        return False
    said, says = {*ours.values(), *names_of(one).values}, {*theirs.values(), *names_of(other).values}
    return bool(said and says) and (said <= says or says <= said)


def _is_near(incident: Incident, at: datetime, times: Times) -> bool:
    """A post may come late: its distance counts, not which was first."""
    since_growth, since_start = abs(at - incident.grown_at), abs(at - incident.opened_at)
    return since_growth <= timedelta(seconds=times.window) and since_start <= timedelta(seconds=times.horizon)


def _share_values(one: Names, other: Names, common: frozenset[str]) -> bool:
    ours, theirs = one.values - common, other.values - common
    return bool(ours & theirs or ours & (other.services | other.hosts) or theirs & (one.services | one.hosts))


def _telling_labels(alert: Alert) -> dict[str, str]:
    return {key.lower(): value.lower() for key, value in alert.labels.items() if key.lower() not in ("alertname", "severity")}
