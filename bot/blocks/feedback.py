"""Useful or not, and why not; the case before it is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from bot.blocks import ids
from bot.blocks.modal import View, modal, text_input
from bot.blocks.parts import actions, button, context, paragraph
from bot.blocks.reader import Reader
from bot.blocks.rich import Block
from bot.blocks.text import plain, split_text

REASONS = ("wrong_cause", "wrong_evidence", "missing", "unclear", "other")
_INPUT_CHARS = 3_000


@dataclass(frozen=True)
class CaseDraft:
    """What a person may change of a case. The fields are those of case_library."""

    title: str
    fault_category: str
    root_cause: str
    solution: str


def feedback_block(run_id: str, reader: Reader) -> Block:
    buttons = {
        "type": "feedback_buttons",
        "action_id": ids.FEEDBACK,
        "positive_button": _vote(run_id, "useful", reader),
        "negative_button": _vote(run_id, "not_useful", reader),
    }
    return {"type": "context_actions", "elements": [buttons]}


def _vote(run_id: str, vote: ids.Vote, reader: Reader) -> dict[str, Any]:
    return {
        "text": plain(reader.say(f"button_{vote}"), 75),
        "value": ids.vote_value(run_id, vote),
        "accessibility_label": reader.say(f"{vote}_label"),
    }


# ---------------------------------------------------------------- why not


def why_not_view(run_id: str, reader: Reader, **carry: str) -> View:
    """Inputs: values["reason"]["reason"]["selected_option"]["value"] (one of REASONS), values["note"]["note"]["value"]."""
    options = [{"text": plain(reader.say(f"why_{name}"), 75), "value": name} for name in REASONS]
    reason: Block = {
        "type": "input",
        "block_id": "reason",
        "label": plain(reader.say("why_label"), 2000),
        "element": {"type": "radio_buttons", "action_id": "reason", "options": options},
    }
    note = text_input("note", reader.say("why_note"), multiline=True, optional=True, max_length=_INPUT_CHARS)
    metadata = ids.carried(run_id=run_id, **carry)
    return modal(ids.WHY_NOT, reader.say("why_title"), [reason, note], reader, submit="send", metadata=metadata)


# ---------------------------------------------------------------- the case


def case_offer(run_id: str, active: bool, reader: Reader) -> list[Block]:
    """What a useful vote gets: the case is saved (`active`: searchable) and may be edited."""
    said = paragraph(reader.say("case_saved" if active else "case_draft"), reader)
    return [said, actions(button(reader.say("button_edit_case"), ids.EDIT_CASE, run_id))]


def edit_case_view(run_id: str, draft: CaseDraft, reader: Reader, **carry: str) -> View:
    """One input a field; a text longer than an input may hold gets several, which `case_of` joins again."""
    inputs = [part for field in fields(draft) for part in _inputs(field.name, getattr(draft, field.name), reader)]
    blocks = [context(reader.say("case_intro")), *inputs]
    metadata = ids.carried(run_id=run_id, **carry)
    return modal(ids.EDIT_CASE, reader.say("case_title"), blocks, reader, submit="save", metadata=metadata)


def case_of(view: Mapping[str, Any]) -> CaseDraft:
    """The case as submitted, from the `view` of the payload. Absent and empty inputs are empty texts."""
    values = view.get("state", {}).get("values", {})
    return CaseDraft(**{field.name: "".join(_typed(values, field.name)).strip() for field in fields(CaseDraft)})


_LABELS = {
    "title": "case_name",
    "fault_category": "case_category",
    "root_cause": "case_root_cause",
    "solution": "case_solution",
}


def _inputs(name: str, text: str, reader: Reader) -> Iterator[Block]:
    label = reader.say(_LABELS[name])
    long = name in ("root_cause", "solution")
    for number, piece in enumerate(split_text(text, _INPUT_CHARS) or [""], 1):
        shown = label if number == 1 else reader.say("case_part", label=label, part=number)
        yield text_input(
            _part(name, number), shown, initial=piece, multiline=long, optional=name != "title", max_length=_INPUT_CHARS
        )


def _part(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def _typed(values: Mapping[str, Any], name: str) -> Iterator[str]:
    number = 1
    while (part := _part(name, number)) in values:
        yield values[part].get(part, {}).get("value") or ""
        number += 1
