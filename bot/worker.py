"""One job: its run, and its answer into the thread, by whichever process gets to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from agents.contracts import RunOutcome
from agents.cut_short import CutShort
from agents.replies import Replies
from agents.state import StateUnreadable
from bot.answers.stored_outcome import stored_outcome
from bot.blocks.progress import waiting_line
from bot.blocks.reader import Reader
from bot.blocks.text import markdown_escape, split_text
from bot.budget import Budget, refusal_text
from bot.jobs import Complete, RunNotClaimed, RunUnreadable, Workplace, execute
from bot.report_thread import ReportPosting
from bot.slack.client import SlackAway, SlackCalls, SlackRefused
from bot.slack.posting import Posts, ThreadPlace
from bot.thread import Thread, ThreadTimes
from storage.errors import LeaseLost, StorageError
from storage.jobs import Job, JobStore
from storage.trace import Lease, Run, RunResult, TraceStore

# A token that no longer works is mended by people; the answer waits for them.
_TOKEN = frozenset({"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"})
_DIRECT_CHARS = 11_000
ENDED = ("SUCCESS", "FAILED", "CANCELLED")
# A run that ends without a word: the post that asked for it is gone.
QUIET = "quiet"
# The emoji on a question where Slack has no status line for us.
SEEN = "eyes"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerTimes:
    """Seconds. Who delivers an answer holds it for `delivery`, and for `last_hold` once it gives up: what was sent last
    may still be on its way. Between two tries lie `pause` to `longest_pause`.
    `greeting`: how often a waiting run's place is looked at."""

    greeting: float = 1.0
    delivery: float = 120.0
    last_hold: float = 5.0
    pause: float = 1.0
    longest_pause: float = 30.0
    settle: float = 1.0
    thread: ThreadTimes = ThreadTimes()


def _nothing_to_add(_: Job) -> Complete | None:
    return None


async def _nothing_follows(_: Job) -> None:
    return


def place_of(job: Job) -> ThreadPlace:
    """Where its answer goes: under what asked for it; a triage on trial has a post of its own elsewhere."""
    trial = job.details.get("trial")
    if isinstance(trial, dict):
        return ThreadPlace(job.team, str(trial["channel"]), str(trial["ts"]))
    return ThreadPlace(job.team, job.channel, job.reply_to or job.thread_ts)


@dataclass
class Worker:
    """`words` come from thread_words. `complete` gives what a job's run must be told of its thread before it starts,
    `afterwards` is called once its answer stands. `most_attempts` bounds how often a run that fails inside us is taken up again."""

    place: Workplace
    calls: SlackCalls
    jobs: JobStore
    budget: Budget
    words: Replies
    link_hosts: tuple[str, ...] = ()
    complete: Callable[[Job], Complete | None] = _nothing_to_add
    afterwards: Callable[[Job], Awaitable[None]] = _nothing_follows
    reports: ReportPosting = ReportPosting()
    times: WorkerTimes = WorkerTimes()
    most_attempts: int = 5
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _threads: dict[str, tuple[Thread, Posts]] = field(default_factory=dict)
    _at_work: set[str] = field(default_factory=set)

    @property
    def open_threads(self) -> int:
        """How many runs' threads this process has in its hands."""
        return len(self._threads)

    # ---------------------------------------------------------------- before it starts

    async def greet(self, run_id: str) -> bool:
        """The first sign of life for a run that this process took in, and its place while it waits in line. True when
        it was stopped there: its thread is to be told."""
        job = await self.place.db.call(self.jobs.job, run_id)
        thread, _ = await self._thread(job)
        shown, last = await thread.begin(), 0
        if not shown:
            await self.calls.optional("reactions.add", channel=job.channel, timestamp=job.ts, name=SEEN)
        while place := await self.place.db.call(self.jobs.place_in_line, run_id):
            if place != last:
                await self._say_place(thread, place, shown)
            last = place
            await self.sleep(self.times.greeting)
        if run_id not in self._at_work:
            self._threads.pop(run_id, None)
        job = await self.place.db.call(self.jobs.job, run_id)
        if job.answered_at is not None:
            # Slack was slow with the first sign of life: it must not outlast the answer.
            await thread.rest()
        return job.status == "CANCELLED" and job.attempt == 0 and job.answered_at is None

    async def _say_place(self, thread: Thread, place: int, with_status: bool) -> None:
        reader = thread.reader
        if with_status:
            await thread.waiting(waiting_line(place, reader))
            return
        try:
            await thread.waiting_message(waiting_line(place, reader))
        except (SlackAway, SlackRefused) as error:
            log.info("the place in line cannot be shown: %s", error)

    # ---------------------------------------------------------------- the run

    async def run(self, job: Job) -> bool:
        """Claim the job's run and bring it to its end. True when this process is to deliver its answer, False where
        another process has the run or will take it up. Raises StorageError."""
        if job.attempt == 0 and await self._refused(job):
            return True
        if job.attempt >= self.most_attempts:
            return await self._given_up(job)
        self._at_work.add(job.run_id)
        thread, _ = await self._thread(job)
        try:
            outcome = await execute(job.run_id, self.place, thread.on_event, self.complete(job))
        except RunUnreadable as error:
            log.error("%s", error)
            return True
        except RunNotClaimed as error:
            log.info("%s", error)
            return await self._stopped_meanwhile(job, thread)
        except LeaseLost as error:
            log.info("%s", error)
            await self._let_go(job, thread)
            return False
        except CutShort as cut:
            await self._let_go(job, thread)
            await thread.cut_short(cut.so_far)
            raise
        except StorageError:
            await self._let_go(job, thread)
            raise
        except BaseException:
            # Whoever takes the run up again goes on with its messages: this process perhaps, with a later attempt.
            await self._let_go(job, thread)
            with suppress(StorageError):
                await self._hand_over(job)
            raise
        log.info("run %s ended: %s, %s", outcome.run_id, outcome.status, outcome.verdict.value)
        return True

    async def _refused(self, job: Job) -> bool:
        """A run over the day's ceiling ends before it starts, and the reason is kept for whoever tells it."""
        refusal = await self.place.db.call(self.budget.refusal, job)
        if refusal is None:
            return False
        store = TraceStore(self.place.db)
        await self.place.db.call(store.put_evaluation, job.run_id, "refused", refusal.stored())
        await self.place.db.call(store.request_cancel, job.run_id)
        log.warning("run %s does not start: the %s's budget of the day is spent", job.run_id, refusal.whose)
        return (await self.place.db.call(store.run, job.run_id)).status in ENDED

    async def _given_up(self, job: Job) -> bool:
        """End a run that failed inside us again and again, or took its process down with it."""
        store = TraceStore(self.place.db)
        lease = await self.place.db.call(store.claim, job.run_id, self.place.owner, self.place.limits.lease_seconds)
        if lease is None:
            return False
        log.error("run %s is given up after %s attempts", job.run_id, job.attempt)
        run = await self.place.db.call(store.run, job.run_id)
        text = self._reader(run).say("run_gave_up", attempts=job.attempt, run=job.run_id)
        await self.place.db.call(store.finish_run, lease, RunResult.failed(text, "gave_up", run.state))
        return True

    async def _stopped_meanwhile(self, job: Job, thread: Thread) -> bool:
        """Not claimed. Whoever claimed it delivers its answer, also where it has ended by now: a second process would
        edit the same messages. One that was stopped while it waited has nobody else."""
        run = await self.place.db.call(TraceStore(self.place.db).run, job.run_id)
        if run.status in ENDED and run.attempt == 0:
            return True
        await self._let_go(job, thread)
        return False

    async def _let_go(self, job: Job, thread: Thread) -> None:
        self._forget(job)
        await thread.let_go()

    async def _hand_over(self, job: Job) -> None:
        """End our lease, so that another process need not wait for it to run out."""
        await self.place.db.call_to_end(self._end_lease, job.run_id)

    def _end_lease(self, run_id: str) -> None:
        store = TraceStore(self.place.db)
        run = store.run(run_id)
        if run.status == "RUNNING" and run.lease_owner == self.place.owner and run.deadline is not None:
            store.renew(Lease(run.run_id, run.attempt, self.place.owner, run.deadline), 0)

    def _forget(self, job: Job) -> None:
        self._threads.pop(job.run_id, None)
        self._at_work.discard(job.run_id)

    # ---------------------------------------------------------------- its answer

    async def deliver(self, job: Job, *, look: bool) -> None:
        """Bring an ended run's answer into its thread, however long Slack or the database are away. Returns when it
        stands there, or when another process is at it. `look`: other processes may have posted for this run."""
        self._at_work.add(job.run_id)
        pause = self.times.pause
        try:
            while not await self._delivered(job, look):
                await self.sleep(pause)
                pause = min(pause * 2, self.times.longest_pause)
        except BaseException:
            # A fault of ours, or the end of this process: whoever tries next need not wait for our hold to run out.
            with suppress(StorageError):
                await self._taken(job, self.times.last_hold)
            raise
        finally:
            self._forget(job)

    async def _delivered(self, job: Job, look: bool) -> bool:
        """False: try again."""
        try:
            if not await self._taken(job, self.times.delivery):
                await self._withdraw(job)
                return True
            keeper = asyncio.create_task(self._keep_taken(job))
            try:
                await self._deliver(job, look=look)
            finally:
                keeper.cancel()
        except (SlackAway, StorageError) as error:
            log.warning("the answer of %s is not delivered yet: %s", job.run_id, error)
        except SlackRefused as error:
            log.error("the answer of %s waits for a token that works: %s", job.run_id, error)
        else:
            return True
        return False

    async def _taken(self, job: Job, seconds: float) -> bool:
        """To its end: a take that outlasts who gave up would hold the answer for long."""
        return await self.place.db.call_to_end(self.jobs.take_delivery, job.run_id, self.place.owner, seconds)

    async def _withdraw(self, job: Job) -> None:
        """Another process delivers: nothing of ours may write over its answer."""
        known = self._threads.get(job.run_id)
        if known is not None:
            await known[0].let_go()

    async def _keep_taken(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self.times.delivery / 3)
            with suppress(StorageError):
                await self._taken(job, self.times.delivery)

    async def _deliver(self, job: Job, *, look: bool) -> None:
        run = await self.place.db.call(TraceStore(self.place.db).run, job.run_id)
        if run.status not in ENDED:
            return
        if run.attempt:
            await self.place.db.call(self.budget.charge, job, run)
        thread, posts = await self._thread(job)
        said = await self._said(run)
        try:
            await posts.load(look=look)
            await self._say(thread, said, job)
        except SlackRefused as error:
            if error.error in _TOKEN:
                raise
            await self._deliver_elsewhere(job, run, said, error)
        await self.place.db.call(self.jobs.answered, job.run_id)
        if said is not None:
            calls, seconds = run.tool_call_count or 0, (run.total_duration_ms or 0) / 1000
            await thread.tidy(seconds, calls, stopped=run.status == "CANCELLED" or not isinstance(said, RunOutcome))
        await self.afterwards(job)

    async def _say(self, thread: Thread, said: RunOutcome | str | None, job: Job) -> None:
        if said is None:
            await thread.vanish()
        elif isinstance(said, RunOutcome):
            await self.reports.post(thread, said, on_trial="trial" in job.details)
        else:
            await thread.notice(said)

    async def _said(self, run: Run) -> RunOutcome | str | None:
        """The outcome, a few words where there is none, or nothing at all."""
        reader, noted = self._reader(run), run.self_evaluation or {}
        refused = noted.get("refused")
        if run.status == "CANCELLED" and QUIET in noted:
            return None
        if run.status == "CANCELLED" and isinstance(refused, dict):
            return refusal_text(refused, reader)
        if run.answer is None:
            return reader.say("stopped_waiting")
        try:
            return await self.place.db.call(stored_outcome, TraceStore(self.place.db), run.run_id)
        except StateUnreadable as error:
            log.error("run %s: %s", run.run_id, error)
            return reader.say("run_unreadable")

    async def _deliver_elsewhere(self, job: Job, run: Run, said: RunOutcome | str | None, why: SlackRefused) -> None:
        """The thread takes nothing any more (archived, the bot was removed): the asker gets it as a direct message, once
        as well."""
        log.error("the answer of %s cannot go where it belongs: %s", job.run_id, why)
        if job.user_id is None or said is None:
            return
        words = said.answer if isinstance(said, RunOutcome) else said
        text = f"{self._reader(run).say('answered_elsewhere', error=why.error)}\n\n{words}"
        shown = split_text(markdown_escape(text), _DIRECT_CHARS)[0]
        opened = await self.calls.optional("conversations.open", users=job.user_id)
        direct = self._posts(job, ThreadPlace(job.team, str(opened["channel"]["id"]) if opened else job.user_id, ""))
        try:
            await direct.load(look=True)
            await direct.post("answer", markdown_text=shown)
        except SlackRefused as error:
            log.error("nor to the one who asked: %s", error)

    # ---------------------------------------------------------------- its thread

    async def _thread(self, job: Job) -> tuple[Thread, Posts]:
        """The run's one writer in this process."""
        known = self._threads.get(job.run_id)
        if known is not None:
            return known
        run = await self.place.db.call(TraceStore(self.place.db).run, job.run_id)
        posts = self._posts(job, place_of(job))
        thread = Thread(
            self.calls,
            posts,
            self._reader(run),
            asker=job.user_id,
            clock=self.place.clock,
            resumed=job.attempt > 0,
            times=self.times.thread,
        )
        # Another task may have made one meanwhile.
        return self._threads.setdefault(job.run_id, (thread, posts))

    def _posts(self, job: Job, where: ThreadPlace) -> Posts:
        return Posts(self.calls, self.place.db, self.jobs, job.run_id, where, job.placed_at, self.times.settle)

    def _reader(self, run: Run) -> Reader:
        return Reader(self.words, run.language, ZoneInfo(run.zone), self.link_hosts)
