"""What a post was read as, and what a sender's reader is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents.contracts import Alert, AlertStatus
from bot.alert_reading.post import Post
from tools.contracts import Contract


class ChangeNote(Contract):
    """A deploy, rollback or configuration change that a post tells of; named as in a changes file. No alert."""

    kind: str
    summary: str
    service: str | None = None
    version: str | None = None
    environment: str | None = None
    author: str | None = None
    link: str | None = None


class Parsed(Contract):
    """`count`: how many alerts the post speaks of (a group's list may be shorter). `status` is firing where one of them
    fires. `update_of_ts`: the post that an edit, a deletion or a thread update is about. `ignored_reason`: why nothing was read.
    """

    alerts: tuple[Alert, ...] = ()
    count: int = 0
    status: AlertStatus | None = None
    update_of_ts: str | None = None
    ignored_reason: str | None = None
    change: ChangeNote | None = None


@dataclass(frozen=True)
class Reading:
    """What a sender's reader found. `count` None is the number of `alerts`. Without alerts, `ignored_reason` or `change` says
    what the post is instead."""

    alerts: tuple[Alert, ...] = ()
    count: int | None = None
    change: ChangeNote | None = None
    ignored_reason: str | None = None


@dataclass(frozen=True)
class Sender:
    """`name` is the alerts' `sender`. `claims` is cheap and says that the post is this sender's; `read` gives None where it
    is of a form unknown to it, which then goes to the generic reader."""

    name: str
    claims: Callable[[Post], bool]
    read: Callable[[Post], Reading | None]
