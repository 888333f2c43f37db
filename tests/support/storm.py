"""A storm of alerts on two processes of `proofthread serve` and one database: for a test (short) and a benchmark (long)."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from slack_load import ROOT, paced
from slack_worker import part_of
from sqlalchemy import func, select
from whole_bot import environment_for

from bot.emulator.slack import SlackEmulator
from bot.manifest import manifest
from storage.engine import Database
from storage.models_incidents import incident, incident_run
from storage.models_slack import slack_event

NAMES = ("HighLatency", "HighErrorRate", "QueueGrows", "PodRestarts", "CpuHigh")
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Storm:
    """`posts` about `incidents` services, spread over `channels`; the last five of each service say that it is over."""

    posts: int
    incidents: int
    channels: int = 4
    a_second: float = 20.0
    debounce: float = 20.0


@dataclass(frozen=True)
class Stormed:
    """What came of it. `decided` posts are those that the bot has decided on, `late` those of them that no incident counts,
    since the end of what they speak of was heard before (two processes, a busy machine); `closest`: the
    fourth of our posts in a channel is at least so many seconds after the first; `acks` are sorted seconds.
    `megabytes` are both processes' sizes, ten times while it storms and once when all is quiet."""

    posts: int
    sent_a_second: float
    decided: int
    late: int
    incidents: int
    runs: int
    most_runs_an_incident: int
    reports: int
    most_reports_a_thread: int
    closed: int
    given_up: int
    again: int
    refused: tuple[str, ...]
    closest: float
    acks: tuple[float, ...]
    settled_seconds: float
    megabytes: tuple[tuple[float, ...], ...] = field(default=())

    @property
    def lost(self) -> int:
        return self.posts - self.decided

    def ack(self, share: float) -> float:
        return self.acks[min(len(self.acks) - 1, int(len(self.acks) * share))]


def alert_of(storm: Storm, number: int) -> tuple[int, dict[str, Any]]:
    """(channel, post). Each service has five alerts, which come one after the other and repeat."""
    which, turn = number % storm.incidents, number // storm.incidents
    rounds = storm.posts // storm.incidents
    # The last five rounds resolve all five alerts of each service.
    is_over = turn >= rounds - len(NAMES)
    name, said, colour = NAMES[turn % len(NAMES)], "RESOLVED" if is_over else "FIRING:1", "2eb886" if is_over else "daa038"
    title = f"[{said}] {name} (prod)"
    labels = {"alertname": name, "service": f"shop{which}", "severity": "warning"}
    text = f"*Alert:* {name}\n*Details:*\n" + "".join(f" • *{key}:* `{value}`\n" for key, value in labels.items())
    attachment = {"title": title, "fallback": title, "text": text, "color": colour}
    return which % storm.channels, {"username": "AlertManager", "bot_id": "B0AMGR0001", "attachments": [attachment]}


async def stormed(folder: Path, url: str, storm: Storm) -> Stormed:
    """The database must be upgraded and empty."""
    with SlackEmulator() as slack:
        slack.install(manifest())
        slack.behaviour.rate_limits = True
        channels = [slack.add_channel(f"alerts{number}") for number in range(storm.channels)]
        settings = _settings(url, channels, storm)
        async with AsyncExitStack() as stack:
            bots = [await stack.enter_async_context(_serving(slack, folder / str(n), settings)) for n in (1, 2)]
            sizes: list[tuple[float, ...]] = []
            measuring = asyncio.create_task(_measured(bots, sizes, storm.posts / storm.a_second / 10))
            started = time.monotonic()

            posted: list[str] = []

            def post(number: int) -> None:
                channel, fields = alert_of(storm, number)
                ts = slack.post_as_bot(channels[channel], fields)
                posted.append(f"alert:{slack.team_id}:{channels[channel]}:{ts}")

            ends = storm.incidents * len(NAMES)
            await paced(storm.posts - ends, storm.a_second, post)
            seconds = time.monotonic() - started
            await _until_all_run(url, storm.incidents)
            await paced(ends, storm.a_second, lambda number: post(storm.posts - ends + number))
            measuring.cancel()
            await _quiet(slack, url)
            sizes.append(tuple(bot.memory_info().rss / 1e6 for bot in bots))
            return _counted(slack, url, posted, (storm.posts - ends) / seconds, time.monotonic() - started, sizes)


# ---------------------------------------------------------------- the processes


def _settings(url: str, channels: list[str], storm: Storm) -> dict[str, str]:
    return {
        "PROOFTHREAD_DATABASE_URL": url,
        "PROOFTHREAD_ALERT_CHANNELS": ",".join(channels),
        "PROOFTHREAD_ALERT_DEBOUNCE_SECONDS": str(storm.debounce),
        "PROOFTHREAD_ALERT_RUNS_PER_HOUR": "100000",
        "PROOFTHREAD_MODEL": "offline",
    }


@asynccontextmanager
async def _serving(slack: SlackEmulator, folder: Path, settings: Mapping[str, str]) -> AsyncIterator[psutil.Process]:
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PROOFTHREAD_", "SLACK_"))}
    environment = {**kept, **environment_for(slack, folder), **settings}
    with (folder / "stderr").open("wb") as errors:
        sockets = slack.sockets
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "serve", cwd=ROOT, env=environment, stdout=errors, stderr=errors
        )
        try:
            await slack.wait_for(lambda: slack.sockets > sockets or child.returncode is not None, 90)
            assert child.returncode is None, (folder / "stderr").read_text()
            yield psutil.Process(child.pid)
        finally:
            if child.returncode is None:
                child.terminate()
            await child.wait()


async def _measured(bots: list[psutil.Process], sizes: list[tuple[float, ...]], every: float) -> None:
    while True:
        await asyncio.sleep(every)
        sizes.append(tuple(bot.memory_info().rss / 1e6 for bot in bots))


async def _until_all_run(url: str, incidents: int) -> None:
    """What ends before it is looked into has no run."""
    database, deadline = Database(url), time.monotonic() + PATIENCE_SECONDS
    try:
        while (placed := _runs(database)) < incidents:
            assert time.monotonic() < deadline, f"{placed} of {incidents} incidents are looked into"
            await asyncio.sleep(0.2)
    finally:
        database.close()


def _runs(database: Database) -> int:
    with database.read() as connection:
        counted = select(func.count(func.distinct(incident_run.c.incident_id)))
        return int(connection.execute(counted).scalar_one())


async def _quiet(slack: SlackEmulator, url: str) -> None:
    """Every event is taken or given up, every incident has its run and its end, and each thread says so."""
    database, deadline = Database(url), time.monotonic() + PATIENCE_SECONDS
    try:
        while any(each.outcome == "pending" for each in slack.deliveries) or _unsettled(database):
            pending = sum(each.outcome == "pending" for each in slack.deliveries)
            assert time.monotonic() < deadline, f"{pending} events pending, {_unsettled(database)} incidents not settled"
            await asyncio.sleep(0.5)
    finally:
        database.close()


def _unsettled(database: Database) -> int:
    runs = incident.c.run_id.is_not(None) | incident.c.not_run_reason.is_not(None) | (incident.c.status != "open")
    waits = incident.c.told_dirty | ~runs
    with database.read() as connection:
        behind = connection.execute(select(func.count()).select_from(incident).where(waits)).scalar_one()
        run = select(func.count()).select_from(incident_run).where(incident_run.c.ended_at.is_(None))
        return int(behind) + int(connection.execute(run).scalar_one())


# ---------------------------------------------------------------- what is counted


def _counted(
    slack: SlackEmulator, url: str, posted: list[str], a_second: float, settled: float, sizes: list[tuple[float, ...]]
) -> Stormed:
    keys, counted, incidents, closed, runs = _stored(url)
    decided = len(keys.intersection(posted))
    alerts = [each for each in slack.deliveries if each.payload.get("event", {}).get("user") != slack.bot_user_id]
    reports = Counter(
        str(message.get("thread_ts"))
        for messages in slack.world.state.messages.values()
        for message in list(messages.values())
        if part_of(message)[0] == "answer"
    )
    return Stormed(
        posts=len(posted),
        sent_a_second=a_second,
        decided=decided,
        late=decided - counted,
        incidents=incidents,
        runs=sum(runs.values()),
        most_runs_an_incident=max(runs.values(), default=0),
        reports=sum(reports.values()),
        most_reports_a_thread=max(reports.values(), default=0),
        closed=closed,
        given_up=sum(each.outcome == "given_up" for each in alerts),
        again=sum(len(each.attempts) > 1 for each in alerts),
        refused=tuple(sorted({f"{call.method}: {call.error}" for call in slack.refused})),
        closest=_closest(slack),
        acks=tuple(sorted(attempt.seconds for each in alerts for attempt in each.attempts)),
        settled_seconds=settled,
        megabytes=tuple(sizes),
    )


def _stored(url: str) -> tuple[set[str], int, int, int, Counter[str]]:
    """Keys of decided posts, posts that incidents count, incidents, closed ones, runs by incident."""
    database = Database(url)
    try:
        with database.read() as connection:
            posts, count = connection.execute(select(func.sum(incident.c.post_count), func.count())).one()
            over = select(func.count()).select_from(incident).where(incident.c.status == "resolved")
            closed = connection.execute(over).scalar_one()
            runs = Counter(connection.execute(select(incident_run.c.incident_id)).scalars())
            keys = set(connection.execute(select(slack_event.c.event_key)).scalars())
        return keys, int(posts or 0), int(count), int(closed), runs
    finally:
        database.close()


def _closest(slack: SlackEmulator) -> float:
    """Slack allows three posts at once where as many seconds passed before."""
    by_channel: dict[str, list[float]] = {}
    for call in slack.call_log("chat.postMessage"):
        if call.error is None:
            by_channel.setdefault(str(call.arguments["channel"]), []).append(call.at)
    gaps = (later - at for times in by_channel.values() for at, later in zip(times, times[3:], strict=False))
    return min(gaps, default=float("inf"))
