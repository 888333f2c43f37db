"""Which rows of a channel an audience may read."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Table, and_, false, or_

from storage.audience import Audience


def readable(table: Table, audience: Audience) -> ColumnElement[bool]:
    """A private channel's rows in that channel alone, others in their workspace. A terminal reads the public rows of every
    workspace. The table has the columns team, channel and is_private."""
    row = table.c
    public = row.is_private == false()
    if audience.team is None:
        return public
    own = and_(row.team == audience.team, row.channel == audience.channel)
    return or_(own, and_(public, or_(row.team.is_(None), row.team == audience.team)))
