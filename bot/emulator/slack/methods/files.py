"""files.*: an upload in three steps (address, content, completion) and what is known of a file."""

from __future__ import annotations

import mimetypes
from typing import Any

from bot.emulator.slack import messages
from bot.emulator.slack.arguments import Arguments, required, whole
from bot.emulator.slack.methods.base import Method, writable
from bot.emulator.slack.methods.chat import bot_fields
from bot.emulator.slack.refusals import Refused
from bot.emulator.slack.state import BOT_USER, Json, StoredFile
from bot.emulator.slack.world import World


def get_upload_url(world: World, arguments: Arguments) -> dict[str, Any]:
    name = str(required(arguments, "filename"))
    if whole(arguments, "length", 0) <= 0:
        raise Refused("invalid_arguments")
    stored = new_file(world, name, b"", BOT_USER)
    return {"file_id": stored.id, "upload_url": f"{world.base_url}/upload/v1/{stored.id}"}


def complete(world: World, arguments: Arguments) -> dict[str, Any]:
    given = required(arguments, "files")
    if not isinstance(given, list) or not given:
        raise Refused("invalid_arguments")
    done = [_completed(world, each) for each in given]
    named = (
        [arguments["channel_id"]] if arguments.get("channel_id") else str(arguments.get("channels") or "").split(",")
    )
    for channel_id in filter(None, named):
        channel = writable(world, channel_id)
        fields: Json = bot_fields(world) | {
            "subtype": "file_share", "text": str(arguments.get("initial_comment") or ""),
            "files": [shown(world, stored) for stored in done],
        }  # fmt: skip
        if arguments.get("thread_ts"):
            fields["thread_ts"] = str(arguments["thread_ts"])
        messages.post(world, channel, fields)
    return {"files": [shown(world, stored) for stored in done]}


def info(world: World, arguments: Arguments) -> dict[str, Any]:
    stored = world.state.files.get(str(required(arguments, "file")))
    if stored is None:
        raise Refused("file_not_found")
    return {"file": shown(world, stored)}


def new_file(world: World, name: str, content: bytes, user: str) -> StoredFile:
    kind = mimetypes.guess_type(name)[0] or "text/plain"
    stored = StoredFile(world.state.next_id("F"), name, name, kind, content, user)
    world.state.files[stored.id] = stored
    return stored


def shown(world: World, stored: StoredFile) -> Json:
    """A file object; url_private is served to the bot's token alone."""
    address = f"{world.base_url}/files/{stored.id}/{stored.name}"
    return {
        "id": stored.id, "name": stored.name, "title": stored.title, "mimetype": stored.mimetype,
        "filetype": stored.name.rpartition(".")[2] or "text", "size": len(stored.content), "user": stored.user,
        "mode": "snippet" if stored.mimetype.startswith("text/") else "hosted", "is_external": False,
        "url_private": address, "url_private_download": address, "permalink": f"{world.base_url}/page/file/{stored.id}",
    }  # fmt: skip


def _completed(world: World, given: Json) -> StoredFile:
    stored = world.state.files.get(str(given.get("id")))
    if stored is None or not stored.content:
        raise Refused("file_not_found")
    stored.title = str(given.get("title") or stored.name)
    stored.complete = True
    return stored


METHODS = {
    "files.getUploadURLExternal": Method(get_upload_url, ("files:write",)),
    "files.completeUploadExternal": Method(complete, ("files:write",)),
    "files.info": Method(info, ("files:read",)),
}
