"""A modal of several pages that a button of an answer opens, and that its own buttons turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.blocks import ids
from bot.blocks.modal import View
from bot.blocks.reader import Reader
from bot.buttons.clicks import Fill, open_modal, read_click, turn_page
from bot.desk import Desk

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.context.ack.async_ack import AsyncAck


@dataclass(frozen=True)
class Pages:
    """`opens` and `turns` are action ids; `page` fills page n; `loading` is shown until it is there."""

    opens: str
    turns: tuple[str, ...]
    loading: Callable[[Reader], View]
    page: Callable[[int], Fill]


def register_pages(app: AsyncApp, desk: Desk, pages: Pages) -> None:
    async def pressed(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        await open_modal(desk, click, click.value, pages.page(1), pages.loading)
        await ack()

    async def turned(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        click = read_click(body)
        found = ids.number_of(click.value)
        if found is not None:
            run_id, number = found
            turn_page(desk, click, run_id, pages.page(number), desk.shown_language(body))
        await ack()

    app.action(pages.opens)(pressed)
    for action_id in pages.turns:
        app.action(action_id)(turned)
