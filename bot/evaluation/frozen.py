"""Useful runs, frozen: a recording that outlives the run's own rows."""

from __future__ import annotations

from contextlib import suppress

from pydantic import ValidationError

from agents.state import StateUnreadable, load_state
from bot.errors import ConfigError
from bot.evaluation.replay import Recording, recording
from storage.cases import CaseStore
from storage.engine import Database
from storage.errors import CaseNotFound, RunNotFound
from storage.frozen import FrozenScenarios
from storage.trace import TraceStore
from storage.types import to_json


def recorded(db: Database, name: str) -> Recording:
    """The recording of a run, by the run's id or its case's: of its rows, or where they are gone the frozen one.

    Raises RunNotFound, and ConfigError for what has not ended or another version wrote.
    """
    run_id = _run_id(db, name)
    try:
        return live_recording(db, run_id)
    except RunNotFound:
        text = FrozenScenarios(db).get(run_id)
        if text is None:
            raise
    try:
        return Recording.model_validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"The frozen run {run_id} was written by another version and cannot be replayed.") from error


def freeze(db: Database, run_id: str) -> None:
    """Keep an ended run for later replays. Raises as `live_recording` does."""
    FrozenScenarios(db).freeze(run_id, to_json(live_recording(db, run_id).model_dump()))


def live_recording(db: Database, run_id: str) -> Recording:
    """Raises RunNotFound, and ConfigError for a run that has not ended or that another version wrote."""
    store = TraceStore(db)
    run = store.run(run_id)
    try:
        return recording(run, load_state(run.state), store.invocations(run_id))
    except StateUnreadable as error:
        raise ConfigError(f"Run {run_id} cannot be replayed: {error}.") from error


def _run_id(db: Database, name: str) -> str:
    with suppress(CaseNotFound):
        return CaseStore(db).get(name).diagnosis_id
    return name
