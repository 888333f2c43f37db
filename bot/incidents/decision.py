"""What one post makes of its channel's incidents. Reads and writes through the Book of a transaction that holds the channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from agents.contracts import Alert
from bot.alert_reading.parsed import Parsed
from bot.incidents import course, grouping
from bot.incidents.alert_post import AlertPost
from bot.incidents.course import Times
from bot.incidents.grouping import Topology
from bot.incidents.names import exclude, fingerprint_apart
from bot.incidents.stored import alert_of
from storage.incidents import Book, Incident, StoredAlert

EVER = 100 * 86_400.0
# In an incident of more alerts none is looked for that is told in other words.
MOST_LOOKED_AT = 60
What = Literal["opened", "joined", "repeated", "resolved", "reopened", "acknowledged", "flapping", "ignored"]
Outcome = tuple[Alert, str | None, What]


@dataclass
class Decision:
    """One post's. `incidents` are the channel's that matter, as decided so far."""

    book: Book
    post: AlertPost
    times: Times
    topology: Topology
    new_id: Callable[[], str]
    now: datetime
    incidents: dict[str, Incident] = field(default_factory=dict)
    _rows: dict[str, list[StoredAlert]] = field(default_factory=dict)
    _of_post: list[StoredAlert] = field(default_factory=list)
    _touched: set[str] = field(default_factory=set)
    _ends: dict[str, datetime] = field(default_factory=dict)
    _opened: str | None = None
    _is_single: bool = False

    def read(self, parsed: Parsed) -> None:
        at, times = self.post.at, self.times
        since = at - timedelta(seconds=max(times.reopen, times.cooldown))
        found = self.book.incidents(since, at - timedelta(seconds=times.stale))
        self.incidents = {one.incident_id: one for one in found if one.not_run_reason != course.DELETED}
        fingerprints = {each for alert in parsed.alerts for each in (alert.fingerprint, fingerprint_apart(alert))}
        self._ends = self.book.ends(fingerprints)
        for row in self.book.alerts_like(self.incidents, fingerprints):
            self._rows.setdefault(row.fingerprint, []).append(row)
        if self.post.update_of_ts:
            self._of_post = self.book.alerts_of_post(self.incidents, self.post.update_of_ts)
        self._is_single = len(parsed.alerts) == 1

    def take(self, alert: Alert, weight: int) -> Outcome:
        alert = self._told_apart(alert)
        row = self._known(alert)
        if alert.status == "resolved":
            return self._ended(alert, row)
        if alert.status == "acknowledged":
            return self._acknowledged(alert, row)
        if row is None:
            return self._unknown(alert, weight)
        incident = self.incidents[row.incident_id]
        if row.is_firing and incident.is_open:
            return self._again(alert, weight, row)
        if self.post.at < row.last_seen_at:
            return alert, row.incident_id, "ignored"  # it came late: the end of it was heard already
        return self._restarted(alert, weight, row)

    def save(self) -> None:
        for incident_id in self._touched:
            one = self.incidents[incident_id]
            if not self.post.is_edit and one.merged_into is None:
                one = replace(one, post_count=one.post_count + 1)
            if one.is_open and one.firing_count <= 0:
                one = course.closed(one, self.post.at)
            one = course.due_soon(one, self.now, self.times)
            self.incidents[incident_id] = one
            self.book.save(one)

    # ---------------------------------------------------------------- what fires

    def _unknown(self, alert: Alert, weight: int) -> Outcome:
        if self.post.at < self._ends.get(alert.fingerprint, self.post.at):
            return alert, None, "ignored"  # it came late: it is over by now
        near = self._kin(alert)
        if near:
            return self._joins(alert, weight, near)
        earlier = self._resting_kin(alert)
        if earlier is not None:
            return self._restarts(alert, weight, earlier, None)
        if self._opened is not None:
            # A post's alerts belong together: its sender grouped them, and they have one thread.
            return self._add(alert, weight, self.incidents[self._opened], "opened")
        return self._opens(alert, weight)

    def _opens(self, alert: Alert, weight: int) -> Outcome:
        place = (self.post.team, self.post.channel, self.post.thread_ts or self.post.said_in)
        made = course.opened(self.new_id(), place, alert, weight, self.post.at, self.times)
        previous = self.book.latest_with(alert.fingerprint)
        if previous is not None:
            made = replace(made, previous_id=previous.incident_id, occurrence=previous.occurrence + 1)
        self._opened = made.incident_id
        self._set(made)
        self.book.save(made)  # its alerts point at it
        self._write(alert, weight, made.incident_id)
        return alert, made.incident_id, "opened"

    def _joins(self, alert: Alert, weight: int, near: list[Incident]) -> Outcome:
        """Several incidents that one alert belongs to are one: those that nobody has looked at yet become part."""
        whole = min(near, key=lambda one: one.run_id is None)
        for part in near:
            if part is not whole and part.run_id is None:
                whole = self._merge(whole, part)
        return self._add(alert, weight, whole, "joined")

    def _add(self, alert: Alert, weight: int, to: Incident, what: What) -> Outcome:
        self._set(course.joined(to, alert, weight, self.post.at, self.times))
        self._write(alert, weight, to.incident_id)
        return alert, to.incident_id, what

    def _merge(self, whole: Incident, part: Incident) -> Incident:
        whole, gone = course.merged(whole, part, self.post.at)
        self._set(whole)
        self._set(gone)
        self.book.move_alerts(part.incident_id, whole.incident_id)
        for fingerprint, rows in self._rows.items():
            self._rows[fingerprint] = [_moved(row, part.incident_id, whole.incident_id) for row in rows]
        self._of_post = [_moved(row, part.incident_id, whole.incident_id) for row in self._of_post]
        if self._opened == part.incident_id:
            self._opened = whole.incident_id
        return whole

    def _again(self, alert: Alert, weight: int, row: StoredAlert) -> Outcome:
        incident = course.described(self.incidents[row.incident_id], alert, self.post.at, self.times)
        most = max(row.most, weight)
        self._set(
            replace(
                incident,
                firing_count=incident.firing_count + weight - row.weight,
                alert_count=incident.alert_count + most - row.most,
            )
        )
        self._write(alert, weight, row.incident_id, row)
        return alert, row.incident_id, "repeated"

    def _restarted(self, alert: Alert, weight: int, row: StoredAlert) -> Outcome:
        """It had ended: while others of its incident fire it joins them again, else the incident begins anew."""
        incident = self.incidents[row.incident_id]
        if not incident.is_open:
            return self._restarts(alert, weight, incident, row)
        again = course.turned(course.described(incident, alert, self.post.at, self.times), self.post.at, self.times)
        self._count_in(again, weight, row)
        self._write(alert, weight, row.incident_id, row)
        return alert, row.incident_id, "flapping" if course.is_flapping(again, self.times) else "joined"

    def _restarts(self, alert: Alert, weight: int, incident: Incident, row: StoredAlert | None) -> Outcome:
        begun = course.reopened(incident, self.post.at, self.times, unseen=not course.knows(incident, alert))
        begun = course.described(begun, alert, self.post.at, self.times)
        self._count_in(begun, weight, row)
        self._write(alert, weight, incident.incident_id, row)
        return alert, incident.incident_id, "flapping" if course.is_flapping(begun, self.times) else "reopened"

    def _count_in(self, incident: Incident, weight: int, row: StoredAlert | None) -> None:
        most = 0 if row is None else row.most
        self._set(
            replace(
                incident,
                firing_count=incident.firing_count + weight,
                alert_count=incident.alert_count + max(most, weight) - most,
            )
        )

    # ---------------------------------------------------------------- what has ended, what is taken care of

    def _ended(self, alert: Alert, row: StoredAlert | None) -> Outcome:
        if row is None:
            self.book.note_end(alert.fingerprint, self.post.at)
        if row is None or not row.is_firing or self.post.at < row.last_seen_at:
            # Never heard of, over already, or it has fired again since.
            return alert, None if row is None else row.incident_id, "ignored"
        incident = self.incidents[row.incident_id]
        at = max(self.post.at, incident.last_seen_at)
        self._set(replace(incident, firing_count=incident.firing_count - row.weight, last_seen_at=at))
        ended = replace(row, status="resolved", weight=0, resolved_at=self.post.at, last_seen_at=at)
        self._keep(replace(ended, document=_kept_document(row, alert), last_ts=self.post.said_in))
        return alert, row.incident_id, "resolved"

    def _acknowledged(self, alert: Alert, row: StoredAlert | None) -> Outcome:
        if row is None or not row.is_firing:
            return alert, None if row is None else row.incident_id, "ignored"
        incident = self.incidents[row.incident_id]
        self._set(replace(incident, last_seen_at=max(self.post.at, incident.last_seen_at)))
        self._keep(replace(row, status="acknowledged", document=_kept_document(row, alert), last_ts=self.post.said_in))
        return alert, row.incident_id, "acknowledged"

    # ---------------------------------------------------------------- finding

    def _told_apart(self, alert: Alert) -> Alert:
        """A title without keys names its group alone. Where it and one that is known each hold a value that the other has
        not, they are of two alerts; where one only says less, its group has grown."""
        apart = fingerprint_apart(alert)
        known = [row for row in self._rows.get(alert.fingerprint, ()) if self._counts(row)]
        if self._rows.get(apart) or any(exclude(alert, alert_of(row)) for row in known):
            return alert.model_copy(update={"fingerprint": apart})
        return alert

    def _known(self, alert: Alert) -> StoredAlert | None:
        """The alert's own row: by its fingerprint, else the one alert of the post that this is an update of."""
        rows = [row for row in self._rows.get(alert.fingerprint, ()) if self._counts(row)]
        if rows:
            return max(rows, key=lambda row: (self.incidents[row.incident_id].is_open, row.is_firing, row.last_seen_at))
        if not self._is_single:
            return None
        same = [row for row in self._of_post if self._counts(row) and row.document.get("sender") == alert.sender]
        if not same:
            return self._told_otherwise(alert)
        named = [row for row in same if row.document.get("alert_name") == alert.alert_name]
        if len(named) != 1 and (len(same) != 1 or not self.post.is_edit):
            return None
        row = (named if len(named) == 1 else same)[0]
        return self._renamed(row, alert.fingerprint)

    def _told_otherwise(self, alert: Alert) -> StoredAlert | None:
        """The one alert that fires and is this one in other words: its sender's template was changed meanwhile."""
        open_ones = [one for one in self.incidents.values() if one.is_open and one.merged_into is None]
        asked = [one for one in open_ones if course.knows(one, alert) and one.alert_count <= MOST_LOOKED_AT]
        asked = grouping.kin(alert, self.post.at, asked, self._at_any_time, self.topology)
        rows = [row for one in asked for row in self.book.alerts(one.incident_id) if row.is_firing and self._counts(row)]
        same = [row for row in rows if grouping.is_told_otherwise(alert, alert_of(row))]
        return self._renamed(same[0], alert.fingerprint) if len(same) == 1 else None

    def _renamed(self, row: StoredAlert, fingerprint: str) -> StoredAlert:
        """An update that calls the alert otherwise (a worse severity among its labels): further ones will, too."""
        incident = self.incidents[row.incident_id]
        if incident.lead == row.fingerprint:
            self._set(replace(incident, lead=fingerprint))
        renamed = self.book.rename_alert(row, fingerprint)
        self._rows.setdefault(fingerprint, []).append(renamed)
        return renamed

    def _counts(self, row: StoredAlert) -> bool:
        """Whether its incident may still change: it is open and not stale, or has just ended."""
        incident = self.incidents.get(row.incident_id)
        if incident is None or incident.merged_into is not None:
            return False
        if incident.is_open:
            return not course.is_stale(incident, self.post.at, self.times)
        return course.may_reopen(incident, self.post.at, self.times)

    def _kin(self, alert: Alert) -> list[Incident]:
        is_open = [one for one in self.incidents.values() if one.is_open and one.merged_into is None]
        in_thread = [one for one in is_open if one.root_ts == self.post.thread_ts]
        # Those of this very post stand under it anyway.
        return in_thread or grouping.kin(alert, self.post.at, is_open, self.times, self.topology)

    def _resting_kin(self, alert: Alert) -> Incident | None:
        """An incident that has just ended and had an alert of this name on the same thing."""
        ended = [one for one in self.incidents.values() if not one.is_open and one.merged_into is None]
        ended = [one for one in ended if course.may_reopen(one, self.post.at, self.times) and course.knows(one, alert)]
        found = grouping.kin(alert, self.post.at, ended, self._at_any_time, self.topology)
        return found[-1] if found else None

    @property
    def _at_any_time(self) -> Times:
        return replace(self.times, window=EVER, horizon=EVER)

    # ---------------------------------------------------------------- keeping

    def _set(self, incident: Incident) -> None:
        self.incidents[incident.incident_id] = incident
        self._touched.add(incident.incident_id)

    def _write(self, alert: Alert, weight: int, incident_id: str, row: StoredAlert | None = None) -> None:
        at, ts = self.post.at, self.post.said_in
        document = alert.model_dump(mode="json")
        if row is None:
            made = StoredAlert(incident_id, alert.fingerprint, alert.status, document, ts, ts, weight, weight, at, at)
        else:
            seen, most = max(at, row.last_seen_at), max(row.most, weight)
            kept = replace(row, status=alert.status, document=document, last_ts=ts, resolved_at=None)
            made = replace(kept, weight=weight, most=most, last_seen_at=seen)
        self._keep(made)

    def _keep(self, row: StoredAlert) -> None:
        self.book.save_alert(row)
        rows = [one for one in self._rows.get(row.fingerprint, ()) if one.incident_id != row.incident_id]
        self._rows[row.fingerprint] = [*rows, row]


def _moved(row: StoredAlert, from_id: str, to_id: str) -> StoredAlert:
    return replace(row, incident_id=to_id) if row.incident_id == from_id else row


def _kept_document(row: StoredAlert, alert: Alert) -> Mapping[str, object]:
    """What fired is what the first posts said; a notice that it ended adds when, and what was true at the end."""
    now = {"status": alert.status, "ends_at": alert.ends_at or row.document.get("ends_at")}
    return dict(row.document) | now | ({"value": alert.value} if alert.status == "resolved" else {})
