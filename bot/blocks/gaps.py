"""What a run could not find out, each piece with the buttons that may bring it, and the modals behind them."""

from __future__ import annotations

from collections.abc import Sequence

from bot.blocks import ids
from bot.blocks.modal import View, modal, text_input
from bot.blocks.parts import actions, button, paragraph
from bot.blocks.reader import Reader
from bot.blocks.rich import Block, bullets, rich, section, spans
from bot.blocks.text import phone_line, plain, shown_pieces

CONTEXT_CHARS = 3_000
# More rows of buttons than this hide the answer on a phone; the other gaps are listed without.
_WITH_BUTTONS = 4
_GAP_CHARS, _LISTED = 400, 8


def gap_blocks(
    run_id: str,
    heading: str,
    gaps: Sequence[str],
    reader: Reader,
    *,
    chars: int = _GAP_CHARS,
    with_buttons: int = _WITH_BUTTONS,
    others: int = _LISTED,
) -> tuple[list[Block], bool]:
    """The blocks, and whether a gap was cut or left out. A verdict without a named gap still offers the buttons."""
    named = [gap for gap in gaps if gap.strip()] or [reader.say("no_gaps")]
    shown = [shown_pieces(gap, chars) for gap in named]
    texts = [f"{first.rstrip()} …" if rest else first for first, *rest in shown]
    blocks: list[Block] = []
    for number, text in enumerate(texts[:with_buttons]):
        title = [section(spans(heading, bold=True))] if number == 0 else []
        blocks.append(rich(*title, bullets([spans(text, reader.link_hosts)])))
        blocks.append(gap_buttons(run_id, number, reader))
    below = texts[with_buttons:][:others]
    more = len(texts) - with_buttons - len(below)
    if below:
        rest = [section(spans(reader.say("items_left", count=more), italic=True))] if more > 0 else []
        blocks.append(rich(bullets(spans(text, reader.link_hosts) for text in below), *rest))
    return blocks, more > 0 or texts != named


def gap_buttons(run_id: str, gap: int, reader: Reader) -> Block:
    """`gap` counts the run's gaps from 0, blank ones left out."""
    value = ids.numbered(run_id, gap)
    return actions(
        *(button(reader.say(f"button_{name}"), name, value) for name in (ids.LOOK_WIDER, ids.ADD_CONTEXT, ids.ASK_SOMEONE))
    )


def add_context_view(run_id: str, gap: int, gap_text: str, reader: Reader, **carry: str) -> View:
    """Input: values["context"]["context"]["value"]."""
    asked = text_input(
        "context",
        reader.say("context_label"),
        multiline=True,
        max_length=CONTEXT_CHARS,
        hint=reader.say("context_hint"),
    )
    blocks = [*_missing(gap_text, reader), asked]
    metadata = ids.carried(run_id=run_id, gap=gap, **carry)
    return modal(ids.ADD_CONTEXT, reader.say("context_title"), blocks, reader, submit="send", metadata=metadata)


def ask_someone_view(run_id: str, gap: int, gap_text: str, reader: Reader, **carry: str) -> View:
    """Input: values["person"]["person"]["selected_user"], values["question"]["question"]["value"]."""
    person: Block = {
        "type": "input",
        "block_id": "person",
        "label": plain(reader.say("ask_person"), 2000),
        "element": {"type": "users_select", "action_id": "person"},
    }
    asked = reader.say("ask_text", gap=phone_line(gap_text, 2_500)).strip()
    question = text_input(
        "question",
        reader.say("ask_question"),
        multiline=True,
        max_length=CONTEXT_CHARS,
        initial=asked,
        hint=reader.say("ask_hint"),
    )
    metadata = ids.carried(run_id=run_id, gap=gap, **carry)
    blocks = [*_missing(gap_text, reader), person, question]
    return modal(ids.ASK_SOMEONE, reader.say("ask_title"), blocks, reader, submit="send", metadata=metadata)


def _missing(gap_text: str, reader: Reader) -> list[Block]:
    return [paragraph(reader.say("gap_missing", gap=phone_line(gap_text, 2_500)), reader)] if gap_text.strip() else []
