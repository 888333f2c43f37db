"""Our table of shapes against the schema generated from Slack's own types: where theirs refuses, ours must."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_schema import block_problems

from bot.slack.validator import check

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
PAYLOADS = [payload for file in GOLDEN if isinstance(payload := json.loads(file.read_text(encoding="utf-8")), dict)]
WRONG = ("x", "", 7, True, None, [], {}, {"type": "plain_text", "text": "x"}, {"type": "button"}, {"type": []}, [["x"]])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_slacks_types_refuse_is_refused(data: st.DataObject) -> None:
    payload = copy.deepcopy(data.draw(st.sampled_from(PAYLOADS)))
    place = data.draw(st.sampled_from([place for place in _places(payload["blocks"]) if place]))
    _damage(payload["blocks"], place, data)
    if block_problems(payload["blocks"]):
        assert _problems(payload)


def _problems(payload: dict[str, Any]) -> list[Any]:
    if payload.get("type") == "modal":
        return check("views.open", {"trigger_id": "1.2", "view": payload})
    if payload.get("type") == "home":
        return check("views.publish", {"user_id": "U1", "view": payload})
    return check("chat.postMessage", {"channel": "C1", **payload})


def _damage(blocks: list[Any], place: tuple[Any, ...], data: st.DataObject) -> None:
    parent: Any = blocks
    for key in place[:-1]:
        parent = parent[key]
    how = data.draw(st.sampled_from(("drop", "put", "add")))
    if how == "put":
        parent[place[-1]] = data.draw(st.sampled_from(WRONG))
    elif how == "add" and isinstance(parent[place[-1]], dict):
        parent[place[-1]]["unheard_of"] = "x"
    else:
        del parent[place[-1]]


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from _places(member, (*at, key))
