"""What the bot costs and what it survives under load, as functions of the load: short in tests, long in benchmarks."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from served import serving
from slack_load import PEOPLE, ROOT, counted, paced, populated, prepared, program, signs_of_life, taken
from sqlalchemy import func, select
from whole_bot import environment_for

from bot.door import EVENTS_PATH
from bot.emulator.slack import SlackEmulator
from storage.engine import Database
from storage.models_slack import job
from storage.trace import TraceStore


class CostOfEvents(NamedTuple):
    """CPU seconds an event."""

    bare: float
    messages: float
    mentions: float
    whole_bot: float


async def cost_of_events(folder: Path, count: int, a_second: float) -> CostOfEvents:
    """`count` events each, at that pace."""
    return CostOfEvents(
        await _cost(folder, "bare", count, a_second, ""),
        await _cost(folder, "door", count, a_second, ""),
        await _cost(folder, "door", count, a_second, "<@U0BOT> "),
        await _cost(folder, "bot", count, a_second, ""),
    )


async def _cost(folder: Path, kind: str, count: int, a_second: float, before: str) -> float:
    folder.mkdir(parents=True, exist_ok=True)
    url = prepared(folder / f"{kind}{len(before)}.db")
    events = 2 if before else 1
    with SlackEmulator() as slack:
        channels, people = populated(slack, 50)

        def say(number: int) -> None:
            slack.post(channels[number % 50], people[number % PEOPLE], f"{before}is anybody looking at {number}?")

        async with program(slack, kind, folder / kind, url) as process:
            slack.deliver_to(process.address + EVENTS_PATH)
            await paced(4 * PEOPLE, 100.0, say)  # people are looked up, code is warm
            await taken(slack)
            slack.forget()
            started = process.cpu
            await paced(count // events, a_second / events, say)
            await taken(slack)
            assert len(slack.deliveries) == count // events * events
            return (process.cpu - started) / len(slack.deliveries)


@dataclass(frozen=True)
class Report:
    """`acks` and `life` in seconds, smallest first; `again` deliveries needed more than one attempt."""

    acks: list[float]
    life: list[float]
    given_up: int
    again: int
    running: int
    cpu: float


async def loaded(
    folder: Path,
    seconds: float,
    a_second: float,
    *,
    diagnoses: int,
    latency: float,
    log: Path | None = None,
    kind: str = "bot",
) -> Report:
    """One process of the bot with that many diagnoses under way; one event in 25 comes from a new question. `kind`
    "bare" is Bolt with one committed insert under the same load: what the machine itself takes."""
    folder.mkdir(parents=True, exist_ok=True)
    with SlackEmulator() as slack:
        channels, people = populated(slack, 50)

        def ask(number: int) -> str:
            text = f"{slack.mention} why is shop {number} slow?"
            return slack.post(channels[number % 50], people[number % PEOPLE], text)

        async with program(slack, kind, folder, prepared(folder / "load.db"), latency=latency) as process:
            slack.deliver_to(process.address + EVENTS_PATH)
            # One after another, so that their steps do not all fall into the same moment.
            await paced(diagnoses, diagnoses / max(latency, 1.0), ask)
            await slack.wait_for(lambda: len(slack.call_log("chat.startStream")) >= diagnoses, 120)
            await taken(slack)
            slack.forget()
            if log is not None:
                await process.tell(f"scan {log}")
            asked: dict[str, float] = {}

            def say(number: int) -> None:
                if number % 24:
                    slack.post(channels[number % 50], people[number % PEOPLE], f"is anybody looking at {number}?")
                else:
                    now = time.time()
                    asked[ask(number)] = now

            started = process.cpu
            # 24 posts make 25 events: a question comes as two.
            await paced(round(seconds * a_second * 24 / 25), a_second * 24 / 25, say)
            await taken(slack)
            if kind == "bot":
                await slack.wait_for(lambda: signs_of_life(slack, asked)[-1] < float("inf"), 60)
            said = [each for each in slack.deliveries if each.payload["event"].get("user") != slack.bot_user_id]
            return Report(
                acks=sorted(attempt.seconds for each in said for attempt in each.attempts),
                life=signs_of_life(slack, asked),
                given_up=sum(each.outcome == "given_up" for each in slack.deliveries),
                again=sum(len(each.attempts) > 1 for each in slack.deliveries),
                running=diagnoses,
                cpu=process.cpu - started,
            )


# ---------------------------------------------------------------- exactly once


@dataclass(frozen=True)
class Once:
    """`runs` that were stored, `answers` by question: none is `lost`, two are `doubled`."""

    questions: int
    deliveries: int
    runs: int
    lost: int
    doubled: int
    given_up: int
    seconds: float


async def exactly_once(
    folder: Path, url: str, *, events: int, questions: int, a_second: float, channels: int = 50, mode: str = "http"
) -> Once:
    """Two processes on one database; each event comes one to four times, within three seconds, in any order. `events`
    counts those of people: a question makes two."""
    with SlackEmulator() as slack:
        where, people = populated(slack, channels)
        slack.behaviour.ack_seconds, slack.behaviour.retry_delays = 30.0, (1.0, 1.0, 1.0)
        slack.behaviour.copies, slack.behaviour.jitter = (1, 4), (0.0, 3.0)
        slack.behaviour.mention_order = "any"
        posts = events - questions
        every = max(1, posts // questions)
        asked: list[str] = []

        def say(number: int) -> None:
            channel, person = where[number % channels], people[number % PEOPLE]
            if number % every == 0 and len(asked) < questions:
                asked.append(slack.post(channel, person, f"{slack.mention} why is shop {number} slow?"))
            else:
                slack.post(channel, person, f"is anybody looking at {number}?")

        started = time.monotonic()
        async with (
            program(slack, "bot", folder / "1", url, mode=mode) as one,
            program(slack, "bot", folder / "2", url, mode=mode) as two,
        ):
            if mode == "http":
                slack.deliver_to(one.address + EVENTS_PATH, two.address + EVENTS_PATH)
            await paced(posts, a_second, say)
            await taken(slack, 600)
            await _answered(url, 900)
            deliveries = [each for each in slack.deliveries if each.payload["event"].get("user") != slack.bot_user_id]
            answers = counted(slack)
            return Once(
                questions=len(asked),
                deliveries=len(deliveries),
                runs=_stored_runs(url),
                lost=sum(answers.get(ts, 0) == 0 for ts in asked),
                doubled=sum(count - 1 for count in answers.values()),
                given_up=sum(each.outcome == "given_up" for each in deliveries),
                seconds=time.monotonic() - started,
            )


async def _answered(url: str, timeout: float) -> None:
    """Every stored job has its answer in its thread, as the database sees it."""
    database = Database(url)
    try:
        deadline = time.monotonic() + timeout
        while waiting := _unanswered(database):
            assert time.monotonic() < deadline, f"{waiting} questions are not answered"
            await asyncio.sleep(0.5)
    finally:
        database.close()


def _unanswered(database: Database) -> int:
    with database.read() as connection:
        count = select(func.count()).select_from(job).where(job.c.answered_at.is_(None))
        return int(connection.execute(count).scalar_one())


def _stored_runs(url: str) -> int:
    database = Database(url)
    try:
        return len(TraceStore(database).recent_runs(100_000))
    finally:
        database.close()


async def with_lost_replies(folder: Path, questions: int, rate: float = 0.1) -> Once:
    """That share of the answers to our posts, edits and streams never arrives; every other question's progress is a post."""
    with SlackEmulator() as slack:
        where, people = populated(slack, 25)
        for method in ("chat.postMessage", "chat.update", "chat.startStream", "chat.appendStream", "chat.stopStream"):
            slack.fail(method, drop_reply=True, rate=rate, times=None)
        slack.fail("chat.startStream", error="channel_type_not_supported", rate=0.5, times=None)
        url, asked = prepared(folder / "lost.db"), []
        started = time.monotonic()
        async with program(slack, "bot", folder, url) as process:
            slack.deliver_to(process.address + EVENTS_PATH)

            def ask(number: int) -> None:
                asked.append(slack.post(where[number % 25], people[number % PEOPLE], f"{slack.mention} why {number}?"))

            await paced(questions, 10.0, ask)
            await taken(slack)
            await _answered(url, 600)
        ours = Counter(
            str(message.get("thread_ts"))
            for messages in slack.world.state.messages.values()
            for message in messages.values()
            if message.get("user") == slack.bot_user_id
        )
        answers = counted(slack)
        return Once(
            questions=questions,
            deliveries=len(slack.deliveries),
            runs=_stored_runs(url),
            lost=sum(answers.get(ts, 0) == 0 for ts in asked),
            doubled=sum(count - 1 for count in answers.values()) + sum(max(0, count - 2) for count in ours.values()),
            given_up=sum(each.outcome == "given_up" for each in slack.deliveries),
            seconds=time.monotonic() - started,
        )


# ---------------------------------------------------------------- connections, start, growth


async def reconnected(folder: Path, how: Any, refusals: int = 0) -> float:
    """Seconds from the loss of the one connection to the next one, `refusals` of whose addresses were refused."""
    with SlackEmulator() as slack:
        async with serving(slack, folder):
            await slack.wait_for(lambda: slack.sockets == 1)
            # Somewhere between two looks of the client.
            await asyncio.sleep(2.5)
            opened = len(slack.calls("apps.connections.open"))
            if refusals:
                slack.fail("apps.connections.open", error="internal_error", times=refusals)
            lost = time.monotonic()
            slack.drop_sockets(how)
            wanted = opened + refusals + 1
            await slack.wait_for(lambda: len(slack.calls("apps.connections.open")) >= wanted and slack.sockets >= 1, 120)
            return time.monotonic() - lost


class Start(NamedTuple):
    cpu: float
    megabytes: float


async def started(folder: Path) -> Start:
    """`proofthread serve` from its start to Ready, with its tables there: CPU seconds and resident size."""
    with SlackEmulator() as slack:
        prepared(folder / "proofthread.db")
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("PROOFTHREAD_", "SLACK_"))}
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "serve", cwd=ROOT, env={**ours, **environment_for(slack, folder)},
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert child.stderr is not None
        try:
            while b"Ready" not in (line := await asyncio.wait_for(child.stderr.readline(), 60)):
                assert line, "the process ended"
            process = psutil.Process(child.pid)
            used = process.cpu_times()
            return Start(used.user + used.system, process.memory_info().rss / 1e6)
        finally:
            child.kill()
            await child.wait()


async def growth(folder: Path, batches: Sequence[int], a_second: float) -> list[float]:
    """Resident megabytes of one process after each batch of runs."""
    with SlackEmulator() as slack:
        where, people = populated(slack, 50)
        url, number = prepared(folder / "growth.db"), 0
        sizes: list[float] = []
        async with program(slack, "bot", folder, url) as process:
            slack.deliver_to(process.address + EVENTS_PATH)
            for batch in batches:
                first = number

                def ask(step: int, first: int = first) -> None:
                    at = first + step
                    slack.post(where[at % 50], people[at % PEOPLE], f"{slack.mention} why is shop {at} slow?")

                await paced(batch, a_second, ask)
                number += batch
                await taken(slack, 300)
                await _answered(url, 900)
                slack.forget()
                sizes.append(process.megabytes)
        assert _stored_runs(url) == number
        return sizes
