"""What people do in the loopback Slack. Channels and people may be named by id or by name ("incidents", "ana")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.emulator.slack import events, interactions, messages
from bot.emulator.slack.deliveries import Delivery
from bot.emulator.slack.methods.files import new_file, shown
from bot.emulator.slack.on_loop import OnLoop, on_loop
from bot.emulator.slack.refusals import ActRefused
from bot.emulator.slack.state import BOT_USER, Channel, Json, User
from bot.emulator.slack.stream_life import stop_by_user
from bot.emulator.slack.webhooks import address_of, new_webhook

MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")


class Acts(OnLoop):
    @on_loop
    def post(
        self,
        channel: str,
        user: str,
        text: str,
        *,
        thread_ts: str | None = None,
        files: Sequence[Mapping[str, str | bytes]] | None = None,
        blocks: Sequence[Json] | None = None,
        subtype: str | None = None,
    ) -> str:
        """A person posts; returns the ts. `text` is as Slack stores it (<@U0BOT> mentions the bot, & < > escaped).

        `files`: [{"name", "content"}]. A mention of the bot makes an app_mention and a message event.
        """
        where, who = self._where(channel, user)
        fields: Json = {
            "user": who.id, "text": text, "team": who.team_id, "client_msg_id": self.world.state.next_id("cm"),
            "blocks": list(blocks) if blocks is not None else typed(text),
        }  # fmt: skip
        if who.is_stranger:
            fields |= {"user_team": who.team_id, "source_team": who.team_id}
        if thread_ts:
            fields |= self._reply(where, thread_ts)
        if files:
            stored = [new_file(self.world, str(each["name"]), _bytes(each["content"]), who.id) for each in files]
            fields |= {"subtype": "file_share", "files": [shown(self.world, each) for each in stored]}
        if subtype:
            fields["subtype"] = subtype
        return str(messages.post(self.world, where, fields)["ts"])

    @on_loop
    def post_as_bot(self, channel: str, fields: Mapping[str, Any]) -> str:
        """Another app posts, for example an alert sender: text, attachments, blocks, username, bot_id, thread_ts, …

        Without `user` it is a webhook's post (subtype bot_message). ts and channel of a recorded event are replaced.
        """
        where = self.world.state.channel(channel)
        kept = {
            name: value for name, value in fields.items() if name not in ("ts", "event_ts", "channel", "channel_type")
        }
        kept.setdefault("bot_id", "B0SENDER01")
        if "user" not in kept:
            kept.setdefault("subtype", "bot_message")
        return str(messages.post(self.world, where, kept)["ts"])

    @on_loop
    def add_webhook(self, channel: str, name: str = "incoming-webhook") -> str:
        """The address that an alert sender posts to; it needs a running server."""
        return address_of(self.world, new_webhook(self.world, self.world.state.channel(channel), name))

    @on_loop
    def edit(self, channel: str, ts: str, user: str | None, text: str | None = None, **fields: Any) -> None:
        """The author changes the text (or, for an alert sender with user None, any fields): message_changed."""
        where, message = self._message(channel, ts)
        changed = dict(fields)
        if text is not None:
            changed |= {"text": text, "blocks": fields.get("blocks", typed(text) if user else None)}
        messages.edit(self.world, where, message, changed, edited_by=self.world.state.user(user).id if user else None)

    @on_loop
    def delete(self, channel: str, ts: str, user: str | None = None) -> None:
        """By its author, or by `user`: anybody here, as an admin can in Slack."""
        if user is not None:
            self.world.state.user(user)
        where, message = self._message(channel, ts)
        messages.remove(self.world, where, message)

    @on_loop
    def react(self, channel: str, ts: str, user: str, name: str) -> None:
        where, message = self._message(channel, ts)
        if not messages.react(self.world, where, message, self.world.state.user(user).id, name):
            raise ActRefused(f"{user} has reacted with {name} already")

    @on_loop
    def unreact(self, channel: str, ts: str, user: str, name: str) -> None:
        where, message = self._message(channel, ts)
        if not messages.unreact(self.world, where, message, self.world.state.user(user).id, name):
            raise ActRefused(f"{user} has not reacted with {name}")

    @on_loop
    def click(
        self, channel: str, ts: str, action_id: str, user: str, value: Any = None, *, block_id: str | None = None
    ) -> Delivery:
        """A button or select of a message. `value` picks among buttons of one action_id, an option, a person; for
        feedback_buttons "positive" (the default), "negative" or the value itself."""
        where, message = self._message(channel, ts)
        return interactions.click(self.world, where, message, action_id, self.world.state.user(user), value, block_id)

    @on_loop
    def click_view(self, view_id: str, action_id: str, user: str, value: Any = None) -> Delivery:
        """A button or select of an open modal or of App Home."""
        return interactions.click_view(self.world, view_id, action_id, self.world.state.user(user), value)

    @on_loop
    def submit_view(self, view_id: str, user: str, values: Mapping[str, Any] | None = None) -> Delivery:
        """`values`: {action_id or block_id: text, option value, user id, or a list of them}; the rest keeps its start."""
        return interactions.submit(self.world, view_id, self.world.state.user(user), dict(values or {}))

    @on_loop
    def close_view(self, view_id: str, user: str) -> Delivery | None:
        return interactions.close(self.world, view_id, self.world.state.user(user))

    @on_loop
    def shortcut(self, callback_id: str, channel: str, ts: str, user: str) -> Delivery:
        """A message shortcut."""
        where, message = self._message(channel, ts)
        return interactions.shortcut(self.world, callback_id, where, message, self.world.state.user(user))

    @on_loop
    def slash(self, command: str, text: str, channel: str, user: str) -> Delivery:
        where, who = self.world.state.channel(channel), self.world.state.user(user)
        return interactions.slash(self.world, command, text, where, who)

    @on_loop
    def open_home(self, user: str, tab: str = "home") -> None:
        """tab is home or messages."""
        who = self.world.state.user(user)
        events.home_opened(self.world, who.id, self._direct(who), tab)

    @on_loop
    def open_dm(self, user: str) -> str:
        """The id of the person's direct message with the bot."""
        return self._direct(self.world.state.user(user)).id

    @on_loop
    def stop(self, channel: str, thread_ts: str, user: str) -> None:
        """Slack's own Stop: the thread's open streams end, the app gets agent_session_stopped."""
        where, who = self.world.state.channel(channel), self.world.state.user(user)
        streams = stop_by_user(self.world, where, thread_ts)
        events.session_stopped(self.world, where, thread_ts, who.id, streams)

    @on_loop
    def send_event(self, event: Mapping[str, Any]) -> str:
        """Any event as it is, for what the acts above cannot say; returns its event_id."""
        return events.send_event(self.world, dict(event))

    @on_loop
    def send_payload(self, payload: Mapping[str, Any]) -> Delivery:
        """A whole payload as it is (url_verification, app_rate_limited), sent once."""
        return self.world.deliveries.interaction("events_api", dict(payload), lambda _: None)

    @on_loop
    def send_interaction(self, payload: Mapping[str, Any]) -> Delivery:
        """A click or form as it is, which no message of ours offers."""
        return self.world.deliveries.interaction("interactive", dict(payload), lambda _: None)

    @on_loop
    def invite_bot(self, channel: str) -> None:
        where = self.world.state.channel(channel)
        where.members.add(BOT_USER)
        self.world.changes.publish("channel", channel=where.id)

    @on_loop
    def remove_bot(self, channel: str) -> None:
        where = self.world.state.channel(channel)
        where.members.discard(BOT_USER)
        self.world.changes.publish("channel", channel=where.id)

    @on_loop
    def add_user(self, name: str, **fields: Any) -> str:
        """A new person, member of nothing yet; returns the id."""
        user = User(
            fields.pop("id", None) or self.world.state.next_id("U"), name, fields.pop("real_name", name), **fields
        )
        self.world.state.users[user.id] = user
        self.world.changes.publish("user", user=user.id)
        return user.id

    @on_loop
    def add_channel(self, name: str, *, members: Sequence[str] | None = None, bot: bool = True, **fields: Any) -> str:
        """A new channel with everybody (or `members`), with or without the bot; returns the id."""
        state = self.world.state
        people = {state.user(each).id for each in members} if members is not None else set(state.users)
        bots = {user.id for user in state.users.values() if user.is_bot}
        channel = Channel(
            fields.pop("id", None) or state.next_id("C"),
            name,
            members=people | bots if bot else people - bots,
            **fields,
        )
        state.channels[channel.id] = channel
        self.world.changes.publish("channel", channel=channel.id)
        return channel.id

    @on_loop
    def archive(self, channel: str, archived: bool = True) -> None:
        self.world.state.channel(channel).is_archived = archived

    def _where(self, channel: str, user: str) -> tuple[Channel, User]:
        where, who = self.world.state.channel(channel), self.world.state.user(user)
        if where.is_archived:
            raise ActRefused(f"#{where.name} is archived")
        return where, who

    def _message(self, channel: str, ts: str) -> tuple[Channel, Json]:
        where = self.world.state.channel(channel)
        message = self.world.state.message(where.id, ts)
        if message is None:
            message = next((each for each in self.world.state.ephemerals.get(where.id, []) if each["ts"] == ts), None)
        if message is None:
            raise ActRefused(f"no message {ts} in #{where.name}")
        return where, message

    def _reply(self, channel: Channel, thread_ts: str) -> Json:
        root = self.world.state.message(channel.id, thread_ts)
        author = {"parent_user_id": root["user"]} if root and root.get("user") else {}
        return {"thread_ts": thread_ts, **author}

    def _direct(self, user: User) -> Channel:
        known = set(self.world.state.channels)
        channel = self.world.state.direct(user)
        if channel.id not in known:
            self.world.changes.publish("channel", channel=channel.id)
        return channel


def typed(text: str) -> list[Json]:
    """The rich_text block that Slack makes of what a person types."""
    elements: list[Json] = []
    last = 0
    for found in MENTION.finditer(text):
        if found.start() > last:
            elements.append({"type": "text", "text": _unescaped(text[last : found.start()])})
        elements.append({"type": "user", "user_id": found[1]})
        last = found.end()
    if text[last:]:
        elements.append({"type": "text", "text": _unescaped(text[last:])})
    return (
        [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}] if elements else []
    )


def _unescaped(text: str) -> str:
    """rich_text holds what was typed; only `text` is escaped."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()
