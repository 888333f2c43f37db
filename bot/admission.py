"""Who may ask, and where."""

from __future__ import annotations

from dataclasses import dataclass

from bot.settings import Settings
from bot.slack.people import Person


@dataclass(frozen=True)
class Admission:
    """Empty lists admit everybody of the workspace, wherever the bot is. A person who is listed may ask, guest or not."""

    channels: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    teams: frozenset[str] = frozenset()
    guests: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Admission:
        return cls(
            channels=frozenset(settings.slack_channels),
            users=frozenset(settings.slack_users),
            teams=frozenset(settings.slack_teams),
            guests=settings.slack_guests,
        )

    def refuses_channel(self, channel: str) -> str | None:
        """The name of the reason, None where the bot may be used. Direct messages are never on the list."""
        listed = not self.channels or channel in self.channels or channel.startswith("D")
        return None if listed else "refused_channel"

    def refuses_person(self, person: Person) -> str | None:
        if person.id in self.users:
            return None
        if person.is_stranger and person.team not in self.teams:
            return "refused_stranger"
        if person.is_guest and not self.guests:
            return "refused_guest"
        return "refused_user" if self.users else None
