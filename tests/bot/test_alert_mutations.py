"""No post, however damaged, breaks the reader, stalls it, or makes it give what nothing can store."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.alerts import Parsed, parse_alerts

OWN = Path(__file__).resolve().parents[1] / "data" / "alerts"
LIMIT_SECONDS = 0.05
MUTATIONS = 2_000
ODD = ("\x00", "\ud800", "\u202e", "🔴", "告警", "`", "```", "<", "|", "*", "[", "{", "&lt;", "<!channel>", "<http", "\n", ": ", " = ", " is down ")
OTHER_TYPES: tuple[Any, ...] = (None, 0, 1e308, True, "", [], {}, [[]], [None], {"text": None}, {"text": {"text": 1}})

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["text", "blocks", "attachments", "fields", "title", "value", "elements", "type", "message", "subtype", "bot_id", "ts", "files", "rows"]
    ) | st.text(max_size=6), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(event=JSON)
def test_any_json_is_read_without_an_error(event: Any) -> None:
    _holds(parse_alerts(event))


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=400), title=st.text(max_size=100), user=st.text(max_size=20))
def test_any_words_of_a_machine_are_read_without_an_error(text: str, title: str, user: str) -> None:
    post = {"text": text, "bot_id": "B1", "username": user, "ts": "1.1", "attachments": [{"title": title, "text": text}]}
    _holds(parse_alerts(post))


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=300))
def test_what_a_person_writes_is_never_an_alert(text: str) -> None:
    assert parse_alerts({"user": "U1", "client_msg_id": "c", "text": text, "ts": "1.1"}).alerts == ()


def test_two_thousand_mutated_posts_are_each_read_in_time() -> None:
    events = [json.loads(path.read_text(encoding="utf-8"))["event"] for path in sorted(OWN.glob("*.json"))]
    slow = []
    for event in _mutated(events, random.Random(4)):
        _holds(parse_alerts(event))
        seconds = _seconds(event)
        if seconds > LIMIT_SECONDS and min(_seconds(event) for _ in range(3)) > LIMIT_SECONDS:
            slow.append((seconds, json.dumps(event)[:300]))
    assert slow == []


def _holds(parsed: Parsed) -> None:
    assert bool(parsed.alerts) == (parsed.status is not None) == (parsed.ignored_reason is None)
    assert parsed.count >= len(parsed.alerts)
    assert parsed.count > 0 or not parsed.alerts
    written = parsed.model_dump_json()
    written.encode("utf-8")
    assert "\\u0000" not in written
    for alert in parsed.alerts:
        said = [alert.raw, alert.alert_name or "", *alert.labels.values(), *alert.annotations.values()]
        assert not any(ping in text for text in said for ping in ("<!channel>", "<!here>", "<@U"))


def _seconds(event: Any) -> float:
    began = time.thread_time()
    parse_alerts(event)
    return time.thread_time() - began


def _mutated(events: list[Any], chance: random.Random) -> Iterator[Any]:
    for _ in range(MUTATIONS):
        event = copy.deepcopy(chance.choice(events))
        for _ in range(chance.randint(1, 4)):
            _mutate(event, chance)
        yield event


def _mutate(event: Any, chance: random.Random) -> None:
    """One place: another type, gone, cut, doubled, or with something odd inside."""
    holder, key = chance.choice(list(_places(event)) or [({}, "x")])
    value = holder[key] if isinstance(holder, list) else holder.get(key)
    kind = chance.randrange(6)
    if kind == 0:
        holder[key] = copy.deepcopy(chance.choice(OTHER_TYPES))
    elif kind == 1 and isinstance(holder, dict):
        holder.pop(key, None)
    elif kind == 2 and isinstance(value, str):
        holder[key] = value[: chance.randint(0, len(value))]
    elif kind == 3 and isinstance(value, list):
        holder[key] = value * chance.randint(2, 20)
    elif isinstance(value, str):
        place, odd = chance.randint(0, len(value)), chance.choice(ODD)
        holder[key] = value[:place] + odd * chance.choice((1, 2, 3_000)) + value[place:]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)
