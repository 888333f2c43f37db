"""Why an incident was not looked at, in words."""

from __future__ import annotations

from collections.abc import Mapping

from bot.blocks.reader import Reader
from bot.incidents.course import COOLDOWN

# What people decided for a channel, or did to its posts, is not told in each thread.
SILENT = frozenset({"muted", "unwatched", "below_min_severity", "deleted", "no_trial_channel"})
SEVERITIES = frozenset({"critical", "high", "warning", "info"})
KINDS: Mapping[str, str] = {
    "hour": "not_looked_hour",
    "tokens": "not_looked_day",
    "money": "not_looked_day",
    "people_tokens": "not_looked_people",
    "people_money": "not_looked_people",
    "at_once": "not_looked_busy",
}


def reason_text(code: str, reader: Reader) -> str | None:
    """The words for a stored reason; None for those that are not told."""
    kind, _, severity = code.partition(":")
    if kind in SILENT:
        return None
    if kind == COOLDOWN:
        return reader.say("not_looked_cooldown")
    known = KINDS.get(kind)
    if known is None:
        return reader.say("not_looked_failed")
    return reader.say(known, which=reader.say(f"alerts_{severity}" if severity in SEVERITIES else "alerts_unknown"))
