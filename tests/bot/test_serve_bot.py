"""The bot as `serve` runs it: how it starts, what it refuses to start with, and how it stops."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_bot import SCHEMA, slack_settings
from whole_bot import environment_for, running

from bot.emulator.slack import SlackEmulator
from bot.errors import ConfigError
from bot.manifest import manifest
from bot.serve import Mode, ceilings
from bot.slack.identity import access, check_tokens
from storage.trace import TraceStore

MODES = pytest.mark.parametrize("mode", ["socket", "http"])
QUESTION = "why is checkout slow?"


@MODES
async def test_a_mention_is_answered_in_its_thread(tmp_path: Path, mode: Mode) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.install(manifest())
        async with running(slack, tmp_path, mode) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: "Not proven" in slack.thread_text("incidents", ts), 20)
            assert slack.refused == []
            assert (bot.alive(), await bot.ready()) == (True, "")


@pytest.mark.parametrize(
    ("settings", "mode", "named"),
    [
        ({"slack_bot_token": None}, "socket", "slack_bot_token"),
        ({"slack_bot_token": " "}, "socket", "slack_bot_token"),
        ({"slack_bot_token": "xoxp-a-user"}, "socket", "slack_bot_token"),
        ({"slack_bot_token": "xapp-swapped"}, "http", "slack_bot_token"),
        ({"slack_app_token": None}, "socket", "slack_app_token"),
        ({"slack_app_token": "xoxb-swapped"}, "socket", "slack_app_token"),
        ({"slack_signing_secret": None}, "http", "slack_signing_secret"),
    ],
)
def test_a_missing_or_swapped_token_is_named(settings: dict[str, Any], mode: Mode, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        check_tokens(slack_settings(**settings), mode)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"slack_bot_token": "xoxb-wrong"}, "slack_bot_token"),
        ({"slack_app_token": "xapp-wrong"}, "slack_app_token"),
        ({"slack_api_url": "slack.com"}, "slack_api_url"),
        ({"daily_cost": 5.0}, "daily_cost needs price_in"),
    ],
)
async def test_a_token_that_slack_refuses_is_named(tmp_path: Path, settings: dict[str, Any], named: str) -> None:
    with SlackEmulator() as slack:
        with pytest.raises(ConfigError, match=named):
            async with running(slack, tmp_path, **settings):
                pass
        assert slack.sockets == 0


async def test_a_revoked_token_is_named(tmp_path: Path) -> None:
    with SlackEmulator() as slack:
        slack.revoke(slack.bot_token)
        with pytest.raises(ConfigError, match="slack_bot_token.*cannot be used"):
            async with running(slack, tmp_path, "http"):
                pass


@pytest.mark.parametrize("scope", ["assistant:write", "reactions:write", "files:write", "users:read"])
async def test_a_missing_scope_takes_its_feature_alone(
    tmp_path: Path, scope: str, caplog: pytest.LogCaptureFixture
) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.install(manifest())
        slack.behaviour.scopes.discard(scope)
        async with running(slack, tmp_path):
            assert [record.message for record in caplog.records if scope in record.message and "manifest" in record.message]
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: "Not proven" in slack.thread_text("incidents", ts), 20)


async def test_a_scope_without_which_nothing_works_ends_the_start(tmp_path: Path) -> None:
    with SlackEmulator() as slack:
        slack.behaviour.scopes.discard("chat:write")
        with pytest.raises(ConfigError, match="lacks the scope chat:write"):
            async with running(slack, tmp_path):
                pass


async def test_a_client_id_in_the_environment_does_not_turn_bolt_to_oauth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"):
        monkeypatch.setenv(name, "somebody-elses")
    with SlackEmulator(schema=SCHEMA) as slack:
        async with running(slack, tmp_path, "http"):
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: "Not proven" in slack.thread_text("incidents", ts), 20)
    assert os.environ["SLACK_CLIENT_ID"] == "somebody-elses"


async def test_the_log_names_app_workspace_and_connections(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="bot")
    with SlackEmulator() as slack:
        async with running(slack, tmp_path / "1"), running(slack, tmp_path / "2"):
            await slack.wait_for(lambda: any("2 connections" in record.message for record in caplog.records))
            line = next(record.message for record in caplog.records if "2 connections" in record.message)
            assert ("proofthread" in line, "A0EMU" in line, "Loopback" in line) == (True, True, True)


async def test_two_bots_on_one_database_answer_once(tmp_path: Path, database_url: str) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.behaviour.copies = (2, 3)
        shared = {"database_url": database_url}
        async with running(slack, tmp_path / "1", **shared) as one, running(slack, tmp_path / "2", **shared) as other:
            await slack.wait_for(lambda: slack.sockets == 2)
            assert one.app.work.owner != other.app.work.owner
            threads = [slack.post("incidents", "ana", f"{slack.mention} why is service {n} slow?") for n in range(4)]
            await slack.wait_for(lambda: all("Not proven" in slack.thread_text("incidents", ts) for ts in threads), 30)
            await slack.wait_for(lambda: one.queue.idle and other.queue.idle)
            for ts in threads:
                assert slack.thread_text("incidents", ts).count("Not proven") == 1
            assert slack.refused == []


async def test_a_question_that_is_deleted_while_it_waits_leaves_nothing_in_its_thread(tmp_path: Path) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.fail("chat.startStream", delay=1.0, times=None)
        async with running(slack, tmp_path, max_runs=1) as bot:
            slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: bot.queue.running == 1)
            ts = slack.post("incidents", "ben", f"{slack.mention} why is the shop slow?")
            store = TraceStore(bot.app.database)
            await slack.wait_for(lambda: len(store.recent_runs(2)) == 2)
            slack.delete("incidents", ts)
            await slack.wait_for(lambda: "CANCELLED" in [run.status for run in store.recent_runs(2)], 20)
            await slack.wait_for(lambda: bot.queue.idle, 30)
            assert [each for each in slack.messages("incidents") if each.get("thread_ts") == ts and each["ts"] != ts] == []


@pytest.mark.parametrize("how", ["abort", "close", "refresh_requested"])
async def test_events_flow_again_after_a_lost_connection(tmp_path: Path, how: Any) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.behaviour.ack_seconds, slack.behaviour.retry_delays = 1.0, (1.0, 5.0, 10.0)
        async with running(slack, tmp_path):
            await slack.wait_for(lambda: slack.sockets == 1)
            slack.drop_sockets(how)
            await slack.wait_for(lambda: len(slack.calls("apps.connections.open")) >= 2 and slack.sockets == 1, 25)
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: "Not proven" in slack.thread_text("incidents", ts), 30)


async def test_health_is_served_beside_socket_mode(tmp_path: Path) -> None:
    with SlackEmulator() as slack:
        async with running(slack, tmp_path, health_port=0) as bot, aiohttp.ClientSession() as session:
            for path in ("/healthz", "/readyz"):
                async with session.get(bot.address + path) as answer:
                    assert answer.status == 200
            async with session.post(f"{bot.address}/slack/events") as answer:
                assert answer.status == 404
            slack.refuse_sockets(60)
            slack.drop_sockets("close")
            await slack.wait_for(lambda: slack.sockets == 0)

            async def readiness() -> int:
                async with session.get(f"{bot.address}/readyz") as answer:
                    return answer.status

            deadline = asyncio.get_running_loop().time() + 20
            while await readiness() == 200:
                assert asyncio.get_running_loop().time() < deadline
                await asyncio.sleep(0.1)


async def test_threads_that_compute_let_acknowledgements_pass(tmp_path: Path) -> None:
    before = sys.getswitchinterval()
    with SlackEmulator() as slack:
        async with running(slack, tmp_path):
            assert sys.getswitchinterval() <= 0.001
        assert sys.getswitchinterval() == pytest.approx(before)


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with SlackEmulator() as slack:
        async with running(slack, tmp_path / "1", "http") as first:
            port = int(first.address.rsplit(":", 1)[1])
            with pytest.raises(ConfigError, match="http_port"):
                async with running(slack, tmp_path / "2", health_port=port):
                    pass


@MODES
async def test_sigterm_ends_the_process_cleanly(tmp_path: Path, mode: str) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "serve", *(["--http"] if mode == "http" else []),
            env={**{k: v for k, v in os.environ.items() if not k.startswith("PROOFTHREAD_")}, **environment_for(slack, tmp_path)},
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stderr is not None
        said = b""
        while b"Ready" not in said:
            line = await asyncio.wait_for(process.stderr.readline(), 30)
            assert line, said.decode()
            said += line
        if mode == "socket":
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: "roven" in slack.thread_text("incidents", ts), 30)
        process.send_signal(signal.SIGTERM)
        rest = await asyncio.wait_for(process.stderr.read(), 30)
        assert await process.wait() == 0
        assert b"Traceback" not in said + rest
        assert slack.sockets == 0


def test_a_start_without_tokens_is_the_operator_s_to_mend(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PROOFTHREAD_", "SLACK_"))}
    ended = subprocess.run(
        [sys.executable, "-m", "bot", "serve"], env=environment | {"PROOFTHREAD_DATA_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "slack_bot_token" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_what_runs_when_the_bot_stops_is_taken_up_by_the_next_one(tmp_path: Path, database_url: str) -> None:
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.fail("chat.startStream", delay=0.3, times=None)
        async with running(slack, tmp_path / "1", grace_seconds=0.0, database_url=database_url) as bot:
            ts = slack.post("incidents", "ana", f"{slack.mention} {QUESTION}")
            await slack.wait_for(lambda: TraceStore(bot.app.database).recent_runs(1), 10)
        slack.clear_faults()
        async with running(slack, tmp_path / "2", database_url=database_url):
            # Where the first one ended the run and could not tell it any more, that is found after half a minute.
            await slack.wait_for(lambda: "Not proven" in slack.thread_text("incidents", ts), 100)
            assert slack.thread_text("incidents", ts).count("Not proven") == 1


def test_addresses_and_ceilings_are_read_from_the_settings() -> None:
    settings = slack_settings(
        slack_api_url="https://slack.example/api", daily_tokens=10, daily_cost_per_person=2.0, price_in=1.0, price_out=1.0,
    )  # fmt: skip
    assert access(settings).base_url == "https://slack.example/api/"
    assert (ceilings(settings).workspace.tokens, ceilings(settings).person.cost) == (10, 2.0)
