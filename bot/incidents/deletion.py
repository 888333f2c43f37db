"""A post is deleted: nobody wants to hear of its alerts, and those that other posts speak of go on under one of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.incidents.course import DELETED, Times, closed, joined, opened
from bot.incidents.stored import alert_of
from storage.incidents import Book, Incident, StoredAlert


def forget(book: Book, ts: str, at: datetime, times: Times, new_id: str) -> list[Incident]:
    """Close what stands under this post, and open an incident of `new_id` with what other posts of it say. The incidents
    that stood there, as they are then: their runs are to be stopped."""
    found = book.rooted_at(ts)
    for one in found:
        rest = [row for row in book.alerts(one.incident_id) if row.is_firing and row.last_ts != ts] if one.is_open else []
        book.save(replace(closed(one, at) if one.is_open else one, not_run_reason=DELETED))
        if rest:
            book.save(_of(rest, one, ts, at, times, new_id))
            book.move_these(rest, new_id)
    return found


def _of(rows: Sequence[StoredAlert], before: Incident, gone_ts: str, at: datetime, times: Times, new_id: str) -> Incident:
    posts = sorted({row.first_ts if row.first_ts != gone_ts else row.last_ts for row in rows}, key=float)
    place = (before.team, before.channel, posts[0])
    made = opened(new_id, place, alert_of(rows[0]), rows[0].weight, at, times)
    for row in rows[1:]:
        made = joined(made, alert_of(row), row.weight, at, times)
    return replace(made, post_count=len(posts), opened_at=min(row.first_seen_at for row in rows), previous_id=before.incident_id)
