"""The plan for an alert without a model: the nearest skill, the look-ups in the standard order, whose state to check."""

from __future__ import annotations

from agents.contracts import AiopsPlan, AiopsPlannerInput
from agents.llm.base import ModelRequest
from agents.offline.alert_subject import entities_of, subject_of
from agents.offline.planner import nearest, steps
from agents.offline.sentences import sentences_of


def plan_alert(request: ModelRequest) -> AiopsPlan:
    given = request.payload
    assert isinstance(given, AiopsPlannerInput)
    subject = subject_of(given.alerts, request.now, request.zone)
    sentences = sentences_of(request.language)
    skill = nearest(subject.text, given.skill_catalog)
    return AiopsPlan(
        selected_skill=skill,
        selection_reason=sentences.say("plan", "skill" if skill else "no_skill"),
        plan=tuple(steps(subject, skill, sentences)),
        entities=entities_of(given.alerts),
        reasoning=sentences.say("plan", "reasoning"),
    )
