"""Load on the bot, and what it costs: processes of the bot beside a loopback Slack, for tests (short) and benchmarks (long).

`python slack_load.py KIND API_URL FOLDER DATABASE_URL LATENCY MODE` is such a process. KIND: "bot" is the whole bot with a
model that answers after LATENCY seconds; "door" its way in alone, without a queue; "bare" is Bolt
with a listener that commits one row. It prints "ready ADDRESS", and whatever it is told on stdin it does: "scan PATH" reads
a log file with query_logs' own scanner until it is told something else.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import psutil
from served import serving
from slack_bot import listening
from slack_worker import Incident, part_of
from small_incident import skills
from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine, event, insert

from bot.connection import http_door
from bot.door import EVENTS_PATH
from bot.emulator.slack import SlackEmulator
from storage.engine import Database, upgrade
from tools.builtin.query_logs import QueryLogs
from tools.builtin.query_logs import run as query_logs
from tools.clients.log_files import LogFiles
from tools.contracts import CallContext, ToolDeps

ROOT = Path(__file__).parents[2]
PEOPLE = 20


@dataclass
class Program:
    """A process of the bot. `cpu` is what it and its children have used, in seconds."""

    child: asyncio.subprocess.Process
    address: str

    @property
    def cpu(self) -> float:
        used = psutil.Process(self.child.pid).cpu_times()
        return float(used.user + used.system + used.children_user + used.children_system)

    @property
    def megabytes(self) -> float:
        return float(psutil.Process(self.child.pid).memory_info().rss) / 1e6

    async def tell(self, order: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(f"{order}\n".encode())
        await self.child.stdin.drain()


@asynccontextmanager
async def program(
    slack: SlackEmulator, kind: str, folder: Path, url: str, *, latency: float = 0.0, mode: str = "http"
) -> AsyncIterator[Program]:
    folder.mkdir(parents=True, exist_ok=True)
    child = await asyncio.create_subprocess_exec(
        sys.executable, __file__, kind, slack.api_url, str(folder), url, str(latency), mode,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{Path(__file__).parent}"},
    )  # fmt: skip
    assert child.stdout is not None
    try:
        line = (await asyncio.wait_for(child.stdout.readline(), 90)).decode().split()
        assert line[:1] == ["ready"], "the process did not start"
        yield Program(child, line[1] if len(line) > 1 else "")
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


# ---------------------------------------------------------------- what people do


def populated(slack: SlackEmulator, channels: int) -> tuple[list[str], list[str]]:
    """Names of channels and people."""
    people = [slack.add_user(f"p{number}") for number in range(PEOPLE)]
    return [slack.add_channel(f"c{number}") for number in range(channels)], people


async def paced(count: int, a_second: float, act: Callable[[int], object]) -> None:
    """`act(number)` that often a second. The loopback Slack has a thread of its own."""
    start = time.monotonic()
    for number in range(count):
        wait = start + number / a_second - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        act(number)


async def taken(slack: SlackEmulator, timeout: float = 120.0) -> None:
    await slack.wait_for(lambda: all(each.outcome != "pending" for each in slack.deliveries), timeout)


def acks(slack: SlackEmulator) -> list[float]:
    """Seconds from sending to the acknowledgement, of every attempt, in order of size."""
    return sorted(attempt.seconds for each in slack.deliveries for attempt in each.attempts)


def share(sorted_values: Sequence[float], part: float) -> float:
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


def signs_of_life(slack: SlackEmulator, asked: dict[str, float]) -> list[float]:
    """Seconds from a question (thread ts → when it was asked) to the first status, session or message in its thread."""
    first: dict[str, float] = {}
    shown = ("assistant.threads.setStatus", "agents.sessions.setStatus", "chat.postMessage", "chat.startStream")
    for call in slack.call_log():
        thread = str(call.arguments.get("thread_ts") or "")
        if call.method in shown and thread in asked:
            first.setdefault(thread, call.at)
    return sorted(first.get(ts, float("inf")) - at for ts, at in asked.items())


def answers_in(slack: SlackEmulator, channel: str, ts: str) -> int:
    return sum(part_of(message)[0] == "answer" for message in slack.messages(channel, ts))


def counted(slack: SlackEmulator) -> dict[str, int]:
    """Answers by thread, over all channels, read once."""
    found: dict[str, int] = {}
    for messages in slack.world.state.messages.values():
        for message in list(messages.values()):
            if part_of(message)[0] == "answer":
                thread = str(message.get("thread_ts"))
                found[thread] = found.get(thread, 0) + 1
    return found


def prepared(file: Path) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{file}"
    database = Database(url)
    upgrade(database)
    database.close()
    return url


# ---------------------------------------------------------------- the processes


async def work(kind: str, api_url: str, folder: str, url: str, latency: float, mode: str) -> None:
    slack: Any = SimpleNamespace(
        api_url=api_url, bot_token=SlackEmulator.bot_token, app_token=SlackEmulator.app_token,
        signing_secret=SlackEmulator.signing_secret, deliver_to=lambda *_: None,
    )  # fmt: skip
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(KINDS[kind](slack, Path(folder), url, latency, mode))
        print("ready", address, flush=True)  # noqa: T201
        await _obey()


@asynccontextmanager
async def _bot(slack: Any, folder: Path, url: str, latency: float, mode: Any) -> AsyncIterator[str]:
    runs = 64 if latency else 8
    async with serving(
        slack, folder, mode, model=Incident(seconds=latency), database_url=url, max_runs=runs, max_seconds=600
    ) as served:
        yield served.bot.address


@asynccontextmanager
async def _door(slack: Any, folder: Path, url: str, latency: float, mode: str) -> AsyncIterator[str]:
    del folder, latency, mode
    addresses: list[str] = []
    slack.deliver_to = addresses.append
    database = Database(url)
    async with listening(slack, database):
        yield addresses[0].removesuffix(EVENTS_PATH)
    database.close()


@asynccontextmanager
async def _bare(slack: Any, folder: Path, url: str, latency: float, mode: str) -> AsyncIterator[str]:
    """Bolt and one committed insert, as one would write it: SQLAlchemy in a thread, SQLite with the same settings."""
    from slack_bolt.adapter.asgi.async_handler import AsyncSlackRequestHandler
    from slack_bolt.app.async_app import AsyncApp
    from slack_sdk.web.async_client import AsyncWebClient

    del latency, mode
    engine = create_engine(url if url.startswith("mysql") else f"sqlite:///{folder / 'bare.db'}")
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _as_ours)
    rows = Table(f"bare_{os.getpid()}", MetaData(), Column("id", Integer, primary_key=True), Column("key", String(64)))
    rows.create(engine)

    def commit(key: str) -> None:
        with engine.begin() as connection:
            connection.execute(insert(rows), {"key": key})

    client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
    client.proxy = None
    app = AsyncApp(client=client, signing_secret=slack.signing_secret, process_before_response=True)

    async def heard(body: dict[str, Any]) -> None:
        await asyncio.to_thread(commit, body["event_id"])

    app.event("message")(heard)
    app.event("app_mention")(heard)
    bolt: Any = AsyncSlackRequestHandler(app, path=EVENTS_PATH)
    async with http_door(bolt, "127.0.0.1", 0) as address:
        yield address
    engine.dispose()


def _as_ours(connection: Any, _: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


async def _obey() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    scanning: asyncio.Task[None] | None = None
    while line := (await reader.readline()).decode().split():
        if scanning is not None:
            scanning.cancel()
        if line[0] == "scan":
            scanning = asyncio.create_task(_scan(Path(line[1])))


async def _scan(path: Path) -> None:
    """Over and over, as query_logs does it."""
    files = LogFiles([path])
    context = CallContext(run_id="scan", now=datetime(2026, 11, 30, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    while True:
        await query_logs(QueryLogs(since="2026-11-30T00:00:00Z"), ToolDeps(skills=skills(), logs=files), context)


KINDS: dict[str, Callable[..., Any]] = {"bot": _bot, "door": _door, "bare": _bare}

if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]), sys.argv[6]))
