"""The plan without a model: the nearest skill, and look-ups in the standard order."""

from __future__ import annotations

from collections.abc import Iterator

from agents.contracts import PlannerInput, PlannerPlan, SkillCard
from agents.llm.base import ModelRequest
from agents.offline.follow_up import read_in_context
from agents.offline.question import Question
from agents.offline.sentences import Sentences, sentences_of
from agents.offline.similarity import similarities

THRESHOLD = 2.0


def plan(request: ModelRequest) -> PlannerPlan:
    assert isinstance(request.payload, PlannerInput)
    question = read_in_context(request.payload.question, request.payload.history, request.now, request.zone)
    sentences = sentences_of(request.language)
    plain = question.ask in ("count", "listing")
    skill = None if plain else nearest(question.context or request.payload.question, request.payload.skill_catalog)
    return PlannerPlan(
        selected_skill=skill,
        selection_reason=sentences.say("plan", "skill" if skill else "no_skill"),
        plan=tuple(steps(question, skill, sentences)),
        reasoning=sentences.say("plan", "reasoning"),
    )


def nearest(question: str, catalog: tuple[SkillCard, ...]) -> str | None:
    """The skill whose name and description the question resembles most; None under the threshold."""
    scores = similarities(question, [f"{card.name} {card.description}" for card in catalog])
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return catalog[best].name if best is not None and scores[best] >= THRESHOLD else None


def steps(question: Question, skill: str | None, sentences: Sentences) -> Iterator[str]:
    """The standard order, in words."""
    if skill:
        yield sentences.say("plan", "read_skill", skill=skill)
    if question.records:
        yield sentences.say("plan", "orders")
    for name in ("alerts", "logs", "changes", "metrics", "knowledge", "outside"):
        yield sentences.say("plan", name)
