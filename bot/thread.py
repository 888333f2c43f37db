"""The one writer of a run's Slack thread: status, progress, answer. It decides what stands where; agents know nothing of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents.contracts import RunOutcome
from agents.events import RunEvent
from agents.replies import Replies
from bot.blocks.answer import Answer, AnswerView
from bot.blocks.cards import Card, with_event
from bot.blocks.outcome import answer_message
from bot.blocks.parts import context
from bot.blocks.progress import status_line
from bot.blocks.reader import Reader, slack_words
from bot.blocks.rich import rich, section, spans
from bot.blocks.text import unpinged
from bot.slack.client import SlackCalls, SlackRefused
from bot.slack.posting import PROGRESS, Posts, Upload
from bot.slack.progress_message import ProgressMessage
from bot.waiting import set_within

ANSWER, NOTICE, OVERFLOW, CHART = "answer", "notice", "overflow", "chart"

log = logging.getLogger(__name__)


def thread_words(replies: Replies) -> Replies:
    """Every fixed word that a thread may show: of answers, of blocks, and of what the bot says about a run."""
    blocks, ours = slack_words(replies), Replies.load(Path(__file__).parent / "thread_words")
    return Replies({name: {**blocks.by_language[name], **entries} for name, entries in ours.by_language.items()})


@dataclass(frozen=True)
class ThreadTimes:
    """Seconds. A run of over `long_run` answers in a new post. A status that is not said again fades after two minutes."""

    long_run: float = 30.0
    edit_gap: float = 1.0
    status_gap: float = 4.0
    status_again: float = 60.0
    close: float = 5.0


class Thread:
    """One run's side of it. `asker` is the person who waits, None where an alert asked; `resumed` says that an earlier
    attempt may have posted."""

    def __init__(
        self,
        calls: SlackCalls,
        posts: Posts,
        reader: Reader,
        *,
        asker: str | None,
        clock: Callable[[], datetime],
        resumed: bool = False,
        times: ThreadTimes = ThreadTimes(),
    ) -> None:
        self.reader = reader
        self._calls, self._posts = calls, posts
        self._asker, self._clock, self._resumed, self._times = asker, clock, resumed, times
        self._cards: tuple[Card, ...] = ()
        self._progress: ProgressMessage | None = None
        self._status = _Status(calls, posts, reader, times)
        self._native_stop = False

    @property
    def seconds(self) -> float:
        """How long the asker has waited."""
        return (self._clock() - self._posts.since).total_seconds()

    # ---------------------------------------------------------------- while it works

    async def begin(self) -> bool:
        """The first sign of life. False where Slack shows neither status nor session to us."""
        place = self._posts.place
        status, session = await asyncio.gather(
            self._status.say(),
            self._calls.optional(
                "agents.sessions.setStatus",
                channel_id=place.channel,
                thread_ts=place.thread_ts,
                status="processing",
                initiator_user_id=self._asker,
            ),
        )
        self._native_stop = session is not None and not session.get("warning")
        return status or session is not None

    async def waiting(self, line: str) -> None:
        """The run's place in line, under the thread."""
        await self._status.say(unpinged(line))

    async def waiting_message(self, line: str) -> None:
        """The same where there is no status: a message that becomes the progress. Raises SlackAway and SlackRefused."""
        content = {"text": unpinged(line), "blocks": [context(line)]}
        async with self._posts.first:
            ts = self._posts.ts(PROGRESS)
            if self._progress is None and ts is None:
                await self._posts.post(PROGRESS, **content)
            elif self._progress is None and ts is not None:
                await self._posts.edit(ts, PROGRESS, **content)

    def on_event(self, event: RunEvent) -> None:
        """What the run tells; the message follows on its own. Call from the event loop."""
        self._cards = with_event(self._cards, event, self.reader)
        if self._progress is None:
            self._progress = ProgressMessage(
                self._posts,
                self._calls,
                self.reader,
                recipient=self._asker,
                with_stop=lambda: not self._native_stop,
                inherits=self._resumed,
                gap=self._times.edit_gap,
            )
        self._progress.show(self._cards)
        self._status.follow(status_line(self._cards, self.reader))

    async def let_go(self) -> None:
        """Another process goes on with this run, or will: write nothing more."""
        await self._status.stop()
        if self._progress is not None:
            await self._progress.abandon()

    async def cut_short(self, so_far: RunOutcome) -> None:
        """Our own database takes no more: say so, with what is proven by now, where the progress stands, else in a post.
        Nothing of this can be stored; whoever takes up the run writes over the progress. Call it after `let_go`."""
        place, ts, said = self._posts.place, self._posts.ts(PROGRESS), self.reader.say("cut_short")
        answer = answer_message(so_far, AnswerView(self.reader, votes=False))
        # A button would lead to what is not stored.
        blocks = [context(said), *(block for block in answer.blocks if block["type"] != "actions")]
        if ts is not None:
            await self._calls.optional("chat.stopStream", channel=place.channel, ts=ts)
        where = {"thread_ts": place.thread_ts} if ts is None else {"ts": ts}
        method = "chat.postMessage" if ts is None else "chat.update"
        await self._calls.optional(method, channel=place.channel, **where, text=unpinged(said), blocks=blocks)
        await self.rest()

    # ---------------------------------------------------------------- at its end

    async def answer(
        self, outcome: RunOutcome, *, votes: bool = True, missing: Sequence[str] = (), broadcast: bool = False
    ) -> None:
        """The answer stands in the thread, once. Raises SlackAway, SlackRefused and storage's errors; call it again
        to go on. `missing`: what the answer lacks, beside the run's own gaps; `broadcast` shows it in the channel too."""
        await self._status.stop()
        ts = await self._closed_progress()
        long = self.seconds > self._times.long_run
        message = answer_message(outcome, AnswerView(self.reader, self._asker if long else None, votes, tuple(missing)))
        if self._posts.ts(ANSWER) is None:
            await self._place_answer(message, None if long or broadcast else ts, broadcast)
        if message.overflow is not None:
            await self._posts.attach(OVERFLOW, message.overflow, self.reader.say("rest_in_evidence"))

    def shows(self, part: str) -> bool:
        """Whether this part of the run stands in the thread already."""
        return self._posts.ts(part) is not None

    async def picture(self, file: Upload) -> None:
        """The chart under the answer, once. Raises as `answer`."""
        await self._posts.upload(CHART, file)

    async def notice(self, text: str) -> None:
        """A few words instead of an answer: a run that did not start, or that cannot be brought to its end. As `answer`."""
        await self._status.stop()
        await self._closed_progress()
        await self._posts.post(NOTICE, text=unpinged(text), blocks=[rich(section(spans(text)))])

    async def tidy(self, seconds: float, tool_calls: int, *, stopped: bool) -> None:
        """After the answer: progress that stands apart from it folds to one line, and nothing seems to run any more."""
        await asyncio.gather(self._fold(seconds, tool_calls, stopped), self.rest())

    async def rest(self) -> None:
        """No status and no Stop."""
        place = self._posts.place
        where = {"channel_id": place.channel, "thread_ts": place.thread_ts}
        await asyncio.gather(
            self._calls.optional("assistant.threads.setStatus", status="", **where),
            self._calls.optional("agents.sessions.setStatus", status="active", **where),
        )

    async def vanish(self) -> None:
        """Nobody is to hear of this run any more: what it showed is taken away."""
        await self._status.stop()
        ts = await self._closed_progress()
        if ts is not None:
            await self._calls.optional("chat.delete", channel=self._posts.place.channel, ts=ts)
            await self._posts.lost(PROGRESS)
        await self.rest()

    async def _closed_progress(self) -> str | None:
        """The progress message, when it may be edited. One that an earlier attempt left may stream still."""
        if self._progress is not None:
            return await self._progress.close(self._times.close)
        ts = self._posts.ts(PROGRESS)
        if ts is not None:
            await self._calls.optional("chat.stopStream", channel=self._posts.place.channel, ts=ts)
        return ts

    async def _place_answer(self, message: Answer, ts: str | None, broadcast: bool) -> None:
        """Into the progress message where nobody needs to be called back, else as a post of its own."""
        content = {"text": message.text, "blocks": message.blocks}
        if ts is not None:
            try:
                await self._posts.edit(ts, ANSWER, **content)
            except SlackRefused as error:
                log.info("%s: the answer gets a message of its own", error)
            else:
                return
        await self._posts.post(ANSWER, **content, reply_broadcast=True if broadcast else None)

    async def _fold(self, seconds: float, tool_calls: int, stopped: bool) -> None:
        ts = self._posts.ts(PROGRESS)
        if ts is None or ts == self._posts.ts(ANSWER):
            return
        key = "progress_stopped" if stopped else "progress_done"
        line = self.reader.say(key, seconds=f"{seconds:.0f}", calls=tool_calls)
        await self._calls.optional(
            "chat.update", channel=self._posts.place.channel, ts=ts, text=unpinged(line), blocks=[context(line)]
        )


class _Status:
    """The line under the thread: said at once, then again when what goes on changes or before it fades.

    It reads "Proofthread is looking into it", with what goes on now beside it.
    """

    def __init__(self, calls: SlackCalls, posts: Posts, reader: Reader, times: ThreadTimes) -> None:
        self._calls, self._posts, self._times = calls, posts, times
        self._text = unpinged(reader.say("status_looking"))
        self._doing: str | None = None
        self._changed, self._stopping = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def say(self, text: str | None = None) -> bool:
        place = self._posts.place
        said = await self._calls.optional(
            "assistant.threads.setStatus",
            channel_id=place.channel,
            thread_ts=place.thread_ts,
            status=text or self._text,
            loading_messages=[self._doing] if self._doing else None,
        )
        return said is not None

    def follow(self, doing: str) -> None:
        if doing == self._doing or self._stopping.is_set():
            return
        self._doing = doing
        self._changed.set()
        if self._task is None:
            self._task = asyncio.create_task(self._keep_saying())

    async def stop(self) -> None:
        """A call that is under way comes to its end: cut off, it could arrive after the status was cleared."""
        self._stopping.set()
        self._changed.set()
        if self._task is not None:
            await asyncio.wait((self._task,), timeout=self._times.close)
            self._task.cancel()

    async def _keep_saying(self) -> None:
        while not self._stopping.is_set():
            await set_within(self._changed, self._times.status_again)
            self._changed.clear()
            if not self._stopping.is_set():
                await self.say()
                await set_within(self._stopping, self._times.status_gap)
