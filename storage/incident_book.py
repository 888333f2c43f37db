"""One channel's incidents inside a transaction that holds the channel."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, fields, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Select, and_, insert, or_, select, update

from storage import incidents_sql as sql
from storage.incident_records import Incident, StoredAlert
from storage.models_incidents import alert, incident
from storage.models_slack import slack_event
from storage.types import database_now

row = incident.c
# What others write meanwhile, and only a statement of their own may change.
OTHERS = frozenset({"told", "told_dirty", "changes"})


class Book:
    """Given out by `IncidentStore.decide`. What it has read stays as it is until the transaction ends."""

    def __init__(self, connection: Connection, team: str, channel: str) -> None:
        self._connection, self._team, self._channel = connection, team, channel
        self._read: dict[str, Incident] = {}

    def is_new(self, key: str) -> bool:
        """False where this delivery was decided before. The key is kept, and nothing else of the event."""
        known = select(slack_event.c.event_key).where(slack_event.c.event_key == key)
        if self._connection.execute(known).first() is not None:
            return False
        self._connection.execute(insert(slack_event).values(event_key=key, seen_at=database_now()))
        return True

    def was_taken_away(self, ts: str) -> bool:
        """Whether the post's deletion was heard of already."""
        known = select(slack_event.c.event_key).where(slack_event.c.event_key == gone_key(self._team, self._channel, ts))
        return self._connection.execute(known).first() is not None

    def note_end(self, fingerprint: str, at: datetime) -> None:
        """An alert that nobody knows is said to be over: the post that said it began may come late."""
        key = self._end_key(fingerprint)
        if not self._connection.execute(update(slack_event).where(slack_event.c.event_key == key).values(seen_at=at)).rowcount:
            self._connection.execute(insert(slack_event).values(event_key=key, seen_at=at))

    def ends(self, fingerprints: Collection[str]) -> dict[str, datetime]:
        """When those of these alerts ended that nobody knew then."""
        keys = {self._end_key(fingerprint): fingerprint for fingerprint in fingerprints}
        found = select(slack_event.c.event_key, slack_event.c.seen_at).where(slack_event.c.event_key.in_(list(keys)))
        return {keys[key]: at for key, at in self._connection.execute(found)}

    def incidents(self, since: datetime, open_since: datetime) -> list[Incident]:
        """Those that were spoken of since, and for open ones since `open_since`; oldest first."""
        recent = or_(row.last_seen_at >= since, and_(row.status == "open", row.last_seen_at >= open_since))
        return self._incidents(sql.INCIDENTS.where(self._here, recent, row.merged_into.is_(None)).order_by(row.id))

    def incident(self, incident_id: str) -> Incident:
        return self._incidents(sql.INCIDENTS.where(row.incident_id == incident_id))[0]

    def rooted_at(self, ts: str) -> list[Incident]:
        """Those whose thread is the post's; oldest first."""
        return self._incidents(sql.INCIDENTS.where(self._here, row.root_ts == ts, row.merged_into.is_(None)).order_by(row.id))

    def alerts(self, incident_id: str) -> list[StoredAlert]:
        """In the order in which they came."""
        return self._alerts(sql.ALERTS.where(alert.c.incident_id == incident_id))

    def alerts_like(self, incident_ids: Collection[str], fingerprints: Collection[str]) -> list[StoredAlert]:
        """Those of these incidents that have one of these fingerprints."""
        like = and_(alert.c.incident_id.in_(list(incident_ids)), alert.c.fingerprint.in_(list(fingerprints)))
        return self._alerts(sql.ALERTS.where(like))

    def latest_with(self, fingerprint: str) -> Incident | None:
        """The incident that had the alert last, however long ago."""
        had = select(alert.c.incident_id).where(self._alerts_here, alert.c.fingerprint == fingerprint)
        query = sql.INCIDENTS.where(row.incident_id.in_(had)).order_by(row.opened_at.desc(), row.id.desc())
        found = self._incidents(query.limit(1))
        return found[0] if found else None

    def alerts_of_post(self, incident_ids: Collection[str], ts: str) -> list[StoredAlert]:
        """Those of these incidents that the post spoke of first or last."""
        told = or_(alert.c.first_ts == ts, alert.c.last_ts == ts)
        return self._alerts(sql.ALERTS.where(alert.c.incident_id.in_(list(incident_ids)), told))

    def save(self, changed: Incident) -> None:
        """A new incident, or what has changed of one that was read here."""
        before = self._read.get(changed.incident_id)
        if before is None:
            self._connection.execute(insert(incident).values(_stored(changed)))
        else:
            values = {name: value for name, value in _stored(changed).items() if value != _stored(before)[name]}
            values = {name: value for name, value in values.items() if name not in OTHERS}
            change = update(incident).where(row.incident_id == changed.incident_id)
            self._connection.execute(change.values(**values, **sql.CHANGED))
        self._read[changed.incident_id] = changed

    def save_alert(self, new: StoredAlert) -> None:
        """Under its incident and fingerprint: made, or written over."""
        values = asdict(new)
        where = and_(alert.c.incident_id == new.incident_id, alert.c.fingerprint == new.fingerprint)
        if not self._connection.execute(update(alert).where(where).values(values)).rowcount:
            self._connection.execute(insert(alert).values(team=self._team, channel=self._channel, **values))

    def rename_alert(self, one: StoredAlert, fingerprint: str) -> StoredAlert:
        """The same alert under another fingerprint."""
        here = and_(alert.c.incident_id == one.incident_id, alert.c.fingerprint == one.fingerprint)
        self._connection.execute(update(alert).where(here).values(fingerprint=fingerprint))
        return replace(one, fingerprint=fingerprint)

    def move_alerts(self, from_id: str, to_id: str) -> None:
        """All alerts of one incident become another's; one that both have stays the other's."""
        both = select(alert.c.fingerprint).where(alert.c.incident_id == to_id)
        taken = set(self._connection.execute(both).scalars())
        move = update(alert).where(alert.c.incident_id == from_id, alert.c.fingerprint.not_in(taken))
        self._connection.execute(move.values(incident_id=to_id))

    def _end_key(self, fingerprint: str) -> str:
        return f"ended:{sha256(f'{self._team}:{self._channel}:{fingerprint}'.encode()).hexdigest()[:40]}"

    def move_these(self, rows: Collection[StoredAlert], to_id: str) -> None:
        """Alerts of one incident become those of one that has none yet."""
        for one in rows:
            of_it = and_(alert.c.incident_id == one.incident_id, alert.c.fingerprint == one.fingerprint)
            self._connection.execute(update(alert).where(of_it).values(incident_id=to_id))

    @property
    def _here(self) -> Any:
        return and_(row.team == self._team, row.channel == self._channel)

    @property
    def _alerts_here(self) -> Any:
        return and_(alert.c.team == self._team, alert.c.channel == self._channel)

    def _incidents(self, query: Select[Any]) -> list[Incident]:
        # Held: a run that starts meanwhile waits, and then sees what was decided.
        found = [incident_of(values) for values in self._connection.execute(query.with_for_update())]
        self._read.update({each.incident_id: each for each in found})
        return found

    def _alerts(self, query: Select[Any]) -> list[StoredAlert]:
        return [StoredAlert(*values) for values in self._connection.execute(query.order_by(alert.c.id))]


def gone_key(team: str, channel: str, ts: str) -> str:
    """Under which the deletion of a post is noted among the events."""
    return f"gone:{team}:{channel}:{ts}"


def incident_of(values: Any) -> Incident:
    named = dict(zip(sql.INCIDENT_COLUMNS, values, strict=True))
    return Incident(**named | {"turns": tuple(named["turns"])})


def _stored(one: Incident) -> dict[str, Any]:
    named = {field.name: getattr(one, field.name) for field in fields(one)}
    return named | {"turns": list(one.turns), "entities": dict(one.entities), "told": dict(one.told)}
