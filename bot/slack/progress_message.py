"""The one message that shows how far a run is, and the one task that writes it.

It is a stream of plan and task cards where there is a person to stream to. Where a stream cannot start or dies, the same
cards go into an edited message of markdown; nothing is lost, since every edit shows the whole.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

from bot.blocks.cards import Card
from bot.blocks.progress import progress_chunks, progress_markdown, status_line, stop_block
from bot.blocks.reader import Reader
from bot.blocks.text import unpinged
from bot.slack.client import SlackAway, SlackCalls, SlackRefused
from bot.slack.posting import PROGRESS, Posts
from bot.waiting import set_within
from storage.errors import StorageError

_TRIES_TO_END = 3
_GONE = ("message_not_found", "thread_not_found")

log = logging.getLogger(__name__)


class ProgressMessage:
    """`show` says what to show and returns at once; the task writes the newest, at most once in `gap` seconds.

    `recipient` is the person to stream to, None for an alert's run; `with_stop` says whether the stream needs a Stop
    button of ours. `inherits`: an earlier attempt may have left a message, which is taken over and edited.
    """

    def __init__(
        self,
        posts: Posts,
        calls: SlackCalls,
        reader: Reader,
        *,
        recipient: str | None,
        with_stop: Callable[[], bool],
        inherits: bool,
        gap: float = 1.0,
    ) -> None:
        self._posts, self._calls, self._reader = posts, calls, reader
        self._recipient, self._with_stop, self._gap = recipient, with_stop, gap
        self._inherits = inherits
        self._mode: Literal["stream", "edit"] = "edit" if recipient is None else "stream"
        # What somebody else began may stream still.
        self._streaming = posts.ts(PROGRESS) is not None
        self._cards: tuple[Card, ...] = ()
        self._title: str | None = None
        self._sent: tuple[Card, ...] | None = None
        self._changed, self._closing = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_late = self._is_unseen = False
        self._tries_to_end = 0

    def show(self, cards: tuple[Card, ...], title: str | None = None) -> None:
        self._cards, self._title = cards, title
        self._changed.set()
        if self._task is None:
            self._task = asyncio.create_task(self._write_on())

    async def close(self, seconds: float) -> str | None:
        """Write no more and end the stream. Gives the ts that may be edited now; None where there is no message, or its
        last write does not come to an end within that time, or its stream cannot be ended: an answer does not wait for
        that. Raises SlackAway for the first tries."""
        self._closing.set()
        self._changed.set()
        if self._task is not None:
            await asyncio.wait((self._task,), timeout=seconds)
            if not self._task.done():
                self._is_late, self._is_unseen = True, self._posts.ts(PROGRESS) is None
                return None
            _tell_fault(self._task)
        try:
            await self._end_stream()
        except SlackAway:
            self._tries_to_end += 1
            if self._tries_to_end < _TRIES_TO_END:
                raise
            return None
        return self._posts.ts(PROGRESS)

    async def abandon(self) -> None:
        """Let go: another process writes this message, or will."""
        self._closing.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    # ---------------------------------------------------------------- the task

    async def _write_on(self) -> None:
        while not self._closing.is_set():
            await self._changed.wait()
            self._changed.clear()
            await self._turn()
            if not self._closing.is_set() and self._cards != self._sent:
                await self._write_safely(self._cards)
                await self._rest(self._gap)
        if self._is_late:
            await self._take_back()

    async def _take_back(self) -> None:
        """Nobody waits for it any more: it must not seem to run beside its answer, nor appear below it."""
        with suppress(SlackAway, StorageError):
            await self._end_stream()
            ts = self._posts.ts(PROGRESS)
            if self._is_unseen and ts is not None:
                await self._calls.optional("chat.delete", channel=self._posts.place.channel, ts=ts)
                await self._posts.lost(PROGRESS)

    async def _write_safely(self, cards: tuple[Card, ...]) -> None:
        """Progress that cannot be shown now is shown with the next change; a run never fails for it."""
        try:
            await self._write(cards)
            self._sent = cards
        except (SlackAway, StorageError) as error:
            log.info("progress of %s is not shown yet: %s", self._posts.run_id, error)
            self._changed.set()
        except SlackRefused as error:
            log.warning("progress of %s cannot be shown: %s", self._posts.run_id, error)
            self._sent = cards

    async def _turn(self) -> None:
        """All runs together may write only so often; what is written is chosen when the turn has come."""
        if self._sent is not None:
            await self._rest(self._calls.progress_wait(streaming=self._mode == "stream"))

    async def _rest(self, seconds: float) -> None:
        """Unless the end has come."""
        await set_within(self._closing, seconds)

    async def _write(self, cards: tuple[Card, ...]) -> None:
        if self._inherits:
            await self._posts.load(look=True)
            self._inherits, self._streaming = False, True
        if self._sent is None:
            await self._channel_is_free()
            async with self._posts.first:
                await self._begin(cards)
        elif self._mode == "stream" and (ts := self._posts.ts(PROGRESS)) is not None:
            await self._append(ts, cards)
        else:
            await self._edit(cards)

    async def _channel_is_free(self) -> None:
        """Where many are answered at once, answers go first: progress that comes after its answer helps nobody."""
        while self._posts.ts(PROGRESS) is None and (wait := self._calls.post_wait(self._posts.place.channel)) > 0:
            await self._rest(wait)
            if self._closing.is_set():
                return

    async def _begin(self, cards: tuple[Card, ...]) -> None:
        if self._closing.is_set() and self._posts.ts(PROGRESS) is None:
            return
        if self._mode == "stream" and self._posts.ts(PROGRESS) is None:
            await self._start(cards)
        else:
            await self._edit(cards)

    # ---------------------------------------------------------------- as a stream

    async def _start(self, cards: tuple[Card, ...]) -> None:
        place = self._posts.place
        chunks: list[dict[str, Any]] = progress_chunks((), cards, self._reader)
        if self._with_stop():
            chunks.append({"type": "blocks", "blocks": [stop_block(self._posts.run_id, self._reader)]})
        try:
            answer = await self._calls.call(
                "chat.startStream",
                channel=place.channel,
                thread_ts=place.thread_ts,
                recipient_team_id=place.team,
                recipient_user_id=self._recipient,
                task_display_mode="plan",
                chunks=chunks,
            )
        except SlackRefused as error:
            log.info("%s: progress is shown by edits", error)
            await self._edit(cards)
        except SlackAway as error:
            log.info("%s: progress is shown by edits", error)
            if error.may_have_happened:
                await self._adopt()
            await self._edit(cards)
        else:
            self._streaming = True
            await self._posts.remember(PROGRESS, str(answer["ts"]))

    async def _adopt(self) -> None:
        """The start was not answered: if it was done all the same, that message is ours to edit."""
        self._mode = "edit"
        await self._posts.sleep(self._posts.settle_seconds)
        await self._posts.load(look=True)
        self._streaming = True

    async def _append(self, ts: str, cards: tuple[Card, ...]) -> None:
        chunks = progress_chunks(self._sent or (), cards, self._reader)
        if not chunks:
            return
        try:
            await self._calls.call("chat.appendStream", channel=self._posts.place.channel, ts=ts, chunks=chunks)
        except SlackRefused as error:
            log.info("%s: progress goes on by edits", error)
            await self._edit(cards)
        except SlackAway as error:
            # Appending twice would show twice, an edit shows the whole.
            if error.may_have_happened:
                self._mode = "edit"
            raise

    async def _end_stream(self) -> None:
        """A message cannot be edited while it streams; Slack may have ended the stream by itself."""
        ts = self._posts.ts(PROGRESS)
        if ts is None or not self._streaming:
            return
        try:
            await self._calls.call("chat.stopStream", channel=self._posts.place.channel, ts=ts)
        except SlackRefused as error:
            log.debug("%s", error)
        self._streaming = False

    # ---------------------------------------------------------------- as an edited message

    async def _edit(self, cards: Sequence[Card]) -> None:
        self._mode = "edit"
        await self._end_stream()
        content = self._content(cards)
        ts = self._posts.ts(PROGRESS)
        if ts is None:
            await self._posts.post(PROGRESS, **content)
            return
        try:
            await self._posts.edit(ts, PROGRESS, **content)
        except SlackRefused as error:
            if error.error not in _GONE:
                raise
            await self._posts.lost(PROGRESS)

    def _content(self, cards: Sequence[Card]) -> dict[str, Any]:
        markdown = {"type": "markdown", "text": progress_markdown(cards, self._reader, self._title)}
        text = unpinged(self._title or status_line(cards, self._reader))
        return {"text": text, "blocks": [markdown, stop_block(self._posts.run_id, self._reader)]}


def _tell_fault(task: asyncio.Task[None]) -> None:
    """A fault of ours in showing progress must not cost the answer."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.error("progress could not be shown", exc_info=error)
