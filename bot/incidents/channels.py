"""Where alerts are triaged, and whose posts are alerts: the settings, and what people said with `/proofthread`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from agents.contracts import Alert
from bot.alert_reading.parsed import Parsed
from bot.settings import Settings
from storage.channels import ChannelStore, Watch
from storage.engine import Database


@dataclass(frozen=True)
class Standing:
    """How a channel stands now. `muted_until` is None where that is over; `trial` is the channel that its reports go
    to instead."""

    channel: str
    watched: bool
    muted_until: datetime | None = None
    trial: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class AlertChannels:
    """`now` is the clock that quiet times end by. What reaches the database raises storage's errors."""

    db: Database
    settings: Settings
    team: str
    now: Callable[[], datetime]

    async def standing(self, channel: str) -> Standing:
        return self._standing(await self.db.call(self._store.get, self.team, channel))

    async def watched(self) -> list[Standing]:
        """Every channel that is watched, those of the settings first."""
        rows = {watch.channel: watch for watch in await self.db.call(self._store.all, self.team)}
        names = dict.fromkeys((*self.settings.alert_channels, *rows))
        found = (self._standing(rows.get(name) or Watch(self.team, name)) for name in names)
        return [one for one in found if one.watched]

    async def watch(self, channel: str, by: str, *, watched: bool) -> None:
        await self.db.call(self._store.watch, self.team, channel, watched, by)

    async def mute(self, channel: str, by: str, until: datetime | None) -> None:
        await self.db.call(self._store.mute, self.team, channel, until, by)

    async def on_trial(self, channel: str, by: str, into: str | None) -> None:
        """`into` None = the channel of the settings, "" = no trial."""
        await self.db.call(self._store.shadow, self.team, channel, into, by)

    def is_sender(self, message: Mapping[str, Any]) -> bool:
        """Whether an alert may come from whoever posted this: any app, unless the settings name some; a person only
        where they name them."""
        if not self.settings.alert_senders:
            return bool(message.get("bot_id") or message.get("app_id")) or message.get("subtype") == "bot_message"
        listed = {name.casefold() for name in self.settings.alert_senders}
        profile = message.get("bot_profile")
        names = [message.get(name) for name in ("bot_id", "app_id", "user", "username")]
        names += [profile.get("name"), profile.get("app_id")] if isinstance(profile, Mapping) else []
        return any(isinstance(name, str) and name.casefold() in listed for name in names)

    def heeded(self, parsed: Parsed) -> Parsed:
        """Without the alerts that the settings want ignored (a Watchdog)."""
        kept = tuple(alert for alert in parsed.alerts if not self._is_ignored(alert))
        left = len(parsed.alerts) - len(kept)
        return parsed.model_copy(update={"alerts": kept, "count": parsed.count - left}) if left else parsed

    def _is_ignored(self, alert: Alert) -> bool:
        name = (alert.alert_name or "").casefold()
        return any(fnmatchcase(name, pattern.casefold()) for pattern in self.settings.alerts_ignore)

    @property
    def _store(self) -> ChannelStore:
        return ChannelStore(self.db)

    def _standing(self, watch: Watch) -> Standing:
        listed = watch.channel in self.settings.alert_channels
        into = self.settings.alert_shadow_channel if watch.shadow_channel is None else watch.shadow_channel
        return Standing(
            channel=watch.channel,
            watched=listed if watch.watched is None else watch.watched,
            muted_until=watch.muted_until if watch.muted_until and watch.muted_until > self.now() else None,
            trial=into if into and into != watch.channel else None,
            by=watch.changed_by,
        )
