"""The incident that ships with the project as data."""

from __future__ import annotations

from bot.data import SAMPLES
from bot.evaluation.scenarios import Scenario, read_scenario

SAMPLE = "checkout-slow"


def sample() -> Scenario:
    return read_scenario(SAMPLES / SAMPLE)
