"""Healthchecks.io and self-hosted: `“nightly-backup” is DOWN.` with fields."""

from __future__ import annotations

import re

from agents.contracts import Alert
from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Part, Post
from bot.alert_reading.words import status_of

_TITLE = re.compile(r"\A(?:The check )?[“\"](.{1,300})[”\"] is (?:now |still )?(DOWN|UP)\b(.*)", re.DOTALL)
_NOTES = ("Description", "Period", "Schedule", "Last Ping", "Total Pings", "Last Ping Body", "Reason")


def _claims(post: Post) -> bool:
    return any(_title(part) for part in post.parts)


def _read(post: Post) -> Reading | None:
    return Reading(tuple(_alert(part, match) for part in post.parts if (match := _title(part))))


def _title(part: Part) -> re.Match[str] | None:
    return _TITLE.match(part.title or part.fallback)


def _alert(part: Part, match: re.Match[str]) -> Alert:
    tags = part.field("Tags")
    return make_alert(
        SENDER.name,
        match[1],
        status_of(match[2]) or "firing",
        labels={"project": part.field("Project"), "tags": " ".join(tags.split())},
        annotations={title.casefold().replace(" ", "_"): part.field(title) for title in _NOTES} | {"note": match[3].strip(" .()")},
        links=Links().add("source", part.title_link).by_kind(),
        raw="\n".join([part.title or part.fallback, *(f"{field.title}: {field.value}" for field in part.fields)]),
    )


SENDER = Sender(name="healthchecks", claims=_claims, read=_read)
