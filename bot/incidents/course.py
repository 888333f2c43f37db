"""An incident's course: how its alerts change it, when it is looked at, and what it is called. Values in, values out: no clock, no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from agents.contracts import Alert
from bot.incidents.names import Names, names_it, names_of, subject_of, title_values
from storage.incidents import Incident

MAX_NAMES = 200
TITLE_CHARS = 160
RANKS = {"critical": 0, "high": 1, "warning": 2, None: 3, "info": 4}
COOLDOWN, DELETED = "cooldown", "deleted"
# What keeps a run away only for as long as people want it: what still fires then is looked at.
PASSING = frozenset({"muted", "unwatched", "no_trial_channel"})


@dataclass(frozen=True)
class Times:
    """Seconds. Alerts group within `window` of the last one that joined and `horizon` of the first; a run may start
    `debounce` after the start (`debounce_critical` where it is critical). A new start within `reopen` of the end goes on in
    the same thread; within `cooldown` of a report it starts no run. `flap_turns` new starts within `flap` are flapping. An open
    incident of which nothing was heard for `stale` takes no more alerts, and is over soon."""

    window: float = 600
    horizon: float = 3_600
    debounce: float = 20
    debounce_critical: float = 5
    reopen: float = 1_800
    cooldown: float = 1_800
    flap: float = 1_800
    flap_turns: int = 3
    stale: float = 86_400


def opened(incident_id: str, place: tuple[str, str, str], alert: Alert, weight: int, at: datetime, times: Times) -> Incident:
    """A new incident of one alert. `place` is team, channel and the post whose thread is the incident's."""
    team, channel, root_ts = place
    made = Incident(
        incident_id=incident_id, occurrence=1, team=team, channel=channel, root_ts=root_ts, status="open", title="",
        severity=None, lead="", entities={}, alert_count=0, post_count=0, firing_count=0, opened_at=at, last_seen_at=at,
        grown_at=at,
    )  # fmt: skip
    return joined(made, alert, weight, at, times)


def joined(incident: Incident, alert: Alert, weight: int, at: datetime, times: Times) -> Incident:
    """With one more alert, which stands for `weight`."""
    return replace(
        described(incident, alert, at, times),
        alert_count=incident.alert_count + weight,
        firing_count=incident.firing_count + weight,
        grown_at=max(at, incident.grown_at),
    )


def described(incident: Incident, alert: Alert, at: datetime, times: Times) -> Incident:
    """Its title, severity and names with what this alert says now. A worse severity brings its run forward; where its report
    stands already, an alert that it has not seen and that makes it worse is looked at as well."""
    before = incident.entities
    rank = [0 if _is_about_a_machine(alert) else 1, RANKS[alert.severity]]
    leads = not incident.lead or rank < list(before["rank"])
    subject = subject_of(alert) if leads else None
    entities: dict[str, Any] = {
        **(names_in(incident) | names_of(alert)).stored(),
        "alerts": _with(before.get("alerts", []), alert.alert_name),
        "rank": rank if leads else before["rank"],
        "name": _name(alert, subject) if leads else before["name"],
        "subject": subject if leads else before["subject"],
    }
    worse = RANKS[alert.severity] < RANKS[incident.severity]
    severity = alert.severity if worse else incident.severity
    changed = replace(
        incident,
        severity=severity,
        lead=alert.fingerprint if leads else incident.lead,
        entities=entities,
        title=title_of(entities),
        last_seen_at=max(at, incident.last_seen_at),
    )
    passing = incident.not_run_reason in PASSING
    if incident.lead and not worse and not passing:
        return changed
    grave = worse and severity in ("critical", "high")
    if grave and not knows(incident, alert) and incident.run_id is not None and not _is_running(incident):
        changed = replace(changed, run_id=None, placed_at=None, due_at=None)
    return _to_be_looked_at(changed, at, times, again=grave or passing)


def reopened(incident: Incident, at: datetime, times: Times, *, unseen: bool) -> Incident:
    """Its next occurrence in the same thread. A report that is fresh, or on its way, serves it as well, unless an alert has
    come that was not among the earlier ones."""
    begun = replace(incident, occurrence=incident.occurrence + 1, status="open", opened_at=at, grown_at=at, resolved_at=None)
    turned_once = turned(begun, at, times)
    if _is_running(incident):
        # Due for the case that its place was taken and nobody made the run.
        return replace(turned_once, due_at=at + timedelta(seconds=times.debounce))
    anew = replace(turned_once, run_id=None, placed_at=None, not_run_reason=None, due_at=None, queue_position=None)
    if not unseen and is_resting(incident, at, times):
        return replace(anew, not_run_reason=COOLDOWN)
    return _to_be_looked_at(anew, at, times, again=False)


def turned(incident: Incident, at: datetime, times: Times) -> Incident:
    """An alert of it has resolved and fires again."""
    since = (at - timedelta(seconds=times.flap)).isoformat()
    turns = tuple(turn for turn in (*incident.turns, at.isoformat()) if turn >= since)
    return replace(incident, turns=turns, flaps=len(turns))


def due_soon(incident: Incident, now: datetime, times: Times) -> Incident:
    """Due within the debounce by our own clock too: where that is behind Slack's, no alert waits for the difference."""
    latest = now + timedelta(seconds=max(times.debounce, times.debounce_critical))
    is_far = incident.due_at is not None and incident.due_at > latest
    return replace(incident, due_at=latest) if is_far else incident


def closed(incident: Incident, at: datetime) -> Incident:
    """Nothing of it fires any more."""
    return replace(incident, status="resolved", resolved_at=at, firing_count=0, due_at=None, queue_position=None)


def merged(into: Incident, part: Incident, at: datetime) -> tuple[Incident, Incident]:
    """Both turned out to be one: the whole, and the part as it is closed."""
    ours, theirs = into.entities, part.entities
    leads = list(theirs["rank"]) < list(ours["rank"])
    first = theirs if leads else ours
    alerts = list(ours["alerts"])
    for name in theirs["alerts"]:
        alerts = _with(alerts, name)
    entities = {**(names_in(into) | names_in(part)).stored(), "alerts": alerts}
    entities |= {key: first[key] for key in ("rank", "name", "subject")}
    dues = [due for due in (into.due_at, part.due_at) if due is not None]
    whole = replace(
        into,
        entities=entities,
        title=title_of(entities),
        lead=part.lead if leads else into.lead,
        severity=min(into.severity, part.severity, key=lambda name: RANKS[name]),
        alert_count=into.alert_count + part.alert_count,
        firing_count=into.firing_count + part.firing_count,
        post_count=into.post_count + part.post_count,
        opened_at=min(into.opened_at, part.opened_at),
        last_seen_at=max(into.last_seen_at, part.last_seen_at),
        grown_at=max(into.grown_at, part.grown_at),
        due_at=min(dues) if dues and into.run_id is None and into.not_run_reason is None else into.due_at,
    )
    return whole, replace(closed(part, at), merged_into=into.incident_id)


def is_flapping(incident: Incident, times: Times) -> bool:
    return incident.flaps >= times.flap_turns


def may_reopen(incident: Incident, at: datetime, times: Times) -> bool:
    """Whether a new start goes on in its thread."""
    ended = incident.resolved_at
    return ended is not None and at - ended <= timedelta(seconds=times.reopen)


def is_stale(incident: Incident, at: datetime, times: Times) -> bool:
    return at - incident.last_seen_at > timedelta(seconds=times.stale)


def knows(incident: Incident, alert: Alert) -> bool:
    """Whether an alert of this name is, or was, among its own."""
    return alert.alert_name in _alert_names(incident)


def is_resting(incident: Incident, at: datetime, times: Times) -> bool:
    """Whether its report is fresh enough to serve a new start as well."""
    return incident.reported_at is not None and at - incident.reported_at < timedelta(seconds=times.cooldown)


def names_in(incident: Incident) -> Names:
    """All that its alerts name."""
    return Names.read(incident.entities)


def title_of(entities: Mapping[str, Any]) -> str:
    """What it is about, then the alert to stay on: the machine where the alert is about one, or where different alerts
    of several services name no other one."""
    names, subject = Names.read(entities), entities["subject"]
    if entities["rank"][0] and len(entities["alerts"]) > 2 and len(names.hosts) == 1 and len(names.services) != 1:
        subject = next(iter(names.hosts))
    name = str(entities["name"])
    whole = f"{subject}: {name}" if subject and not names_it(name, subject) else name
    return whole if len(whole) <= TITLE_CHARS else f"{whole[: TITLE_CHARS - 1].rstrip()}…"


# ---------------------------------------------------------------- parts


def _to_be_looked_at(incident: Incident, at: datetime, times: Times, *, again: bool) -> Incident:
    """`again`: also where it was decided not to look, since it has become worse."""
    if incident.run_id is not None or (incident.not_run_reason is not None and not again):
        return incident
    wait = times.debounce_critical if incident.severity == "critical" else times.debounce
    due = at + timedelta(seconds=wait)
    if incident.due_at is not None and incident.not_run_reason is None:
        due = min(due, incident.due_at)
    return replace(incident, due_at=due, not_run_reason=None)


def _is_running(incident: Incident) -> bool:
    reported, placed = incident.reported_at, incident.placed_at
    return incident.run_id is not None and (reported is None or (placed is not None and reported < placed))


def _is_about_a_machine(alert: Alert) -> bool:
    names = names_of(alert)
    return names.is_node and bool(names.machines)


def _name(alert: Alert, subject: str | None) -> str:
    """Where nothing says what it is about, with the values that its title gives without their names."""
    name = alert.alert_name or " ".join(alert.raw.split())[:80] or alert.sender
    values = () if subject else sorted(title_values(alert))[:3]
    return f"{name} ({' '.join(values)})" if values else name


def _alert_names(incident: Incident) -> list[str | None]:
    return list(incident.entities.get("alerts", ()))


def _with(names: Sequence[str | None], name: str | None) -> list[str | None]:
    return list(names) if name in names or len(names) >= MAX_NAMES else [*names, name]
