"""How this Slack behaves: what an app is allowed, what it subscribed to, how fast and how unreliable delivery is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SCOPES = frozenset(
    [
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        "reactions:read",
        "reactions:write",
        "users:read",
        "team:read",
    ]
)
EVENTS = frozenset(
    [
        "app_mention",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "reaction_added",
        "reaction_removed",
        "app_home_opened",
        "agent_session_stopped",
    ]
)


@dataclass
class Behaviour:
    """Every field may be set while the emulator runs. Times are seconds.

    `copies` sends each event that many times (a range), `jitter` delays each copy: any order results.
    `mention_gap` lies between the two events of a mention; `retry_delays` are Slack's own.
    `stream_ttl` None: streams never expire; `stream_text` caps the markdown of one streamed message.
    `no_streams_in` names the kinds of channel that answer channel_type_not_supported.
    """

    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    subscriptions: set[str] = field(default_factory=lambda: set(EVENTS))
    mention_order: Literal["app_mention_first", "message_first", "any"] = "app_mention_first"
    mention_gap: tuple[float, float] = (0.0, 0.0)
    copies: tuple[int, int] = (1, 1)
    jitter: tuple[float, float] = (0.0, 0.0)
    with_item_user: bool = True
    ack_seconds: float = 3.0
    retry_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    max_sockets: int = 10
    ping_seconds: float = 5.0
    stream_ttl: float | None = 300.0
    stream_text: int = 12_000
    stream_total: int = 40_000
    no_streams_in: set[str] = field(default_factory=set)
    trigger_seconds: float = 3.0
    rate_limits: bool = False
