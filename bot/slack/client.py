"""Every call to Slack: checked before it leaves, paced, repeated where that is safe, and typed when it fails.

A call that may have been carried out although its answer was lost is never repeated here when a repetition would show
twice: SlackAway.may_have_happened tells the caller, who looks first (bot/slack/posting.py).
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.blocks.text import split_text, unpinged
from bot.slack.pacing import Pacer
from bot.slack.turns import ChannelTurns
from bot.slack.validator import Problem, check

if TYPE_CHECKING:
    import aiohttp
    from slack_sdk.errors import SlackApiError
    from slack_sdk.http_retry.async_handler import AsyncRetryHandler
    from slack_sdk.web.async_client import AsyncWebClient

SLACK_API = "https://slack.com/api/"
FILES_HOST = "files.slack.com"
# Doing these twice shows twice, so a lost answer is the caller's matter.
ONCE = frozenset(
    {
        "chat.postMessage",
        "chat.postEphemeral",
        "chat.startStream",
        "chat.appendStream",
        "files.completeUploadExternal",
        "views.open",
        "views.push",
    }
)
# Slack says of these that some of the work may have been done.
_UNKNOWN_OUTCOME = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
# Where Slack says "too often" there is another way at once.
_REPLACEABLE = frozenset({"chat.startStream", "reactions.add"})
_POSTS = frozenset({"chat.postMessage", "chat.startStream", "files.completeUploadExternal"})
_MESSAGES = frozenset({"chat.postMessage", "chat.update", "chat.postEphemeral"})
# Slack knows a rule that the validator does not.
_BAD_PAYLOAD = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"})
_PLAIN_CHARS = 3_900
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

log = logging.getLogger(__name__)


class SlackAway(Exception):
    """Slack could not be reached or gave no usable answer. `may_have_happened`: it may have done what was asked."""

    def __init__(self, method: str, why: str, *, may_have_happened: bool) -> None:
        super().__init__(f"Slack did not answer {method}: {why}")
        self.method = method
        self.may_have_happened = may_have_happened


class SlackRefused(Exception):
    """Slack said no; `error` is its word for why (channel_not_found), `needed` the scope that is missing, `problems`
    what it finds wrong in the payload, where it says so."""

    def __init__(self, method: str, error: str, needed: str = "", problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(f"Slack refused {method}: {error}" + (f" (needs the scope {needed})" if needed else ""))
        self.method = method
        self.error = error
        self.needed = needed
        self.problems = problems


@dataclass(frozen=True)
class SlackAccess:
    """`post_gap` and `edit_gap` are the least seconds between two posts in a channel and two edits of a message,
    `rate_limit_tries` how often a 429 is waited out (each time as long as Slack says).

    `append_pace` and `update_pace` are the seconds between two writes of progress, over all runs: Slack allows a
    workspace about 100 appends and 50 edits a minute, and answers need some of those.
    """

    token: str
    base_url: str = SLACK_API
    timeout_seconds: float = 30.0
    post_gap: float = 1.0
    edit_gap: float = 1.0
    append_pace: float = 0.65
    update_pace: float = 1.5
    rate_limit_tries: int = 90
    failure_tries: int = 3


class SlackCalls:
    """The Web API for all of the bot. `client` is for Bolt, which shares the session; everything else uses `call`."""

    def __init__(self, access: SlackAccess, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._posts, self._edits = Pacer(access.post_gap), Pacer(access.edit_gap)
        self._appends, self._updates = Pacer(access.append_pace), Pacer(access.update_pace)
        self.client = _client(access, session, rate_limits=access.rate_limit_tries)
        self._repeating = _client(access, session, rate_limits=access.rate_limit_tries, failures=access.failure_tries)
        self._impatient = _client(access, session, rate_limits=0)
        # Where several processes post: who has the channel's next turn.
        self.turns: ChannelTurns | None = None
        self._lacking: set[str] = set()
        self._identity: Mapping[str, Any] | None = None

    async def call(self, method: str, /, **arguments: Any) -> dict[str, Any]:
        """The answer of a Web API method (`chat.postMessage`). None arguments are left out.

        Raises SlackAway and SlackRefused. A payload that Slack would refuse is our fault: it is logged, and what can
        be said of it goes out as plain text.
        """
        given = _sendable(method, {name: value for name, value in arguments.items() if value is not None})
        try:
            return await self._called(method, given)
        except SlackRefused as error:
            plain = _as_plain_text(method, given, ())
            if method not in _MESSAGES or error.error not in _BAD_PAYLOAD or plain == given:
                raise
            log.error("%s, so its plain text goes out instead", error)
            return await self._called(method, plain)

    async def optional(self, method: str, /, **arguments: Any) -> dict[str, Any] | None:
        """A call that only makes things nicer: None where Slack does not offer it to us or is away.

        A method without its scope is asked for once in a process's life, and the log says what to grant.
        """
        if method in self._lacking:
            return None
        try:
            return await self.call(method, **arguments)
        except SlackRefused as error:
            if error.error in ("missing_scope", "unknown_method", "not_allowed_token_type", "feature_not_enabled"):
                self._lacking.add(method)
                log.warning("%s. The bot works without it; update the app from `proofthread manifest`.", error)
            else:
                log.info("%s", error)
        except SlackAway as error:
            log.info("%s", error)
        return None

    async def pages(self, method: str, key: str, /, **arguments: Any) -> AsyncIterator[dict[str, Any]]:
        """The items under `key`, page by page. Raises as `call`."""
        cursor: str | None = None
        while True:
            answer = await self.call(method, cursor=cursor, **arguments)
            for item in answer.get(key) or ():
                yield item
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return

    async def identity(self) -> Mapping[str, Any]:
        """auth.test, once: team_id, user_id and bot_id of the bot. Raises as `call`."""
        if self._identity is None:
            self._identity = await self.call("auth.test")
        return self._identity

    def progress_wait(self, *, streaming: bool) -> float:
        """Takes the next turn to write progress, and gives the seconds until it comes."""
        return self._appends.reserve("") if streaming else self._updates.reserve("")

    def post_wait(self, channel: str) -> float:
        """The seconds until a post to the channel would not wait for others of this process; 0 takes no turn."""
        return self._posts.wait(channel)

    async def post_at_once(self, channel: str, **arguments: Any) -> dict[str, Any] | None:
        """A chat.postMessage that may as well come later: None where the channel takes nothing now. Raises as `call`."""
        if self.post_wait(channel) > 0 or (self.turns is not None and not await self.turns.taken(channel)):
            return None
        self._posts.reserve(channel)
        return await self._called("chat.postMessage", _sendable("chat.postMessage", {"channel": channel, **arguments}), in_turn=True)

    async def upload(self, url: str, content: bytes) -> None:
        """The second step of an upload: the bytes go to the address that the first one gave. Raises as `call`."""
        import aiohttp

        try:
            async with self._session.post(url, data=content, proxy=self.client.proxy) as answer:
                if answer.status != 200:
                    raise SlackAway("file upload", f"HTTP {answer.status}", may_have_happened=False)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise SlackAway("file upload", _why(error), may_have_happened=False) from error

    async def download(self, url: str, most_bytes: int) -> bytes:
        """A file that stands in Slack, whole; needs files:read. The token goes to Slack's own file server alone, and no
        redirect is followed. Raises SlackRefused for another address, a login page and what is too large; SlackAway."""
        import aiohttp

        if not _is_file_address(url, self.client.base_url):
            raise SlackRefused("file download", "not_a_slack_file")
        headers = {"Authorization": f"Bearer {self.client.token}"}
        try:
            async with self._session.get(
                url, headers=headers, allow_redirects=False, proxy=self.client.proxy
            ) as answer:
                if answer.status != 200 or answer.content_type == "text/html":
                    raise SlackRefused("file download", f"HTTP {answer.status}", "files:read")
                return await _limited(answer.content, most_bytes)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise SlackAway("file download", _why(error), may_have_happened=False) from error

    async def _called(self, method: str, arguments: dict[str, Any], *, in_turn: bool = False) -> dict[str, Any]:
        if not in_turn:
            await self._wait(method, arguments)
        if method in _REPLACEABLE:
            return await _called(self._impatient, method, arguments)
        return await _called(self.client if method in ONCE else self._repeating, method, arguments)

    async def _wait(self, method: str, arguments: Mapping[str, Any]) -> None:
        if method in _POSTS:
            channel = str(arguments.get("channel", arguments.get("channel_id")))
            await self._posts.turn(channel)
            if self.turns is not None:
                await self.turns.wait(channel)
        elif method in ("chat.update", "chat.appendStream"):
            await self._edits.turn(f"{arguments.get('channel')}/{arguments.get('ts')}")


@asynccontextmanager
async def open_slack(access: SlackAccess) -> AsyncIterator[SlackCalls]:
    """One session for all calls: a session a call would look the name up and shake hands each time."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=access.timeout_seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield SlackCalls(access, session)


# ---------------------------------------------------------------- one call

# The SDK would put these into the address, which no server takes at the length of a report.
_BY_FORM = frozenset({"blocks.validate"})


def _client(
    access: SlackAccess, session: aiohttp.ClientSession, *, rate_limits: int, failures: int = 0
) -> AsyncWebClient:
    from slack_sdk.http_retry.builtin_async_handlers import (
        AsyncConnectionErrorRetryHandler,
        AsyncRateLimitErrorRetryHandler,
        AsyncServerErrorRetryHandler,
    )
    from slack_sdk.web.async_client import AsyncWebClient

    handlers: list[AsyncRetryHandler] = [AsyncRateLimitErrorRetryHandler(rate_limits)] if rate_limits else []
    if failures:
        handlers += [AsyncConnectionErrorRetryHandler(failures), AsyncServerErrorRetryHandler(failures)]
    client = AsyncWebClient(
        token=access.token,
        base_url=access.base_url,
        timeout=round(access.timeout_seconds),
        session=session,
        retry_handlers=handlers,
    )
    if urlsplit(access.base_url).hostname in _LOOPBACK:
        # The SDK takes a proxy from the environment; one that is meant for the world does not know this machine.
        client.proxy = None
    return client


async def _called(client: AsyncWebClient, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    import aiohttp
    from slack_sdk.errors import SlackApiError, SlackRequestError

    ready = getattr(client, method.replace(".", "_"), None)
    try:
        if method in _BY_FORM:
            answer = await client.api_call(method, data=_form(arguments))
        else:
            answer = await (ready(**arguments) if ready else client.api_call(method, json=arguments))
    except SlackApiError as error:
        raise _failure(method, error) from error
    except aiohttp.ClientConnectorError as error:
        raise SlackAway(method, _why(error), may_have_happened=False) from error
    except (aiohttp.ClientError, SlackRequestError, TimeoutError) as error:
        raise SlackAway(method, _why(error), may_have_happened=True) from error
    data = answer.data
    return data if isinstance(data, dict) else {}


def _form(arguments: Mapping[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}


def _failure(method: str, error: SlackApiError) -> SlackAway | SlackRefused:
    answer = error.response
    status = getattr(answer, "status_code", getattr(answer, "status", 200))
    data = getattr(answer, "data", None)
    body: Mapping[str, Any] = data if isinstance(data, dict) else {}
    word = str(body.get("error") or "")
    if status == 429 or word in ("ratelimited", "rate_limited"):
        return SlackAway(method, "too many calls", may_have_happened=False)
    if status >= 500 or word in _UNKNOWN_OUTCOME or not word:
        return SlackAway(method, word or f"HTTP {status}", may_have_happened=True)
    return SlackRefused(method, word, str(body.get("needed") or ""), found_problems(body))


def found_problems(body: Mapping[str, Any]) -> tuple[Problem, ...]:
    """What Slack names under `errors`: objects with a pointer, or sentences that hold one."""
    found = body.get("errors")
    return tuple(_found_problem(each) for each in found) if isinstance(found, list) else ()


def _found_problem(found: object) -> Problem:
    if isinstance(found, Mapping):
        message = str(found.get("message") or found.get("code") or "refused")
        return Problem(str(found.get("pointer") or ""), message, str(found.get("code") or ""))
    message, _, pointer = str(found).partition(" [json-pointer:")
    return Problem(pointer.rstrip("]"), message)


def _is_file_address(url: str, api: str) -> bool:
    """Slack's file server; where the API is somebody else's (a proxy, a test), that same server."""
    wanted, ours = urlsplit(url), urlsplit(api)
    if wanted.username or wanted.password:
        return False
    if ours.hostname and ours.hostname != "slack.com" and not ours.hostname.endswith(".slack.com"):
        return (wanted.scheme, wanted.netloc) == (ours.scheme, ours.netloc)
    return wanted.scheme == "https" and wanted.netloc == FILES_HOST


async def _limited(content: aiohttp.StreamReader, most_bytes: int) -> bytes:
    data = bytearray()
    async for part in content.iter_chunked(65_536):
        data += part
        if len(data) > most_bytes:
            raise SlackRefused("file download", "file_too_large")
    return bytes(data)


def _why(error: BaseException) -> str:
    return str(error) or type(error).__name__


# ---------------------------------------------------------------- what may leave


def _sendable(method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    problems = check(method, arguments)
    if not problems:
        return arguments
    told = "; ".join(f"{problem.pointer} {problem.message}" for problem in problems[:10])
    log.error("%s would be refused, so its plain text goes out instead: %s", method, told)
    plain = _as_plain_text(method, arguments, problems)
    return arguments if check(method, plain) else plain


def _as_plain_text(method: str, arguments: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """The same call with its words alone, as far as one message holds them; a bad metadata goes too."""
    dressing = {"blocks", "attachments", "chunks", "markdown_text", "text"}
    kept = {name: value for name, value in arguments.items() if name not in dressing}
    for name in {problem.pointer.split("/")[1] for problem in problems if "/" in problem.pointer}:
        if name == "metadata":
            kept.pop(name, None)
    words = unpinged(_words(arguments)) or "…"
    shown = split_text(words, _PLAIN_CHARS)[0]
    if method in ("chat.appendStream", "chat.startStream", "chat.stopStream"):
        return kept | {"markdown_text": shown}
    if method in _MESSAGES:
        return kept | {"text": shown}
    return dict(arguments)


def _words(arguments: Mapping[str, Any]) -> str:
    """Everything that a person would have read, one line a piece."""
    parts = [str(arguments[name]) for name in ("text", "markdown_text") if arguments.get(name)]
    for name in ("blocks", "chunks", "attachments"):
        parts += list(_texts(arguments.get(name)))
    return "\n".join(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _texts(value: object) -> list[str]:
    if isinstance(value, Mapping):
        own = value.get("text")
        said = [own] if isinstance(own, str) else []
        return said + [text for name, part in value.items() if name != "text" or not said for text in _texts(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _texts(part)]
    return []
