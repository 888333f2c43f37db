"""Who asks and where: people and channels as Slack knows them, asked for once an hour.

A listener waits for the first look-up of a person, so it is bounded; where Slack does not answer, what was known before
counts, and without that LookupFailed leaves the event to Slack's next delivery.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.slack.client import SlackAway, SlackCalls, SlackRefused

FRESH_SECONDS = 3600.0
MEMBERS_FRESH_SECONDS = 60.0
# As long as somebody may fill in a form.
SEEN_SECONDS = 600.0
PATIENCE_SECONDS = 2.0
MOST_KEPT = 10_000

Found = TypeVar("Found")


class LookupFailed(Exception):
    """Slack did not say who this is: the event stays unacknowledged, so that it comes again."""


@dataclass(frozen=True)
class Person:
    """`zone` is an IANA name or empty, `language` zh, en or empty. `is_known` False: Slack may not tell us (no
    users:read), so that guests cannot be told from members."""

    id: str
    name: str = ""
    team: str = ""
    zone: str = ""
    language: str = ""
    is_guest: bool = False
    is_stranger: bool = False
    is_bot: bool = False
    is_known: bool = True


@dataclass(frozen=True)
class Place:
    """A conversation. `is_member`: whether the bot is in it and may post."""

    id: str
    name: str = ""
    is_private: bool = False
    is_direct: bool = False
    is_member: bool = True
    is_archived: bool = False
    is_shared: bool = False
    is_known: bool = True


class People:
    """`team` and `enterprise` are the bot's own. `now` gives seconds of a clock that never goes back."""

    def __init__(
        self, slack: SlackCalls, team: str, enterprise: str = "", now: Callable[[], float] = time.monotonic
    ) -> None:
        self._slack = slack
        self._team = team
        self._enterprise = enterprise
        self._now = now
        self._seen: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._persons: _Known[Person] = _Known(self._ask_person, now)
        self._places: _Known[Place] = _Known(self._ask_place, now)
        self._members: _Known[frozenset[str]] = _Known(self._ask_members, now, MEMBERS_FRESH_SECONDS)

    async def person(self, user_id: str) -> Person:
        """Raises LookupFailed."""
        return await self._persons.get(user_id)

    async def place(self, channel_id: str) -> Place:
        """Raises LookupFailed."""
        return await self._places.get(channel_id)

    def saw(self, user_id: str, channel_id: str) -> None:
        """This person clicked or reacted there just now: they read it, whatever Slack lets us look up."""
        self._seen[user_id, channel_id] = self._now()
        self._seen.move_to_end((user_id, channel_id))
        while len(self._seen) > MOST_KEPT:
            self._seen.popitem(last=False)

    async def may_read(self, user_id: str, channel_id: str) -> bool:
        """Whether this person sees what stands in the channel. Raises LookupFailed."""
        if self._now() - self._seen.get((user_id, channel_id), float("-inf")) < SEEN_SECONDS:
            return True
        person, place = await self.person(user_id), await self.place(channel_id)
        if place.is_known and not place.is_private and person.is_known and not (person.is_guest or person.is_stranger):
            return True
        return user_id in await self._members.get(channel_id)

    async def is_member(self, user_id: str, channel_id: str) -> bool:
        """Whether this person is in the channel; true where Slack may not tell us who is. Raises LookupFailed."""
        members = await self._members.get(channel_id)
        return not members or user_id in members

    def forget(self, some_id: str) -> None:
        """Something about it has changed."""
        self._persons.forget(some_id)
        self._places.forget(some_id)
        self._members.forget(some_id)

    async def _ask_person(self, user_id: str) -> Person:
        try:
            answer = await self._slack.call("users.info", user=user_id, include_locale=True)
        except SlackRefused as error:
            return _unknown_person(user_id, error)
        return self._person(user_id, answer.get("user") or {})

    async def _ask_place(self, channel_id: str) -> Place:
        try:
            answer = await self._slack.call("conversations.info", channel=channel_id)
        except SlackRefused as error:
            # What the bot may not even see it is not in; what it lacks the scope for may well be all right.
            return Place(channel_id, is_member=error.error == "missing_scope", is_known=False)
        return _place(channel_id, answer.get("channel") or {})

    async def _ask_members(self, channel_id: str) -> frozenset[str]:
        found: set[str] = set()
        try:
            async for member in self._slack.pages("conversations.members", "members", channel=channel_id, limit=200):
                found.add(str(member))
        except SlackRefused:
            # Nobody is known to read what we may not look into.
            return frozenset()
        return frozenset(found)

    def _person(self, user_id: str, user: Mapping[str, Any]) -> Person:
        team = str(user.get("team_id") or "")
        enterprise = (user.get("enterprise_user") or {}).get("enterprise_id", "")
        ours = team in ("", self._team) or bool(enterprise and enterprise == self._enterprise)
        locale = str(user.get("locale") or "")
        return Person(
            id=user_id,
            name=str(user.get("real_name") or user.get("name") or ""),
            team=team,
            zone=_zone(user.get("tz")),
            language="zh" if locale.startswith("zh") else "en" if locale else "",
            is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
            is_stranger=not ours or bool(user.get("is_stranger")),
            is_bot=bool(user.get("is_bot")),
        )


class _Known(Generic[Found]):
    """Answers by id, for `fresh` seconds. Askers of one id share one call."""

    def __init__(
        self, ask: Callable[[str], Awaitable[Found]], now: Callable[[], float], fresh: float = FRESH_SECONDS
    ) -> None:
        self._ask = ask
        self._now = now
        self._fresh = fresh
        self._kept: OrderedDict[str, tuple[float, Found]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[Found]] = {}

    async def get(self, name: str) -> Found:
        at, found = self._kept.get(name, (0.0, None))
        if found is not None and self._now() - at < self._fresh:
            return found
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await asyncio.shield(self._asked(name))
        except (SlackAway, TimeoutError) as error:
            if found is not None:
                return found
            raise LookupFailed(f"Slack does not say who or what {name} is: {error or 'no answer in time'}") from error

    def forget(self, name: str) -> None:
        self._kept.pop(name, None)

    def _asked(self, name: str) -> asyncio.Task[Found]:
        if name not in self._asking:
            task = asyncio.ensure_future(self._fetch(name))
            self._asking[name] = task
            task.add_done_callback(lambda done: self._done(name, done))
        return self._asking[name]

    def _done(self, name: str, task: asyncio.Task[Found]) -> None:
        self._asking.pop(name, None)
        if not task.cancelled():
            task.exception()  # whoever waited has seen it; nobody may be left to

    async def _fetch(self, name: str) -> Found:
        found = await self._ask(name)
        self._kept[name] = (self._now(), found)
        self._kept.move_to_end(name)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return found


def _unknown_person(user_id: str, error: SlackRefused) -> Person:
    if error.error == "missing_scope":
        return Person(user_id, is_known=False)
    # user_not_found, user_not_visible: nobody of this workspace.
    return Person(user_id, is_stranger=True)


def _place(channel_id: str, channel: Mapping[str, Any]) -> Place:
    direct = bool(channel.get("is_im"))
    return Place(
        id=channel_id,
        name=str(channel.get("name") or ""),
        is_private=direct or bool(channel.get("is_private") or channel.get("is_mpim")),
        is_direct=direct,
        is_member=direct or bool(channel.get("is_member", True)),
        is_archived=bool(channel.get("is_archived")),
        is_shared=bool(channel.get("is_ext_shared")),
    )


def _zone(name: object) -> str:
    try:
        return ZoneInfo(str(name)).key if name else ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ""
