"""The messages of one run in its thread: each part stands there once, whoever posts it and whatever gets lost.

Slack knows no idempotency key, so each post carries {run_id, part} as metadata. Where nobody knows whether a post
arrived, the thread is read before the part is posted again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.blocks.rich import preformatted, rich
from bot.blocks.snippet import Snippet
from bot.blocks.text import phone_line, split_text, unpinged
from bot.slack.client import SlackAway, SlackCalls, SlackRefused
from storage.engine import Database
from storage.jobs import JobStore

EVENT_TYPE = "proofthread_part"
PROGRESS = "progress"
TRIES = 5
# Pages of a file that could not be uploaded.
_FILE_CHARS, _FILE_MESSAGES = 11_000, 5
# Our clock and Slack's may differ; a message of ours older than that is none of this run's.
_SLACK_CLOCK = timedelta(minutes=10)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ThreadPlace:
    """Where a run's messages go. `thread_ts` is the message that they go under, "" where they stand by themselves."""

    team: str
    channel: str
    thread_ts: str


@dataclass(frozen=True)
class Upload:
    """A file for the thread; `alt` says what a picture shows to those who cannot see it."""

    filename: str
    title: str
    content: bytes
    alt: str = ""


@dataclass
class Posts:
    """One process's view of them. `since` is when the run was asked for. All methods raise SlackAway, SlackRefused and
    storage's errors; calling again goes on where they stopped."""

    calls: SlackCalls
    db: Database
    jobs: JobStore
    run_id: str
    place: ThreadPlace
    since: datetime
    settle_seconds: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    # Held by whoever puts the progress message there: its first words may come from the line or from the run.
    first: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ts: dict[str, str] = field(default_factory=dict)
    _unsure: set[str] = field(default_factory=set)
    _unstored: dict[str, str] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)
    _looks: bool = False

    async def load(self, *, look: bool) -> None:
        """What earlier attempts posted. `look`: another process may have died between a post and its note of it."""
        for message in await self.db.call(self.jobs.messages, self.run_id):
            if message.channel == self.place.channel:
                self._ts[message.part] = message.ts
        if look:
            self._looks = True  # a file's message does not say which part it is
            await self._look()

    def ts(self, part: str) -> str | None:
        return self._ts.get(part)

    async def post(self, part: str, **content: Any) -> str:
        """The part's ts: posted now, or found."""
        for _ in range(TRIES):
            if part in self._unsure:
                await self._look()
            if part in self._ts:
                await self._store()
                return self._ts[part]
            try:
                return await self.remember(part, (await self._post(part, content))["ts"])
            except SlackAway as error:
                if not error.may_have_happened:
                    raise
                self._unsure.add(part)
                await self.sleep(self.settle_seconds)
        raise SlackAway("chat.postMessage", f"{TRIES} answers were lost", may_have_happened=True)

    async def edit(self, ts: str, part: str, **content: Any) -> None:
        """The message at `ts` becomes this part."""
        await self.calls.call(
            "chat.update", channel=self.place.channel, ts=ts, metadata=self._metadata(part), **content
        )
        await self.remember(part, ts)

    async def remember(self, part: str, ts: str) -> str:
        self._ts[part] = ts
        self._unsure.discard(part)
        self._unstored[part] = ts
        await self._store()
        return ts

    async def lost(self, part: str) -> None:
        """The part's message is gone from Slack: somebody deleted it."""
        ts = self._ts.pop(part, None)
        if ts is not None:
            await self.db.call(self.jobs.unposted, self.place.channel, ts)

    async def attach(self, part: str, snippet: Snippet, more: str) -> None:
        """A file in the thread; pages of text where the app may not upload, and `more` where those are too many."""
        try:
            await self.upload(part, Upload(snippet.filename, snippet.title, snippet.content.encode()))
        except SlackRefused as error:
            log.warning("%s: the text goes into the thread instead", error)
            await self._post_pages(part, snippet, more)
            self._done.add(part)

    async def upload(self, part: str, file: Upload) -> None:
        """A file in the thread, once."""
        if part in self._done or part in self._ts:
            return
        if (self._looks or part in self._unsure) and await self._found_file(part, file):
            return
        try:
            await self._upload(file)
        except SlackAway as error:
            if error.may_have_happened:
                self._unsure.add(part)
            raise
        await self._found_file(part, file)
        self._done.add(part)

    # ---------------------------------------------------------------- helpers

    async def _post(self, part: str, content: Mapping[str, Any]) -> dict[str, Any]:
        return await self.calls.call(
            "chat.postMessage",
            channel=self.place.channel,
            thread_ts=self.place.thread_ts or None,
            metadata=self._metadata(part),
            unfurl_links=False,
            unfurl_media=False,
            **content,
        )

    def _metadata(self, part: str) -> dict[str, Any]:
        return {"event_type": EVENT_TYPE, "event_payload": {"run_id": self.run_id, "part": part}}

    async def _store(self) -> None:
        for part, ts in list(self._unstored.items()):
            await self.db.call(self.jobs.posted, self.run_id, part, self.place.channel, ts)
            if self._unstored.get(part) == ts:
                del self._unstored[part]

    async def _look(self) -> None:
        """Every part of this run that stands in the thread. A stream carries no metadata while it grows: one that no
        run knows is this one's, since a thread's runs go one after another."""
        ours = await self._ours()
        for message in ours:
            metadata = message.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") == EVENT_TYPE and payload.get("run_id") == self.run_id:
                await self.remember(str(payload.get("part")), str(message["ts"]))
        self._unsure.clear()
        known = PROGRESS in self._ts or not self.place.thread_ts
        stream = None if known else await self._unknown_stream(ours)
        if stream is not None:
            await self.remember(PROGRESS, stream)

    async def _unknown_stream(self, ours: Sequence[Mapping[str, Any]]) -> str | None:
        for message in ours:
            ts = str(message["ts"])
            if message.get("streaming_state") != "in_progress" or ts in self._ts.values():
                continue
            if await self.db.call(self.jobs.run_of_message, self.place.channel, ts) is None:
                return ts
        return None

    async def _ours(self) -> list[dict[str, Any]]:
        """Our own messages in the thread, or beside all threads, since the run was asked for."""
        identity = await self.calls.identity()
        oldest = f"{(self.since - _SLACK_CLOCK).timestamp():.6f}"
        method = "conversations.replies" if self.place.thread_ts else "conversations.history"
        where = {"channel": self.place.channel, "ts": self.place.thread_ts or None, "oldest": oldest, "limit": 200}
        try:
            pages = self.calls.pages(method, "messages", include_all_metadata=True, **where)
            return [message async for message in pages if _is_by(message, identity)]
        except SlackRefused as error:
            # An answer that stands twice is better than none.
            log.warning("%s: what stands in the thread is unknown", error)
            return []

    async def _upload(self, file: Upload) -> None:
        ready = await self.calls.call(
            "files.getUploadURLExternal", filename=file.filename, length=len(file.content), alt_txt=file.alt or None
        )
        await self.calls.upload(str(ready["upload_url"]), file.content)
        await self.calls.call(
            "files.completeUploadExternal",
            files=[{"id": ready["file_id"], "title": file.title}],
            channel_id=self.place.channel,
            thread_ts=self.place.thread_ts,
        )

    async def _found_file(self, part: str, file: Upload) -> bool:
        """Slack does not say which message shows the file, and a reaction on it is a vote."""
        for message in await self._ours():
            if any(each.get("name") == file.filename for each in message.get("files") or ()):
                await self.remember(part, str(message["ts"]))
                return True
        self._unsure.discard(part)
        return False

    async def _post_pages(self, part: str, snippet: Snippet, more: str) -> None:
        pages = split_text(snippet.content, _FILE_CHARS)
        if len(pages) > _FILE_MESSAGES:
            pages = [*pages[:_FILE_MESSAGES], more]
        for number, page in enumerate(pages, 1):
            title = f"{snippet.title} {number}/{len(pages)}"
            await self.post(f"{part}-{number}", text=unpinged(phone_line(title)), blocks=[rich(preformatted(page))])


def _is_by(message: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    same_bot = message.get("bot_id") is not None and message.get("bot_id") == identity.get("bot_id")
    return same_bot or (message.get("user") is not None and message.get("user") == identity.get("user_id"))
