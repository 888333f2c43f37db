"""The people and channels that a fresh loopback workspace has."""

from __future__ import annotations

from bot.emulator.slack.state import BOT_ID, BOT_USER, Channel, State, User


def seed_workspace(state: State) -> None:
    """ana, ben (Shanghai, zh-CN), guest and stranger; #incidents, #alerts, #random (without the bot), #shared,
    the private #war-room (the bot and ana) and #archived."""
    people = [
        User(BOT_USER, "proofthread", "Proofthread", is_bot=True, bot_id=BOT_ID),
        User("U0ANA00001", "ana", "Ana Ruiz"),
        User("U0BEN00001", "ben", "Ben Wu", tz="Asia/Shanghai", tz_offset=28_800, locale="zh-CN"),
        User("U0GUEST001", "guest", "Gus Guest", is_restricted=True, is_ultra_restricted=True),
        User("U0OTHER001", "stranger", "Olga Other", team_id="T0ELSEWHER"),
    ]
    state.users = {user.id: user for user in people}
    everyone = set(state.users)
    channels = [
        Channel("C0INCIDENT", "incidents", members=set(everyone), topic="Where incidents are talked over"),
        Channel("C0ALERTS01", "alerts", members={BOT_USER, "U0ANA00001", "U0BEN00001"}),
        Channel("C0RANDOM01", "random", members=everyone - {BOT_USER}),
        Channel("G0PRIVATE1", "war-room", "group", {BOT_USER, "U0ANA00001"}),
        Channel("C0SHARED01", "shared", members=set(everyone), is_ext_shared=True),
        Channel("C0ARCHIVED", "archived", members=set(everyone), is_archived=True),
    ]
    state.channels = {channel.id: channel for channel in channels}
