"""Bug reports of other bots about events that came late, twice, to the wrong process or not at all."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from served import delivered_again, serving
from slack_worker import emulator
from small_incident import ServiceInput, specs
from whole_bot import environment_for

from bot.emulator.slack import SlackEmulator
from storage.engine import Database
from storage.trace import TraceStore
from tools.contracts import CallContext, ToolDeps, ToolResult, ToolSpec, nothing_found

MODES = pytest.mark.parametrize("mode", ["socket", "http"])


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


@MODES
async def test_an_event_that_is_sent_again_after_it_was_taken_starts_no_second_run(
    slack: SlackEmulator, tmp_path: Path, mode: Any
) -> None:
    """slackapi/bolt-python#1484: the retry's number was lost in Socket Mode."""
    async with serving(slack, tmp_path, mode) as served:
        ts = served.ask()
        await slack.wait_for(lambda: len(slack.deliveries) == 2)
        for attempt in (1, 2, 3):
            for delivery in slack.deliveries:
                await delivered_again(slack, delivery, attempt)
        await served.answer_to("incidents", ts)
        await asyncio.gather(*(delivered_again(slack, delivery, 1) for delivery in slack.deliveries))
        await served.settled()
        assert (len(served.runs), len(served.ours("incidents", ts))) == (1, 1)


async def test_one_event_on_two_sockets_of_two_processes_at_once_is_one_run(
    slack: SlackEmulator, database_url: str, tmp_path: Path
) -> None:
    """slackapi/bolt-js#2487, #2188, python-slack-events-api#93: the same event many times, first attempts too."""
    slack.behaviour.copies = (4, 4)
    async with program(slack, tmp_path, database_url), program(slack, tmp_path, database_url):
        await slack.wait_for(lambda: slack.sockets == 2, 30)
        threads = [slack.post("incidents", "ana", f"{slack.mention} why is shop {number} slow?") for number in range(3)]
        await slack.wait_for(lambda: all("roven" in slack.thread_text("incidents", ts) for ts in threads), 60)
        await slack.wait_for(lambda: all(each.outcome == "taken" for each in slack.deliveries))
    database = Database(database_url)
    try:
        assert len(TraceStore(database).recent_runs(100)) == 3
    finally:
        database.close()
    assert [slack.thread_text("incidents", ts).count("Not proven") for ts in threads] == [1, 1, 1]
    assert slack.refused == []


@MODES
@pytest.mark.parametrize("order", ["app_mention_first", "message_first"])
async def test_a_mention_that_comes_as_two_events_is_one_run(
    slack: SlackEmulator, tmp_path: Path, mode: Any, order: Any
) -> None:
    """slackapi/bolt-python#941, yuya-takeyama/cc-slack#30, jeremylongshore/claude-code-slack-channel#8."""
    slack.behaviour.mention_order, slack.behaviour.mention_gap = order, (0.0, 0.2)
    async with serving(slack, tmp_path, mode) as served:
        threads = [served.ask() for _ in range(3)]
        await slack.wait_for(lambda: all(served.answers("incidents", ts) for ts in threads), 30)
        await served.settled()
        said = [each.payload["event"] for each in slack.deliveries if each.payload["event"].get("user") == "U0ANA00001"]
        assert Counter(event["type"] for event in said) == {"app_mention": 3, "message": 3}
        assert len(served.runs) == 3
        assert [len(served.ours("incidents", ts)) for ts in threads] == [1, 1, 1]


async def test_a_dead_socket_is_noticed_and_events_flow_again(slack: SlackEmulator, tmp_path: Path) -> None:
    """slackapi/python-slack-sdk#1446, #1110, NousResearch/hermes-agent#52923, #46990: a zombie that says it is connected."""
    slack.behaviour.ack_seconds, slack.behaviour.retry_delays = 1.0, (1.0, 3.0, 10.0)
    async with serving(slack, tmp_path) as served:
        await slack.wait_for(lambda: slack.sockets == 1)
        slack.refuse_sockets(2)
        slack.drop_sockets("abort")
        ts = served.ask()
        await served.answer_to("incidents", ts, 40)
        assert await served.bot.ready() == ""
        assert any(len(each.attempts) > 1 for each in slack.deliveries)
        # A socket may be dead and look alive: only answered pings count.
        assert served.bot.sockets is not None
        served.bot.sockets._handler.client.last_ping_pong_time = time.time() - 120
        assert await served.bot.ready() == "Slack is not connected"


@MODES
async def test_tools_that_block_hold_up_no_acknowledgement(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    """slackapi/bolt-python#1355, Netflix/dispatch#2868: the acknowledgement was late because the loop was blocked."""

    async def run(arguments: ServiceInput, _: ToolDeps, __: CallContext) -> ToolResult:
        await asyncio.to_thread(time.sleep, 2)
        return nothing_found(f"nothing of {arguments.service}", scope={})

    blocking = ToolSpec("query_logs", "Blocks for two seconds", ServiceInput, run, "direct")
    tools = [blocking, *(spec for spec in specs() if spec.name != "query_logs")]
    host = urlsplit(slack.api_url).netloc.replace("127.0.0.1", "localhost")
    settings = {"max_runs": 12, "slack_api_url": f"http://{host}/api/"}
    async with serving(slack, tmp_path, mode, tools=tools, grace_seconds=0.0, **settings) as served:
        for _ in range(12):
            served.ask()
        await slack.wait_for(lambda: served.bot.queue.running == 12)
        asking = [slack.add_user(f"new-{number}") for number in range(10)]
        for name in asking:
            slack.post("incidents", name, f"{slack.mention} hello")
            await asyncio.sleep(0.1)
        await slack.wait_for(lambda: all(each.outcome == "taken" for each in slack.deliveries), 30)
        seconds = sorted(each.attempts[0].seconds for each in slack.deliveries)
        assert seconds[-1] < 1.8
        # What a look-up of Slack's address needs, too.
        await asyncio.wait_for(asyncio.to_thread(int), 1)
        assert served.bot.queue.running == 12


async def test_bots_that_share_an_app_token_handle_each_event_once(
    slack: SlackEmulator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """slackapi/bolt-python#1316, #1071, node-slack-sdk#1654: several environments on one token; too many sockets."""
    caplog.set_level(logging.INFO, logger="bot")
    slack.behaviour.max_sockets = 2
    async with serving(slack, tmp_path) as one, serving(slack, tmp_path) as two, serving(slack, tmp_path) as third:
        await slack.wait_for(lambda: slack.sockets == 2)
        threads = [one.ask() for _ in range(4)]
        await slack.wait_for(lambda: all(one.answers("incidents", ts) for ts in threads), 40)
        for served in (one, two, third):
            await served.settled(30)
        assert (len(one.runs), [len(one.ours("incidents", ts)) for ts in threads]) == (4, [1, 1, 1, 1])
        told = [record.message for record in caplog.records if "connections of this app" in record.message]
        assert any("A0EMU" in line and "2 connections" in line for line in told)


@MODES
async def test_an_event_outlives_a_spell_without_auth_test(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    """slackapi/java-slack-sdk#1289: a failed auth.test dropped events; with Bolt for Python as a silent 200."""
    async with serving(slack, tmp_path, mode) as served:
        slack.fail("auth.test", error="internal_error", times=None)
        ts = served.ask()
        await served.answer_to("incidents", ts)
        assert len(served.runs) == 1


async def test_calls_share_one_session(slack: SlackEmulator, tmp_path: Path) -> None:
    """PostHog/posthog#40410: a session a call, so a handshake and a name look-up a call."""
    async with relay(slack) as (address, accepted), serving(slack, tmp_path, slack_api_url=address) as served:
        for _ in range(4):
            await served.answer_to("incidents", served.ask())
        assert len(slack.call_log()) > 30
        assert accepted["connections"] <= 6


# ---------------------------------------------------------------- processes and wires


@asynccontextmanager
async def program(slack: SlackEmulator, folder: Path, url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`proofthread serve` in a process of its own, connected."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PROOFTHREAD_", "SLACK_"))}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve",
        env={**ours, **environment_for(slack, folder), "PROOFTHREAD_DATABASE_URL": url},
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stderr is not None
    said = b""
    try:
        while b"Ready" not in said:
            line = await asyncio.wait_for(child.stderr.readline(), 60)
            assert line, said.decode()
            said += line
        reading = asyncio.create_task(child.stderr.read())
        yield child
        child.terminate()
        assert b"Traceback" not in await asyncio.wait_for(reading, 30)
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


@asynccontextmanager
async def relay(slack: SlackEmulator) -> AsyncIterator[tuple[str, Counter[str]]]:
    """A wire to Slack's Web API that counts connections."""
    accepted: Counter[str] = Counter()
    target = urlsplit(slack.api_url)
    writers: list[asyncio.StreamWriter] = []

    async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
        sink.close()

    async def connected(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        accepted["connections"] += 1
        far_source, far_sink = await asyncio.open_connection(target.hostname, target.port)
        writers.extend((sink, far_sink))
        await asyncio.gather(pass_on(source, far_sink), pass_on(far_source, sink), return_exceptions=True)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/", accepted
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await server.wait_closed()

