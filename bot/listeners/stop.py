"""Stop, by our own button and by Slack's: the run ends and says what is proven. The word `stop` is bot/hearing/messages.py's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.buttons.clicks import Denied, about, read_click, say
from bot.desk import UNFINISHED, Desk
from storage.sessions import Thread

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


def register(app: AsyncApp, desk: Desk) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        try:
            subject = await about(desk, click.user, click.value, click.channel)
        except Denied as error:
            say(desk, click, error.key)
        else:
            if subject.run.status in UNFINISHED:
                await desk.cancel(subject.run.run_id)
            else:
                say(desk, click, "ended_before")
        await ack()

    async def stopped(event: Mapping[str, Any]) -> None:
        """Slack has closed the thread's streams by now."""
        channel, ts, user = (str(event.get(name) or "") for name in ("channel", "thread_ts", "user"))
        if channel and ts and user and await desk.refusal(user, channel) is None:
            await desk.stop_thread(Thread(desk.bot.team, channel, ts))

    app.action(ids.STOP)(pressed)
    app.event("agent_session_stopped")(stopped)
