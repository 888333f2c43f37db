"""What comes to our address: checked before Bolt reads it, acknowledged where nothing listens, and our health."""

from __future__ import annotations

import json
import time
from typing import Any

import aiohttp
import pytest
from slack_bot import Well, listening

from bot.connection import http_door
from bot.door import LARGEST_BODY, Door
from bot.emulator.slack import SlackEmulator
from storage.engine import Database

EVENT = {"type": "event_callback", "team_id": "T0EMU", "event_id": "Ev1", "event": {"type": "app_mention"}}


async def post(slack: SlackEmulator, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    url = slack.world.http.urls[0]
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize(
    "stamp",
    ["", "abc", "-1", "+1796000000", " 1796000000", "1796000000.5", "١٧٩٦٠٠٠٠٠٠", "1e9", "99999999999999999999", "0x10", "NaN", None],
)
async def test_an_odd_time_stamp_is_refused_before_bolt(sqlite_database: Database, stamp: str | None) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            headers = {"X-Slack-Signature": "v0=0", "Content-Type": "application/json"}
            if stamp is not None:
                headers["X-Slack-Request-Timestamp"] = stamp
            status, text = await post(slack, b"{}", headers)
            assert status in (400, 401)
            assert "Traceback" not in text
            assert bot.desk.unhandled == {}


@pytest.mark.parametrize("change", ["old", "tampered", "unsigned", "not utf-8", "not json, unsigned", "too large"])
async def test_what_slack_did_not_sign_is_not_read(sqlite_database: Database, change: str) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            body = json.dumps(EVENT).encode()
            headers = slack.sign(body)
            expected = {401}
            if change == "old":
                slack.world.http.clock = lambda: time.time() - 600
                headers = slack.sign(body)
            elif change == "tampered":
                body = body.replace(b"Ev1", b"Ev2")
            elif change == "unsigned":
                headers.pop("X-Slack-Signature")
            elif change == "not utf-8":
                body = b'{"type": "\xff"}'
                headers, expected = slack.sign(body), {400}
            elif change == "not json, unsigned":
                body = b"{{{"
            else:
                body = b"x" * (LARGEST_BODY + 1)
                expected = {413}
            status, text = await post(slack, body, headers)
            assert status in expected
            assert "Traceback" not in text
            assert (bot.runs, bot.desk.unhandled) == ([], {})


@pytest.mark.parametrize("mode", ["http", "socket"])
@pytest.mark.parametrize(
    ("event", "counted"),
    [({"type": "team_rename", "name": "x"}, "team_rename"), ({"type": "emoji_changed"}, "emoji_changed")],
)
async def test_an_event_that_nothing_listens_to_is_taken_once_and_counted(
    sqlite_database: Database, event: dict[str, Any], counted: str, mode: str
) -> None:
    with SlackEmulator() as slack:
        slack.behaviour.retry_delays, slack.behaviour.ack_seconds = (0.05, 0.05, 0.05), 1.0
        async with listening(slack, sqlite_database, mode) as bot:
            slack.send_event(event)
            await bot.settled(1)
            assert [len(each.attempts) for each in slack.deliveries] == [1]
            assert bot.desk.unhandled == {counted: 1}


async def test_app_rate_limited_and_unknown_clicks_are_taken(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            limited = json.dumps({"type": "app_rate_limited", "team_id": "T0EMU", "minute_rate_limited": 1}).encode()
            assert (await post(slack, limited, slack.sign(limited)))[0] == 200
            assert bot.desk.unhandled == {"app_rate_limited": 1}


async def test_slacks_own_challenge_is_answered(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database):
            body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
            status, text = await post(slack, body, slack.sign(body))
            assert (status, "abc" in text) == (200, True)


async def test_a_listener_that_fails_answers_500_without_a_traceback(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            # A command without its fields is none that Slack sends.
            body = b"command=%2Fproofthread&text=help"
            status, text = await post(slack, body, slack.sign(body, "application/x-www-form-urlencoded"))
            assert (status, "Traceback" in text) == (500, False)
            assert bot.runs == []


class Ill(Well):
    def alive(self) -> bool:
        return False

    async def ready(self) -> str:
        return "Slack is not connected"


@pytest.mark.parametrize(
    ("path", "well", "status"),
    [("/healthz", True, 200), ("/readyz", True, 200), ("/healthz", False, 503), ("/readyz", False, 503), ("/", True, 404), ("/slack/events", True, 404)],
)
async def test_health_is_told_over_http(path: str, well: bool, status: int) -> None:
    door = http_door(Door(Well() if well else Ill()), "127.0.0.1", 0)
    async with door as url, aiohttp.ClientSession() as session, session.get(f"{url}{path}") as answer:
        assert answer.status == status
        if path == "/readyz":
            assert (await answer.json())["why"] == ("" if well else "Slack is not connected")


async def test_bolt_asks_who_it_is_once_however_many_events_come_first(sqlite_database: Database) -> None:
    with SlackEmulator() as slack:
        async with listening(slack, sqlite_database) as bot:
            before = len(slack.calls("auth.test"))
            for number in range(20):
                slack.post("incidents", "ana", f"{slack.mention} why is service {number} slow?")
            await bot.settled(40)
            assert len(slack.calls("auth.test")) == before
            assert len(bot.runs) == 20


