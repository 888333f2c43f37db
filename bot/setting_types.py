"""The kinds of values that settings have: zones, Slack's ids, cron lines, and tables of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.cron import checked_cron

LOCAL = "local"


def _known_zone(name: str) -> str:
    if name != LOCAL:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"{name!r} is no time zone; write one like Europe/Berlin or Asia/Shanghai") from error
    return name


def _slack_id(kinds: str, what: str) -> Callable[[str], str]:
    def check(name: str) -> str:
        if not re.fullmatch(rf"[{kinds}][A-Z0-9]{{4,}}", name):
            raise ValueError(f"{name!r} is no {what}: ids look like {kinds[0]}0123456789, names are not ids")
        return name

    return check


ZoneName = Annotated[str, AfterValidator(_known_zone)]
# A name in the place of an id would match nothing, and silently refuse everybody.
ChannelId = Annotated[str, AfterValidator(_slack_id("CGD", "channel id"))]
UserId = Annotated[str, AfterValidator(_slack_id("UW", "user id"))]
TeamId = Annotated[str, AfterValidator(_slack_id("TE", "workspace id"))]
CronText = Annotated[str, AfterValidator(checked_cron)]


class QueryParameter(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["string", "integer", "number", "boolean", "time"] = "string"
    description: str = ""
    required: bool = True


class NamedQuery(BaseModel):
    """One read-only statement of query_order. `parameters` are the :names in `sql`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sql: str
    description: str = ""
    parameters: dict[str, QueryParameter] = Field(default_factory=dict)


class Patrol(BaseModel):
    """A look for what fires, by the clock. `name` is the channel's id where none is given, `zone` the setting's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cron: Annotated[CronText, Field(min_length=1)]
    channel: ChannelId
    zone: ZoneName | None = None
    name: str = Field("", max_length=80)
