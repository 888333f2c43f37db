"""An incident and its alerts as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from storage.sessions import Thread


@dataclass(frozen=True)
class Incident:
    """Related alerts of one channel, triaged by one run an occurrence. `root_ts` is the post whose thread is its own.

    `alert_count` is how many alerts it has had, `firing_count` how many of them fire, `post_count` the posts that spoke
    of them. A new start soon after the end is the next `occurrence` of the same incident in the same thread; a later one
    is an incident of its own that counts on, with `previous_id`. `due_at`: when its run may start; `run_id`: the
    occurrence's run, or what makes a run needless: `not_run_reason`. `verdict` and `reported_at` are the last run's.
    `merged_into`: it turned out to be part of that one, and is closed. `lead` is the fingerprint of the alert to stay
    on, `entities` what its alerts name, `turns` when it resolved and fired again. `told` is what its thread shows and
    `told_dirty` whether that is behind; `changes` counts up with each change.
    """

    incident_id: str
    occurrence: int
    team: str
    channel: str
    root_ts: str
    status: Literal["open", "resolved"]
    title: str
    severity: str | None
    lead: str
    entities: Mapping[str, Any]
    alert_count: int
    post_count: int
    firing_count: int
    opened_at: datetime
    last_seen_at: datetime
    grown_at: datetime
    resolved_at: datetime | None = None
    due_at: datetime | None = None
    run_id: str | None = None
    placed_at: datetime | None = None
    not_run_reason: str | None = None
    queue_position: int | None = None
    verdict: str | None = None
    reported_at: datetime | None = None
    flaps: int = 0
    turns: tuple[str, ...] = ()
    previous_id: str | None = None
    merged_into: str | None = None
    told: Mapping[str, Any] = field(default_factory=dict)
    told_dirty: bool = True
    changes: int = 0

    @property
    def is_open(self) -> bool:
        return self.status == "open"

    @property
    def was_left(self) -> bool:
        """No notice ended it: nothing more was heard of what fired."""
        return not self.is_open and self.merged_into is None and self.firing_count > 0

    @property
    def thread(self) -> Thread:
        return Thread(self.team, self.channel, self.root_ts)


@dataclass(frozen=True)
class StoredAlert:
    """An alert of an incident; `document` is the Alert as read last (agents/contracts/aiops.py).

    `first_ts` and `last_ts` are posts that spoke of it. `weight` is how many alerts it stands for now, `most` how many at
    most: a group's post need not list its members.
    """

    incident_id: str
    fingerprint: str
    status: str
    document: Mapping[str, Any]
    first_ts: str
    last_ts: str
    weight: int
    most: int
    first_seen_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None = None

    @property
    def is_firing(self) -> bool:
        return self.status != "resolved"
