"""What App Home says of alert channels: to each person of those that they can read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bot.desk import Desk
from bot.incidents.channels import Standing


async def watched_channels(desk: Desk, user: str, language: str) -> tuple[list[str], bool]:
    """A line a channel that this person reads, and whether any channel is watched at all. Raises StorageError and
    LookupFailed."""
    standings = await desk.alert_channels.watched()
    mine = [one for one in standings if await desk.people.may_read(user, one.channel)]
    counts = Counter(incident.channel for incident in await desk.db.call(desk.incidents.open)) if mine else Counter()
    return await _lines(desk, user, language, mine, counts), bool(standings)


async def _lines(
    desk: Desk, user: str, language: str, mine: Sequence[Standing], counts: Counter[str]
) -> list[str]:
    reader = desk.reader(language, (await desk.people.person(user)).zone)
    lines = []
    for one in mine:
        muted = desk.says(language, "home_muted", when=reader.at(one.muted_until)) if one.muted_until else ""
        name = (await desk.people.place(one.channel)).name or one.channel
        lines.append(desk.says(language, "home_watched", name=name, count=counts[one.channel], muted=muted))
    return lines
