"""What the page asks of the loopback Slack: the state as JSON, changes as server-sent events, acts by POST.

GET  /                  the page itself (page/index.html); /page/static/NAME serves the other files of bot/emulator/slack/page
GET  /page/state        the whole state:
    {"revision": int, "team": {"id", "name"}, "bot": {"user_id", "bot_id", "name"},
     "users":    [{"id", "name", "real_name", "is_bot", "is_guest", "is_stranger", "tz", "locale"}],
     "channels": [{"id", "name", "kind": "channel|group|im|mpim", "is_archived", "bot_is_member", "topic", "members": ids,
                "user": other person of an im}],
     "messages": {CHANNEL: [message, …]}      roots and replies together, oldest first
     "statuses": [{"channel", "thread_ts", "status", "loading_messages"}]     the line under a thread while the bot works
     "sessions": [{"channel", "thread_ts", "status", "title"}]                status "processing" shows a Stop button
     "prompts":  [{"channel", "thread_ts", "title", "prompts": [{"title", "message"}]}]
     "views":    {USER: [view, …]}            open modals of a person, the last one on top
     "homes":    {USER: view}                 App Home
     "files":    [{"id", "name", "title", "mimetype", "size", "permalink", "content": text or null}]
     "shortcuts": [{"callback_id", "name"}], "commands": ["/proofthread"]}
    A message has Slack's fields: type, subtype, channel, ts, thread_ts, user, bot_id, username, text, blocks, attachments, files,
    metadata, reactions [{"name", "users", "count"}], edited, reply_count, reply_users, latest_reply, streaming_state
    (in_progress|completed|errored), ephemeral_to (user id: seen by that person alone).
    A streamed message's blocks are what it shows now: `plan` (tasks = task_card) or task_card blocks, `markdown` blocks, then the
    blocks of chat.stopStream. blocks posted with `markdown_text` are one `markdown` block.
    A view has Slack's fields: id, type, callback_id, title, submit, close, blocks, private_metadata, hash, state, errors
    ({block_id: text} after a refused submission).
GET  /page/events       server-sent events; each `data:` is one JSON object with "revision" and "kind":
    {"kind": "message", "channel", "message"}          posted, edited or streamed: put it in the place of the same ts (or add it)
    {"kind": "message_gone", "channel", "ts"}
    {"kind": "views", "user", "views": [view, …]}       the person's open modals now (an empty list closes)
    {"kind": "home", "user", "view"}
    {"kind": "status", "channel", "thread_ts", "status", "loading_messages"}     "" clears
    {"kind": "session", "channel", "thread_ts", "status", "title"}
    {"kind": "prompts", "channel", "thread_ts", "title", "prompts"}
    {"kind": "channel", "channel": channel} · {"kind": "user", "user": user}     new or changed
    {"kind": "notice", "user", "text"}                  what Slack would tell a person (an unanswered click, a refused form)
    The first event after connecting is {"kind": "hello"}; a page that reconnects reads /page/state again.
POST /page/act          JSON {"act": NAME, …}; answers {"ok": true, …} or {"ok": false, "error": text}:
    post     channel, user, text, thread_ts?, files? [{"name", "content"}]   → ts
    post_as_bot  channel, event (fields of a bot's message: text, attachments, blocks, username, bot_id, thread_ts)   → ts
    edit     channel, ts, user, text          delete   channel, ts, user
    react    channel, ts, user, name          unreact  channel, ts, user, name
    click    channel, ts, action_id, user, value?, block_id?        a button of a message; value also picks a select's option or user
    click_view  view_id, action_id, user, value?                    a button inside a modal or App Home
    submit   view_id, user, values {action_id or block_id: value}
    close    view_id, user                    shortcut callback_id, channel, ts, user
    slash    command, text, channel, user     open_home user, tab? ("home" or "messages")
    open_dm  user   → channel                 stop     channel, thread_ts, user
    prompt   channel, user, message, thread_ts?                      a suggested prompt: the same as post
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bot.emulator.slack.page_state import as_told, whole_state
from bot.emulator.slack.refusals import ActRefused
from bot.emulator.slack.state import Json

if TYPE_CHECKING:
    from bot.emulator.slack.acts import Acts

KEEP_ALIVE = 15.0


class PageApi:
    """The page's routes over the emulator's acts; everything runs in the server's loop."""

    def __init__(self, acts: Acts) -> None:
        self._acts = acts
        self._open: set[asyncio.Queue[Json | None]] = set()

    def add_routes(self, app: web.Application) -> None:
        app.router.add_get("/page/state", self._state)
        app.router.add_get("/page/events", self._events)
        app.router.add_post("/page/act", self._act)
        app.router.add_get("/page/file/{file}", self._file)
        app.on_shutdown.append(self._end)

    async def _state(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(whole_state(self._acts.world))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        queue: asyncio.Queue[Json | None] = asyncio.Queue()
        world = self._acts.world
        # The change is written down at once: a later one may alter the same message.
        end = world.changes.listen(lambda change: queue.put_nowait({"json": json.dumps(as_told(world, change))}))
        self._open.add(queue)
        try:
            await _write(response, json.dumps({"revision": world.changes.revision, "kind": "hello"}))
            while (told := await _next(queue)) is not None:
                await _write(response, told.get("json"))
        except ConnectionError:
            return response
        finally:
            self._open.discard(queue)
            end()
        return response

    async def _act(self, request: web.Request) -> web.StreamResponse:
        try:
            asked = await request.json()
            answer = _done(self._acts, dict(asked))
        except (json.JSONDecodeError, TypeError, ValueError) as error:
            return web.json_response({"ok": False, "error": f"not understood: {error}"}, status=400)
        except KeyError as error:
            return web.json_response({"ok": False, "error": f"{error} is missing"}, status=400)
        except (ActRefused, LookupError) as error:
            return web.json_response({"ok": False, "error": str(error)})
        return web.json_response({"ok": True, **answer})

    async def _file(self, request: web.Request) -> web.StreamResponse:
        stored = self._acts.world.state.files.get(request.match_info["file"])
        if stored is None:
            return web.Response(status=404)
        kind = "text/plain" if stored.mimetype.startswith("text/") else stored.mimetype
        return web.Response(body=stored.content, content_type=kind)

    async def _end(self, _: web.Application) -> None:
        for queue in self._open:
            queue.put_nowait(None)


def _done(acts: Acts, asked: Json) -> Json:
    name = str(asked.pop("act"))
    act = _act_named(acts, name)
    if act is None:
        raise ActRefused(f"no such act: {name}")
    result = act(**asked)
    if name in ("post", "post_as_bot", "prompt"):
        return {"ts": result}
    return {"channel": result} if name == "open_dm" else {}


def _act_named(acts: Acts, name: str) -> Callable[..., Any] | None:
    named: dict[str, Callable[..., Any]] = {
        "post": acts.post,
        "post_as_bot": lambda channel, event: acts.post_as_bot(channel, event),
        "edit": acts.edit,
        "delete": acts.delete,
        "react": acts.react,
        "unreact": acts.unreact,
        "click": acts.click,
        "click_view": acts.click_view,
        "submit": acts.submit_view,
        "close": acts.close_view,
        "shortcut": acts.shortcut,
        "slash": acts.slash,
        "open_home": acts.open_home,
        "open_dm": acts.open_dm,
        "stop": acts.stop,
        "prompt": lambda channel, user, message, thread_ts=None: acts.post(channel, user, message, thread_ts=thread_ts),
    }
    return named.get(name)


async def _next(queue: asyncio.Queue[Json | None]) -> Json | None:
    """The next change, or an empty one to keep the connection alive."""
    with suppress(TimeoutError):
        async with asyncio.timeout(KEEP_ALIVE):
            return await queue.get()
    return {}


async def _write(response: web.StreamResponse, text: str | None) -> None:
    await response.write(f"data: {text}\n\n".encode() if text else b": still here\n\n")
