"""The run's clock, in the asker's zone and in UTC. Never evidence."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from tools.contracts import CallContext, Contract, EvidenceStatus, ToolDeps, ToolResult, ToolSpec
from tools.errors import ToolFailed
from tools.window import moment_of, stamp


class DateTimeInput(Contract):
    time: str | None = Field(
        None, description="A time to convert: 2026-11-30T08:40, 08:40, -30m, Unix seconds. Default: now."
    )
    zone: str | None = Field(None, description="A further zone to show it in, like Asia/Shanghai.")


async def run(arguments: DateTimeInput, _: ToolDeps, context: CallContext) -> ToolResult:
    moment = moment_of(arguments.time, context) if arguments.time else context.now
    payload = {
        "utc": stamp(moment),
        "local": _shown(moment, context.zone),
        "zone": context.zone.key,
        "now_utc": stamp(context.now),
        "unix_seconds": int(moment.astimezone(UTC).timestamp()),
    }
    if arguments.zone:
        payload["in_zone"] = _shown(moment, _zone(arguments.zone))
    return ToolResult(payload=payload, evidence_status=EvidenceStatus.SUPPORTED)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolFailed(f"{name!r} is no time zone. Write one like Europe/Berlin or Asia/Shanghai") from error


def _shown(moment: datetime, zone: ZoneInfo) -> str:
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S %Z (UTC%z), %A")


TOOL = ToolSpec(
    name="date_time",
    description="Tells the current time in the asker's zone and in UTC, and converts a time. Not evidence.",
    input_model=DateTimeInput,
    run=run,
    evidence_level="none",
    timeout_seconds=5.0,
)
