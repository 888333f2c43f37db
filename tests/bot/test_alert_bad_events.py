"""Message events that Slack should never send, through the real listener: they are taken, and nothing fails inside us."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from alert_bot import ALERTS_ID, AlertBot, alert_bot, alertmanager
from slack_worker import emulator

from storage.engine import Database

JUNK: tuple[Any, ...] = (
    None, [], {}, 0, -1, True, "", "x" * 300, ["a"], {"a": 1}, "\x00", "\ud800", "nan", "1e400",
    "99999999999999999999.1", 10**30,
)  # fmt: skip
POST = {**alertmanager(), "type": "message", "subtype": "bot_message", "channel": ALERTS_ID, "channel_type": "channel"}
POST |= {"bot_profile": {"name": "AlertManager", "app_id": "A1"}, "event_ts": "1796050000.000100", "ts": "1796050000.000100"}
# Of the events that come of it, every third is sent.
THIN_OUT = 3
TIMES = {"ts": "1796050001.000200", "event_ts": "1796050001.000200"}
EVENTS = (
    {**POST, "thread_ts": "1796049000.000100"},
    {"type": "message", "subtype": "message_changed", "channel": ALERTS_ID, **TIMES, "message": POST, "previous_message": POST},
    {"type": "message", "subtype": "message_deleted", "channel": ALERTS_ID, **TIMES, "deleted_ts": POST["ts"], "previous_message": POST},
)


def spoilt(value: Any) -> Iterator[Any]:
    """`value` with each of its parts, one at a time, turned into each piece of junk."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from ({**value, key: bad} for bad in (*JUNK, *spoilt(part)))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from ([*value[:index], bad, *value[index + 1 :]] for bad in (*JUNK, *spoilt(part)))


def _sent(bot: AlertBot, body: dict[str, Any]) -> int:
    data = json.dumps(body).encode()
    request = urllib.request.Request(bot.address, data, bot.slack.sign(data))
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


async def _faults(bot: AlertBot, events: Sequence[Any], caplog: pytest.LogCaptureFixture) -> list[tuple[int, str, str]]:
    found = []
    for number, event in enumerate(events):
        caplog.clear()
        body = {"type": "event_callback", "team_id": bot.slack.team_id, "event_id": f"Ev{number}", "event": copy.deepcopy(event)}
        status = await asyncio.to_thread(_sent, bot, body)
        told = [each for each in caplog.records if each.levelno >= logging.ERROR or each.exc_info]
        if status != 200 or told:
            found.append((status, told[0].getMessage() + repr(told[0].exc_info)[:300] if told else "", json.dumps(event)))
    return found


async def test_every_field_may_be_junk(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    with emulator() as slack:
        async with alert_bot(slack, database, alert_debounce_seconds=600.0) as bot:
            events = [bad for event in EVENTS for bad in spoilt(event)]
            assert await _faults(bot, [*JUNK, *events[::THIN_OUT]], caplog) == []
