"""`/proofthread watch|unwatch|mute|unmute`: any member of a channel says how its alerts are treated, for all to see."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

from bot.blocks.text import escape
from bot.desk import Desk
from bot.hearing.wished_times import NoTime, until_of
from bot.slack.people import Person
from storage.incidents import Incident

WORDS = {
    "watch": "watch", "unwatch": "unwatch", "mute": "mute", "unmute": "unmute",
    "关注": "watch", "监看": "watch", "取消关注": "unwatch", "停止监看": "unwatch", "静音": "mute", "取消静音": "unmute",
}  # fmt: skip
TRIAL, LIVE = ("trial", "shadow", "试用"), ("live", "正式")
_CHANNEL = re.compile(r"<#([CG][A-Z0-9]+)(?:\|[^>]*)?>")
INCIDENTS_SHOWN, TITLE_CHARS = 5, 120


def alert_word(word: str) -> str | None:
    """The command that a word means, None for what is none of these."""
    return WORDS.get(word.lower())


async def alert_command(desk: Desk, word: str, rest: str, channel: str, person: Person, language: str) -> str:
    """What the person alone is told; empty where the channel is. Raises StorageError and LookupFailed."""
    refused = await _refused(desk, channel, person)
    if refused:
        return desk.says(language, refused, name=f"@{desk.bot.name}")
    if word == "watch" and rest.strip():
        return await _on_trial(desk, channel, person, rest.strip(), language)
    if word in ("watch", "unwatch"):
        return await _watch(desk, channel, person, language, watched=word == "watch")
    return await _mute(desk, channel, person, rest if word == "mute" else None, language)


async def watch_lines(desk: Desk, channel: str, person: Person, language: str) -> list[str]:
    """How the channel's alerts are treated and what is open, for `status`."""
    standing = await desk.alert_channels.standing(channel)
    if not standing.watched:
        return [desk.says(language, "status_not_watched")]
    lines = [desk.says(language, "status_watched")]
    if standing.muted_until:
        when = desk.reader(language, person.zone).at(standing.muted_until)
        lines.append(desk.says(language, "status_muted", when=when, user=standing.by or desk.bot.user_id))
    if standing.trial:
        lines.append(desk.says(language, "status_trial", channel=standing.trial))
    found = await desk.db.call(desk.incidents.open, channel)
    return lines + [_incident(desk, one, language) for one in found[:INCIDENTS_SHOWN]] + _more(desk, found, language)


# ---------------------------------------------------------------- who may


async def _refused(desk: Desk, channel: str, person: Person) -> str | None:
    """The name of the reason in bot/talk."""
    place = await desk.people.place(channel)
    if place.is_direct or channel.startswith("D"):
        return "watch_no_channel"
    if not place.is_member:
        return "not_here"
    if person.is_guest:
        return "watch_guest"
    return None if await desk.people.is_member(person.id, channel) else "watch_stranger"


# ---------------------------------------------------------------- what


async def _watch(desk: Desk, channel: str, person: Person, language: str, *, watched: bool) -> str:
    before = await desk.alert_channels.standing(channel)
    if before.watched == watched and not before.muted_until:
        return desk.says(language, "watch_before" if watched else "unwatch_before")
    await desk.alert_channels.watch(channel, person.id, watched=watched)
    return await _told(desk, channel, desk.says(language, "watch_on" if watched else "watch_off", user=person.id))


async def _on_trial(desk: Desk, channel: str, person: Person, wish: str, language: str) -> str:
    """`trial`, `trial #channel` or `live`."""
    word, _, named = wish.partition(" ")
    if word.lower() not in (*TRIAL, *LIVE):
        return desk.says(language, "watch_what", word=escape(wish[:40]))
    is_trial, found = word.lower() in TRIAL, _CHANNEL.search(named)
    into = (found[1] if found else None) if is_trial else ""
    if is_trial and (trouble := await _no_trial(desk, channel, person, into)):
        return desk.says(language, trouble, name=f"@{desk.bot.name}")
    await desk.alert_channels.on_trial(channel, person.id, into)
    await desk.alert_channels.watch(channel, person.id, watched=True)
    if is_trial:
        return desk.says(language, "watch_trial", channel=into or desk.settings.alert_shadow_channel or "")
    return await _told(desk, channel, desk.says(language, "watch_on", user=person.id))


async def _no_trial(desk: Desk, channel: str, person: Person, into: str | None) -> str | None:
    """Why reports cannot go there. None stands for the channel of the settings."""
    target = into or desk.settings.alert_shadow_channel
    if target is None:
        return "trial_unset"
    if target == channel:
        return "trial_same"
    ours = (await desk.people.place(target)).is_member and await desk.people.is_member(person.id, target)
    return None if ours else "trial_not_there"


async def _mute(desk: Desk, channel: str, person: Person, rest: str | None, language: str) -> str:
    """`rest` None ends the quiet time."""
    standing = await desk.alert_channels.standing(channel)
    if not standing.watched:
        return desk.says(language, "unwatch_before")
    if rest is None:
        if standing.muted_until is None:
            return desk.says(language, "unmute_before")
        await desk.alert_channels.mute(channel, person.id, None)
        return await _told(desk, channel, desk.says(language, "unmuted", user=person.id))
    zone = ZoneInfo(person.zone or desk.zone)
    try:
        until = until_of(rest, desk.place.clock(), zone)
    except NoTime:
        return desk.says(language, "mute_how", said=escape(rest.strip()[:40]))
    await desk.alert_channels.mute(channel, person.id, until)
    when = desk.reader(language, zone.key).at(until)
    return await _told(desk, channel, desk.says(language, "muted", user=person.id, when=when))


async def _told(desk: Desk, channel: str, text: str) -> str:
    """Who changes what all rely on does so in the open; on trial nothing is said in the channel."""
    if (await desk.alert_channels.standing(channel)).trial:
        return text
    desk.post_later(channel, None, text)
    return ""


# ---------------------------------------------------------------- status


def _incident(desk: Desk, incident: Incident, language: str) -> str:
    title = escape(" ".join(incident.title.split())[:TITLE_CHARS])
    return desk.says(language, "status_incident", title=title, firing=incident.firing_count)


def _more(desk: Desk, found: list[Incident], language: str) -> list[str]:
    left = len(found) - INCIDENTS_SHOWN
    return [desk.says(language, "status_more_incidents", count=left)] if left > 0 else []
