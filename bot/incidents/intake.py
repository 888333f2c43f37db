"""A post's alerts become incidents: one decision a post, in one transaction that holds its channel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import uuid4

from agents.contracts import Alert
from bot.alert_reading.parsed import Parsed
from bot.incidents.alert_post import AlertPost
from bot.incidents.course import RANKS, Times
from bot.incidents.decision import Decision, What
from bot.incidents.deletion import forget
from bot.incidents.grouping import Topology
from bot.incidents.stored import alert_of
from storage.incidents import Book, Incident, IncidentStore

__all__ = ["AlertPost", "Intake", "Taken", "What", "alerts_of"]


@dataclass(frozen=True)
class Taken:
    """What became of an alert. `incident` is as it is after the whole post; None only where nothing knows an alert that is
    said to have ended ("ignored")."""

    alert: Alert
    incident: Incident | None
    what: What


class Intake:
    """Blocking: call it through `Database.call`. `clock` is the one that runs become due by; None is that of the posts."""

    def __init__(
        self,
        store: IncidentStore,
        *,
        times: Times | None = None,
        topology: Topology | None = None,
        new_id: Callable[[], str] = lambda: f"inc-{uuid4().hex[:16]}",
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._store, self._new_id = store, new_id
        self._clock = clock
        self._times, self._topology = times or Times(), topology or Topology()

    def take(self, post: AlertPost, parsed: Parsed) -> tuple[Taken, ...]:
        """One item an alert, those of one fingerprint together. The same delivery again changes nothing and gives nothing.
        Raises StorageUnavailable."""
        if not parsed.alerts:
            return ()
        return self._store.decide(post.team, post.channel, partial(self._decide, post=post, parsed=parsed))

    def forget(self, team: str, channel: str, ts: str, at: datetime) -> list[Incident]:
        """The post is deleted. Gives the incidents whose thread it was; their runs are to be stopped. Raises
        StorageUnavailable."""
        new_id = self._new_id()
        return self._store.decide(team, channel, lambda book: forget(book, ts, at, self._times, new_id))

    def _decide(self, book: Book, post: AlertPost, parsed: Parsed) -> tuple[Taken, ...]:
        if book.was_taken_away(post.said_in) or not book.is_new(post.key):
            return ()
        now = self._clock() if self._clock else post.at
        decision = Decision(book, post, self._times, self._topology, self._new_id, now)
        decision.read(parsed)
        taken = [decision.take(alert, weight) for alert, weight in _weighed(parsed)]
        decision.save()
        return tuple(Taken(alert, decision.incidents.get(where or ""), what) for alert, where, what in taken)


def alerts_of(store: IncidentStore, incident_id: str) -> tuple[Alert, ...]:
    """The incident's alerts, the one to stay on first, each with its present status."""
    return tuple(alert_of(one) for one in store.alerts_of(incident_id))


def _weighed(parsed: Parsed) -> list[tuple[Alert, int]]:
    """Each fingerprint once with how many alerts it stands for: what fires before what has ended, the worst first. What a
    post counts without listing goes to its first alert."""
    order = sorted(parsed.alerts, key=lambda one: (one.status == "resolved", RANKS[one.severity]))
    counts = Counter(one.fingerprint for one in order)
    first = {one.fingerprint: one for one in reversed(order)}
    if parsed.count > len(order):
        counts[order[0].fingerprint] += parsed.count - len(order)
    return [(first[fingerprint], counts[fingerprint]) for fingerprint in dict.fromkeys(one.fingerprint for one in order)]
