"""Changes that people and pipelines tell of in Slack, beside those of the operator's file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from storage.audience import Audience
from storage.change_events import ChangeEvent, ChangeEvents
from storage.engine import Database
from tools.changes import Change
from tools.window import Window

SOURCE = "slack"
# A post tells of a deploy when it begins or when it is done.
SAME_WITHIN = timedelta(minutes=15)
_DETAILS_FIRST, _DETAILS_LAST = ("version", "environment"), ("author", "link")
_DEPLOYS = ("deployment", "release", "rollout")
_TAILS = ("-service", "-svc")


class PostedChanges:
    """Of what was read in watched channels, what the asker may read."""

    def __init__(self, db: Database) -> None:
        self._db, self._events = db, ChangeEvents(db)

    async def find(self, window: Window, audience: Audience) -> list[Change]:
        """Oldest first. Raises StorageError."""
        found = await self._db.call(self._events.between, audience, window.start, window.end)
        return [_change(event) for event in found]


def told_once(recorded: Sequence[Change], posted: Sequence[Change]) -> list[Change]:
    """All of them in order of time, without the posts that tell of one that is there: a record has the exact time, and the
    first of two posts is nearer to it."""
    kept = list(recorded)
    for one in posted:
        if not any(_is_same(one, other) for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda change: change.at)


def _change(event: ChangeEvent) -> Change:
    said = {name: str(value) for name, value in event.details.items() if value}
    fields = {
        "kind": said.get("kind", ""),
        "service": event.service or "",
        **{name: said.get(name, "") for name in _DETAILS_FIRST},
        "summary": event.summary,
        **{name: said.get(name, "") for name in _DETAILS_LAST},
    }
    told = {name: value for name, value in fields.items() if value}
    return Change(event.happened_at, told, {"source": SOURCE, "channel": event.channel})


def _is_same(post: Change, other: Change) -> bool:
    if abs(post.at - other.at) > SAME_WITHIN or not _agree(_kind(post), _kind(other)):
        return False
    return _agree(_version(post), _version(other)) and _about_one_thing(post, other)


def _about_one_thing(one: Change, other: Change) -> bool:
    mine, theirs = _service(one), _service(other)
    if mine and theirs:
        return mine == theirs
    said = (one if mine else other).service.lower()
    return bool(said) and said in (other if mine else one).fields.get("summary", "").lower()


def _agree(one: str, other: str) -> bool:
    """What is not said contradicts nothing."""
    return not one or not other or one == other


def _kind(change: Change) -> str:
    kind = change.fields.get("kind", "").lower()
    return "deploy" if kind in _DEPLOYS else kind


def _version(change: Change) -> str:
    return change.fields.get("version", "").lower().removeprefix("v")


def _service(change: Change) -> str:
    name = change.service.lower()
    return next((name.removesuffix(tail) for tail in _TAILS if name.endswith(tail)), name)
