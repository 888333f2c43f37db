"""The tables of alert channels: alerts, incidents and their runs, changes that were posted, and how a channel is watched."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, UniqueConstraint, true

from storage.types import BigKey, ExactJson, LongText, UtcDateTime, table

# One row a channel. Whoever changes a channel's incidents holds it, so that two processes never open two for one.
channel_watch = table(
    "channel_watch",
    Column("id", BigKey, primary_key=True),
    Column("team", String(32), nullable=False),
    Column("channel", String(32), nullable=False),
    # What people said there; null = the settings decide.
    Column("watched", Boolean),
    Column("muted_until", UtcDateTime),
    # For a trial: the channel that reports go to instead; empty = none, whatever the settings say.
    Column("shadow_channel", String(32)),
    Column("changed_by", String(32)),
    Column("changed_at", UtcDateTime),
    # When the channel may take our next message, whichever process posts it.
    Column("free_at", UtcDateTime),
    UniqueConstraint("team", "channel"),
)

incident = table(
    "incident",
    Column("id", BigKey, primary_key=True),
    Column("incident_id", String(64), nullable=False, unique=True),
    Column("occurrence", Integer, nullable=False),
    Column("team", String(32), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("root_ts", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("title", LongText, nullable=False),
    Column("severity", String(16)),
    # The fingerprint of the alert to stay on, and everything that its alerts name.
    Column("lead", String(128), nullable=False),
    Column("entities", ExactJson, nullable=False),
    Column("alert_count", Integer, nullable=False),
    Column("post_count", Integer, nullable=False),
    Column("firing_count", Integer, nullable=False),
    Column("opened_at", UtcDateTime, nullable=False),
    # The last post that spoke of it, and the last new alert: only the latter keeps the window open.
    Column("last_seen_at", UtcDateTime, nullable=False),
    Column("grown_at", UtcDateTime, nullable=False),
    Column("resolved_at", UtcDateTime),
    Column("due_at", UtcDateTime),
    # No foreign key: the place in the budget is taken before the run is made.
    Column("run_id", String(64)),
    Column("placed_at", UtcDateTime),
    Column("not_run_reason", String(64)),
    Column("queue_position", Integer),
    Column("verdict", String(16)),
    Column("reported_at", UtcDateTime),
    Column("flaps", Integer, nullable=False),
    Column("turns", ExactJson, nullable=False),
    Column("previous_id", String(64)),
    Column("merged_into", String(64)),
    # What its thread shows, whether that is behind, and who is bringing it there.
    Column("told", ExactJson, nullable=False),
    Column("told_dirty", Boolean, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("teller", String(128)),
    Column("teller_until", UtcDateTime),
    Index(None, "team", "channel", "last_seen_at"),
    Index(None, "team", "channel", "root_ts"),
    Index(None, "status", "due_at"),
    Index(None, "told_dirty"),
    Index(None, "run_id"),
    Index(None, "last_seen_at"),
)

# Every run of an incident: an occurrence may have a later one, and the hour's and the day's are counted here.
incident_run = table(
    "incident_run",
    Column("run_id", String(64), primary_key=True),
    Column("incident_id", String(64), ForeignKey(incident.c.incident_id), nullable=False),
    Column("occurrence", Integer, nullable=False),
    Column("team", String(32), nullable=False),
    Column("severity", String(16)),
    Column("placed_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
    Column("verdict", String(16)),
    Index(None, "incident_id"),
    Index(None, "team", "placed_at"),
    Index(None, "ended_at"),
)

alert = table(
    "alert",
    Column("id", BigKey, primary_key=True),
    Column("incident_id", String(64), ForeignKey(incident.c.incident_id), nullable=False),
    Column("team", String(32), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("fingerprint", String(128), nullable=False),
    Column("status", String(16), nullable=False),
    # The Alert as it was read last.
    Column("document", ExactJson, nullable=False),
    # The posts that spoke of it first and last: an edit of either is about it.
    Column("first_ts", String(32), nullable=False),
    Column("last_ts", String(32), nullable=False),
    # How many alerts it stands for, now and at most: a group's post need not list its members.
    Column("weight", Integer, nullable=False),
    Column("most", Integer, nullable=False),
    Column("first_seen_at", UtcDateTime, nullable=False),
    Column("last_seen_at", UtcDateTime, nullable=False),
    Column("resolved_at", UtcDateTime),
    UniqueConstraint("incident_id", "fingerprint"),
    Index(None, "team", "channel", "fingerprint"),
)

# A deploy note or the like that somebody posted where alerts are.
change_event = table(
    "change_event",
    Column("id", BigKey, primary_key=True),
    Column("team", String(32), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("ts", String(32), nullable=False),
    Column("summary", LongText, nullable=False),
    Column("service", String(255)),
    Column("details", ExactJson, nullable=False),
    Column("is_private", Boolean, nullable=False, server_default=true()),
    Column("happened_at", UtcDateTime, nullable=False),
    UniqueConstraint("team", "channel", "ts"),
    Index(None, "team", "happened_at"),
)
