"""The names by which a click finds its listener, and what its value says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

FEEDBACK = "feedback"
EVIDENCE, EVIDENCE_PREVIOUS, EVIDENCE_NEXT = "evidence", "evidence_previous", "evidence_next"
TRACE, TRACE_PREVIOUS, TRACE_NEXT = "trace", "trace_previous", "trace_next"
STOP = "stop"
LOOK_WIDER, ADD_CONTEXT, ASK_SOMEONE = "look_wider", "add_context", "ask_someone"
EDIT_CASE = "edit_case"
WHY_NOT = "why_not"

Vote = Literal["useful", "not_useful"]


def vote_value(run_id: str, vote: Vote) -> str:
    return f"{run_id}:{vote}"


def vote_of(value: str) -> tuple[str, Vote] | None:
    """Run and vote of a feedback button; None for what we never sent."""
    run_id, _, vote = value.rpartition(":")
    if not run_id or vote not in ("useful", "not_useful"):
        return None
    return run_id, "useful" if vote == "useful" else "not_useful"


def numbered(run_id: str, number: int) -> str:
    """The value of a button that means one gap or one page of a run."""
    return f"{run_id}:{number}"


def number_of(value: str) -> tuple[str, int] | None:
    """Run and number of such a button; None for what we never sent."""
    run_id, _, number = value.rpartition(":")
    return (run_id, int(number)) if run_id and number.isascii() and number.isdecimal() else None


def carried(**values: object) -> str:
    """private_metadata of a modal: what its submission must know."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def carried_by(view: Mapping[str, object]) -> dict[str, object]:
    """What `carried` put into the view; empty for a view that is not ours."""
    try:
        values = json.loads(str(view.get("private_metadata") or "{}"))
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}
