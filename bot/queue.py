"""The line: takes up the runs that are ready, a few at a time, and sees to it that every ended one is answered.

The truth is in the database, so that any number of processes may stand at one line: who claims a run has it, and one
whose process died is ready again when its lease has run out.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from bot.waiting import set_within
from bot.worker import Worker
from storage.errors import StorageError
from storage.jobs import Job, JobStore
from storage.trace import TraceStore

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueueTimes:
    """Seconds. `poll`: how often other processes' work is looked for; `recover`: how often unanswered runs are.
    A run that ended less than `quiet` ago is left to the process that ran it; one that failed inside us rests for
    `retry`, then twice as long each time, up to `longest_retry`."""

    poll: float = 1.0
    retry: float = 5.0
    longest_retry: float = 120.0
    recover: float = 10.0
    quiet: float = 30.0


class Queue:
    """`most_runs` at a time in this process. Everything runs on the event loop that `run` is called on."""

    def __init__(self, worker: Worker, jobs: JobStore, *, most_runs: int = 4, times: QueueTimes = QueueTimes()) -> None:
        self._worker, self._jobs, self._db = worker, jobs, worker.place.db
        self._most_runs, self._times = most_runs, times
        self._running: dict[str, asyncio.Task[None]] = {}
        self._delivering: dict[str, asyncio.Task[None]] = {}
        self._greeting: dict[str, asyncio.Task[None]] = {}
        self._woken = asyncio.Event()
        self._stopping = self._is_blind = False
        self._recovered_at = float("-inf")
        # Runs that failed inside us just now, until this process may try them again, and how often they did.
        self._failed: set[str] = set()
        self._faults: Counter[str] = Counter()

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def idle(self) -> bool:
        """Nothing runs here, and no answer is on its way."""
        return not (self._running or self._delivering or self._greeting)

    def wake(self, run_id: str | None = None) -> None:
        """There is something to do. `run_id`: a run that this process has just taken in, so that its thread shows life
        at once. Call from the event loop."""
        if run_id is not None and not self._stopping:
            self._spawn(self._greeting, run_id, self._greet(run_id))
        self._woken.set()

    async def cancel(self, run_id: str) -> None:
        """Stop: a run that works ends within about a second and says what is proven; one that waits ends now.
        Raises storage's errors."""
        await self._db.call(TraceStore(self._db).request_cancel, run_id)
        job = await self._db.call(self._jobs.job, run_id)
        if job.status == "CANCELLED" and job.answered_at is None and run_id not in self._running:
            self._deliver(job, look=False)

    async def run(self) -> None:
        """Until `stop`."""
        while not self._stopping:
            self._woken.clear()
            await self._look()
            await set_within(self._woken, self._times.poll)

    async def stop(self, grace_seconds: float) -> None:
        """Take no more; wait for what runs and for answers on their way. What is not done by then is let go: its
        lease runs out, and another process, or this one when it is back, goes on with it."""
        self._stopping = True
        self._woken.set()
        for task in self._greeting.values():
            task.cancel()
        work = self._unfinished()
        deadline = asyncio.get_running_loop().time() + grace_seconds
        while work:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await asyncio.wait(work, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            work = self._unfinished()
        if work:
            log.warning("%s runs or answers are left to whoever comes next", len(work))
        while work:
            # A cancellation can be lost where a time-out strikes at the same moment.
            for task in work:
                task.cancel()
            await asyncio.wait(work, timeout=1.0)
            work = self._unfinished()

    def _unfinished(self) -> set[asyncio.Task[None]]:
        """A run that ends begins its delivery."""
        tasks = (*self._running.values(), *self._delivering.values(), *self._greeting.values())
        return {task for task in tasks if not task.done()}

    # ---------------------------------------------------------------- one look

    async def _look(self) -> None:
        """The database may be away for long: that is said once, and once when it is back."""
        try:
            await self._take_up()
            await self._recover()
        except StorageError as error:
            if not self._is_blind:
                log.error("no runs are taken up until the database is back: %s", error)
            self._is_blind = True
        else:
            if self._is_blind:
                log.warning("the database is back")
            self._is_blind = False

    async def _take_up(self) -> None:
        free = self._most_runs - len(self._running)
        if free <= 0:
            return
        # Those that this process has begun but not claimed yet still look ready.
        for job in await self._db.call(self._jobs.next_ready, self._most_runs + free):
            if self._stopping or len(self._running) >= self._most_runs:
                return
            if job.run_id not in self._running and job.run_id not in self._failed:
                self._spawn(self._running, job.run_id, self._work(job))

    async def _greet(self, run_id: str) -> None:
        if await self._worker.greet(run_id):
            self._deliver(await self._db.call(self._jobs.job, run_id), look=False)

    async def _work(self, job: Job) -> None:
        if await self._worker.run(job):
            self._deliver(job, look=job.attempt > 0)

    def _deliver(self, job: Job, *, look: bool) -> None:
        self._spawn(self._delivering, job.run_id, self._worker.deliver(job, look=look))

    async def _recover(self) -> None:
        """Ended runs whose answer never came: their process died in between, or they were stopped while they waited."""
        now = asyncio.get_running_loop().time()
        if now - self._recovered_at < self._times.recover:
            return
        self._recovered_at = now
        for job in await self._db.call(self._jobs.undelivered, self._most_runs * 4, quiet_seconds=self._times.quiet):
            if job.run_id not in self._running and job.run_id not in self._failed:
                self._deliver(job, look=True)

    # ---------------------------------------------------------------- tasks

    def _spawn(self, tasks: dict[str, asyncio.Task[None]], run_id: str, work: Coroutine[Any, Any, None]) -> None:
        """One task a run and kind; it is kept until it is done, and its fault is told."""
        if run_id in tasks:
            work.close()
            return
        task = asyncio.create_task(work, name=f"{run_id}")
        tasks[run_id] = task
        task.add_done_callback(self._ended(tasks, run_id))

    def _ended(self, tasks: dict[str, asyncio.Task[None]], run_id: str) -> Callable[[asyncio.Task[None]], None]:
        def ended(task: asyncio.Task[None]) -> None:
            tasks.pop(run_id, None)
            self._woken.set()
            error = None if task.cancelled() else task.exception()
            if error is not None:
                self._let_rest(run_id)
            elif tasks is self._delivering:
                self._faults.pop(run_id, None)
            if isinstance(error, StorageError):
                log.warning("run %s goes on when the database is back: %s", run_id, error)
            elif error is not None:
                log.error("run %s failed inside us and is tried again", run_id, exc_info=error)

        return ended

    def _let_rest(self, run_id: str) -> None:
        """Longer each time: a fault of ours that stays must not fill the log."""
        self._failed.add(run_id)
        self._faults[run_id] += 1
        seconds = min(self._times.retry * 2 ** (self._faults[run_id] - 1), self._times.longest_retry)
        asyncio.get_running_loop().call_later(seconds, self._failed.discard, run_id)
