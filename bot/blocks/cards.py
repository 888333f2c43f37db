"""The events of a run, read as cards: one a visit to a node, one a tool call with what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agents.events import RunEvent
from bot.blocks.reader import Reader

Status = Literal["in_progress", "complete", "error"]
# Nodes of code alone that take no time say nothing to a person.
_HIDDEN = ("VERIFIED_INPUT", "SUPERVISOR", "RULE_EVALUATION")
_NODES = (
    "PLANNER", "EXECUTOR", "DISCOVERY", "AIOPS_PLANNER", "AIOPS_EXECUTOR", "GATEKEEPER", "VERIFIER", "COMPOSER", "REPORT",
    "FALLBACK",
)  # fmt: skip


@dataclass(frozen=True)
class Card:
    """`call` is the tool call's own name among the run's events; "" for a node."""

    id: str
    name: str
    title: str
    status: Status = "in_progress"
    output: str = ""
    is_call: bool = False
    call: str = ""


def cards_of(events: Sequence[RunEvent], reader: Reader) -> tuple[Card, ...]:
    """A pure function of the history: the same events give the same cards, and more events only add to them."""
    cards: tuple[Card, ...] = ()
    for event in events:
        cards = with_event(cards, event, reader)
    return cards


def with_event(cards: tuple[Card, ...], event: RunEvent, reader: Reader) -> tuple[Card, ...]:
    if event.name in _HIDDEN:
        return cards
    if event.kind == "node_started":
        return cards if _running(cards, event) is not None else (*cards, _node(cards, event, reader))
    if event.kind == "tool_started":
        return (*cards, _call(cards, event))
    index = _running(cards, event)
    if index is None:
        return cards
    return (*cards[:index], _after(cards[index], event, reader), *cards[index + 1 :])


def all_ended(cards: tuple[Card, ...], *, ok: bool = True) -> tuple[Card, ...]:
    """The cards of a run that has ended: nothing runs any more."""
    last: Status = "complete" if ok else "error"
    return tuple(replace(card, status=last) if card.status == "in_progress" else card for card in cards)


def _node(cards: Sequence[Card], event: RunEvent, reader: Reader) -> Card:
    visit = 1 + sum(card.name == event.name and not card.is_call for card in cards)
    title = reader.say(f"node_{event.name}") if event.name in _NODES else event.name
    if visit > 1:
        title = reader.say("node_round", node=title, round=visit)
    return Card(id=f"{event.name.lower()}-{visit}", name=event.name, title=title)


def _call(cards: Sequence[Card], event: RunEvent) -> Card:
    number = 1 + sum(card.is_call for card in cards)
    title = f"{event.name} {event.detail}".strip()
    return Card(id=f"call-{number}", name=event.name, title=title, is_call=True, call=event.call)


def _running(cards: Sequence[Card], event: RunEvent) -> int | None:
    """The open card that the event is about; of several equal ones the oldest."""
    is_call = event.kind in ("tool_started", "tool_finished")
    for index, card in enumerate(cards):
        same = card.name == event.name and card.is_call is is_call and card.call == event.call
        if same and card.status == "in_progress":
            return index
    return None


def _after(card: Card, event: RunEvent, reader: Reader) -> Card:
    if event.kind == "retry":
        return replace(card, output=_added(card.output, reader.say("retry", detail=event.detail)))
    if event.kind == "degraded":
        return replace(card, output=_added(card.output, reader.say("degraded_node", detail=event.detail)))
    said = event.detail if event.ok else reader.say("tool_failed", detail=event.detail)
    return replace(card, status="complete" if event.ok else "error", output=_added(card.output, said))


def _added(before: str, text: str) -> str:
    return f"{before}\n{text}".strip()
