"""The line, the worker and their threads against the loopback Slack: everything but the way in."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from small_incident import CAUSE, CHANGE, GOOD_VOTES, LOOK_UPS, Clock, composed, draft, plan, request, world

from agents.llm.base import Model, ModelReply, ModelRequest, ToolCall, Usage
from agents.llm.scripted import Turn
from bot.budget import Budget, Ceilings
from bot.emulator.slack import SlackEmulator
from bot.jobs import Workplace, new_run
from bot.queue import Queue, QueueTimes
from bot.slack.client import SlackAccess, SlackCalls, open_slack
from bot.slack.posting import Posts, ThreadPlace
from bot.slack.validator import check
from bot.thread import ThreadTimes, thread_words
from bot.worker import Worker, WorkerTimes
from storage.budget import BudgetStore
from storage.engine import Database
from storage.jobs import Job, JobKey, JobStore, NewJob
from storage.records import Run
from storage.sessions import Thread
from storage.trace import TraceStore

SCHEMA = Path(__file__).parent.parent / "data" / "slack_schema.json"
ANA = "U0ANA00001"
CHANNEL = "C0INCIDENT"
# Everything that waits in real life waits a moment here; posts and edits are as quick as the wire.
QUICK_THREAD = ThreadTimes(edit_gap=0.01, status_gap=0.01, close=5.0)
QUICK = WorkerTimes(greeting=0.02, pause=0.02, longest_pause=0.1, settle=0.0, thread=QUICK_THREAD)
QUICK_LINE = QueueTimes(poll=0.05, retry=0.05, recover=0.05, quiet=0.0)


class Incident:
    """A model that works through the small incident rightly, in any number of runs at once: a pure function of the
    request. It waits at `gate` before it speaks in the role `waits_in`."""

    name = "scripted"
    uses_model = True

    def __init__(self, *, waits_in: str = "", seconds: float = 0.0, lead: str = "") -> None:
        self.gate = asyncio.Event()
        self.asked = 0
        self.waiting = asyncio.Event()
        self._waits_in, self._seconds, self._lead = waits_in, seconds, lead

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked += 1
        if request.role == self._waits_in:
            self.waiting.set()
            await self.gate.wait()
        await asyncio.sleep(self._seconds)
        return _reply(self._turn(request))

    async def close(self) -> None:
        return None

    def _turn(self, request: ModelRequest) -> Turn:
        if request.role == "executor":
            return draft(CAUSE, CHANGE) if request.exchanges else LOOK_UPS
        if request.role == "composer":
            return composed(self._lead) if self._lead else composed()
        return plan() if request.role == "planner" else GOOD_VOTES


def _reply(turn: Turn) -> ModelReply:
    calls = tuple(
        ToolCall(id=f"call-{index}", name=call.name, arguments=call.arguments)
        for index, call in enumerate(turn.tool_calls)
    )
    text = turn.reply if isinstance(turn.reply, str) else json.dumps(turn.reply)
    return ModelReply(text=text, tool_calls=calls, usage=Usage(100, 20, 0, 0.01))


def emulator(**behaviour: Any) -> SlackEmulator:
    """A Slack that refuses what Slack's own types and our limits refuse."""

    def ours(method: str, arguments: Mapping[str, Any]) -> list[Any]:
        return check(method, arguments)

    slack = SlackEmulator(schema=SCHEMA, checks=(ours,))
    for name, value in behaviour.items():
        setattr(slack.behaviour, name, value)
    return slack


@dataclass
class Bench:
    """One process of the bot. `ask` posts a question as a person and stores its job."""

    slack: SlackEmulator
    db: Database
    place: Workplace
    calls: SlackCalls
    worker: Worker
    queue: Queue

    @property
    def jobs(self) -> JobStore:
        return JobStore(self.db)

    @property
    def trace(self) -> TraceStore:
        return TraceStore(self.db)

    def run(self, run_id: str) -> Run:
        return self.trace.run(run_id)

    def job(self, run_id: str) -> Job:
        return self.jobs.job(run_id)

    def ask(
        self, text: str = "Why is checkout slow?", *, user: str | None = ANA, channel: str = CHANNEL, under: str = ""
    ) -> Job:
        """A person asks: the message stands in Slack, the job in the database."""
        ts = self.slack.post(channel, user or ANA, f"{self.slack.mention} {text}", thread_ts=under or None)
        return self.stored(ts, under or ts, text, user=user, channel=channel)

    def stored(self, ts: str, thread_ts: str, text: str, *, user: str | None, channel: str) -> Job:
        thread = Thread(self.slack.team_id, channel, thread_ts)
        run = new_run(request(text, session_id=thread.session_id), self.place)
        key = JobKey(self.slack.team_id, channel, ts, "mention")
        self.jobs.add(NewJob(key, run, thread, user))
        return self.job(run.run_id)

    def parts(self, job: Job) -> list[dict[str, Any]]:
        """Our own messages in the job's thread."""
        messages = self.slack.messages(job.channel, job.thread_ts)
        return [message for message in messages if message.get("user") == self.slack.bot_user_id]

    def answers(self, job: Job) -> list[dict[str, Any]]:
        return [message for message in self.parts(job) if part_of(message) == ("answer", job.run_id)]

    async def answered(self, *jobs: Job, timeout: float = 20.0) -> None:
        """Every one of these has its answer, as the database sees it, and nothing is on its way any more."""

        def done() -> bool:
            return all(self.job(job.run_id).answered_at is not None for job in jobs) and self.queue.idle

        await self.slack.wait_for(done, timeout)

    def posts(self, job: Job) -> Posts:
        where = ThreadPlace(job.team, job.channel, job.thread_ts)
        return Posts(self.calls, self.db, self.jobs, job.run_id, where, job.placed_at, settle_seconds=0.0)


def part_of(message: Mapping[str, Any]) -> tuple[str, str]:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return str(payload.get("part", "")), str(payload.get("run_id", ""))


_names = count(1)


@asynccontextmanager
async def bench(
    slack: SlackEmulator,
    db: Database,
    model: Model | None = None,
    *,
    most_runs: int = 4,
    ceilings: Ceilings | None = None,
    clock: Callable[[], Any] | None = None,
    lease_seconds: int = 30,
    access: Mapping[str, Any] | None = None,
    times: WorkerTimes = QUICK,
    line: QueueTimes = QUICK_LINE,
    started: bool = True,
    **worker: Any,
) -> AsyncIterator[Bench]:
    """A process that works, or one whose queue has not been started."""
    name = f"p{next(_names)}"
    owner = f"{name}-{os.getpid()}"
    place = world(db, model or Incident(), clock=clock or Clock(), owner=owner, prefix=name).place
    place = replace(place, limits=replace(place.limits, lease_seconds=lease_seconds, poll_seconds=0.02))
    paces = {"post_gap": 0.0, "edit_gap": 0.0, "append_pace": 0.0, "update_pace": 0.0}
    chosen = paces | {"timeout_seconds": 5.0} | dict(access or {})
    async with AsyncExitStack() as stack:
        calls = await stack.enter_async_context(open_slack(SlackAccess(slack.bot_token, slack.api_url, **chosen)))
        jobs, budget = JobStore(db), Budget(BudgetStore(db), ceilings or Ceilings(), place.clock)
        words = thread_words(place.replies)
        made = Worker(place, calls, jobs, budget, words, times=times, **worker)
        queue = Queue(made, jobs, most_runs=most_runs, times=line)
        running = asyncio.create_task(queue.run()) if started else None
        try:
            yield Bench(slack, db, place, calls, made, queue)
        finally:
            await queue.stop(0.0)
            if running is not None:
                await running
