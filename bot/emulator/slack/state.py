"""Everything the loopback workspace holds, in memory. Messages and views are dicts with Slack's own fields."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.emulator.slack.refusals import Refused

Json = dict[str, Any]
Kind = Literal["channel", "group", "im", "mpim"]
BOT_USER = "U0BOT"
BOT_ID = "B0BOT"
APP_ID = "A0EMU"
TEAM_ID = "T0EMU"


@dataclass
class User:
    """A person or a bot user. `team_id` other than ours makes a stranger of a shared channel."""

    id: str
    name: str
    real_name: str = ""
    team_id: str = TEAM_ID
    tz: str = "Europe/Berlin"
    tz_offset: int = 3600
    locale: str = "en-US"
    is_bot: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    deleted: bool = False
    bot_id: str | None = None

    @property
    def is_stranger(self) -> bool:
        return self.team_id != TEAM_ID


@dataclass
class Channel:
    """A conversation. `user` is the other person of a direct message."""

    id: str
    name: str
    kind: Kind = "channel"
    members: set[str] = field(default_factory=set)
    is_archived: bool = False
    is_ext_shared: bool = False
    topic: str = ""
    user: str | None = None


@dataclass
class StoredFile:
    id: str
    name: str
    title: str
    mimetype: str
    content: bytes
    user: str
    complete: bool = False


@dataclass(frozen=True)
class Webhook:
    """An app's way into a channel. A payload may name another channel and another sender, as the older kind lets it."""

    bot_id: str
    secret: str
    channel: str
    name: str


@dataclass
class Trigger:
    """What a click hands out: good for one modal within a few seconds."""

    user: str
    expires_at: float
    view_id: str | None = None
    used: bool = False


@dataclass
class ResponseUrl:
    channel: str
    user: str
    ts: str | None
    thread_ts: str | None
    expires_at: float
    uses_left: int = 5


@dataclass
class State:
    """The workspace. Only the server's loop touches it; `clock` gives seconds since 1970."""

    clock: Callable[[], float]
    chance: random.Random
    team_name: str = "Loopback"
    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    messages: dict[str, dict[str, Json]] = field(default_factory=dict)
    threads: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    ephemerals: dict[str, list[Json]] = field(default_factory=dict)
    statuses: dict[tuple[str, str], Json] = field(default_factory=dict)
    sessions: dict[tuple[str, str], Json] = field(default_factory=dict)
    prompts: dict[tuple[str, str], Json] = field(default_factory=dict)
    views: dict[str, list[Json]] = field(default_factory=dict)
    homes: dict[str, Json] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)
    webhooks: dict[str, Webhook] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    _last_tick: int = 0
    _numbers: Iterable[int] = field(default_factory=lambda: itertools.count(1))

    def next_ts(self) -> str:
        """A message time stamp: unique and rising, as Slack's are."""
        self._last_tick = max(self._last_tick + 1, int(self.clock() * 1_000_000))
        return f"{self._last_tick // 1_000_000}.{self._last_tick % 1_000_000:06d}"

    def next_id(self, prefix: str) -> str:
        """An id in Slack's form, for example F00000012X for the 12th thing of this workspace."""
        return f"{prefix}{next(iter(self._numbers)):08d}X"

    def user(self, named: str) -> User:
        """By id or by name; a name that nobody has is a mistake of the test."""
        found = self.users.get(named) or next((user for user in self.users.values() if user.name == named), None)
        if found is None:
            raise LookupError(f"no user {named!r}; there are {', '.join(user.name for user in self.users.values())}")
        return found

    def channel(self, named: str) -> Channel:
        """By id or by name, with or without #."""
        plain = named.lstrip("#")
        found = self.channels.get(named) or next((each for each in self.channels.values() if each.name == plain), None)
        if found is None:
            raise LookupError(
                f"no channel {named!r}; there are {', '.join(each.name for each in self.channels.values())}"
            )
        return found

    def direct(self, user: User) -> Channel:
        """The person's direct message with the bot, opened when there is none."""
        for channel in self.channels.values():
            if channel.kind == "im" and channel.user == user.id:
                return channel
        opened = Channel(self.next_id("D"), f"dm-{user.name}", "im", {user.id, BOT_USER}, user=user.id)
        self.channels[opened.id] = opened
        return opened

    def message(self, channel: str, ts: str) -> Json | None:
        return self.messages.get(channel, {}).get(ts)

    def replies(self, channel: str, root: str) -> list[Json]:
        """A thread, oldest first, without its root."""
        stored = self.messages.get(channel, {})
        return [stored[ts] for ts in self.threads.get((channel, root), []) if ts in stored]

    def view(self, view_id: str) -> tuple[str, Json] | None:
        """An open modal or a published home, and whose it is."""
        for user, stack in self.views.items():
            for view in stack:
                if view["id"] == view_id:
                    return user, view
        return next(((user, home) for user, home in self.homes.items() if home["id"] == view_id), None)

    def seen_by_bot(self, channel_id: object) -> Channel:
        """The conversation that a Web API call names, as far as the bot may know of it."""
        channel = self.channels.get(str(channel_id or ""))
        if channel is None or (channel.kind != "channel" and BOT_USER not in channel.members):
            raise Refused("channel_not_found")
        return channel
