"""Runs scenarios through the whole pipeline: each in its own world, all in one throw-away database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from pydantic import SecretStr

from agents.contracts import Alert, HistoryTurn, RunOutcome
from agents.events import OnEvent, ignore_event
from agents.state import RunRequest
from bot.app import App, open_app, prepare
from bot.asking import Question, ask
from bot.emulator.worlds import open_world
from bot.errors import ConfigError
from bot.evaluation.grading import Failure, Grade, grade
from bot.evaluation.scenarios import Asked, Scenario
from bot.incidents.input import NoAlert, firing_of
from bot.incidents.request import triage_request
from bot.inputs import language_of
from bot.jobs import ask as run
from bot.knowledge import sync_quietly
from bot.settings import Loaded
from storage.errors import StorageError
from storage.knowledge import Domain, KnowledgeStore
from storage.trace import StoredInvocation
from tools.errors import ToolConfigError


@dataclass(frozen=True)
class Finished:
    outcome: RunOutcome
    invocations: list[StoredInvocation]


async def evaluate(scenarios: Sequence[Scenario], loaded: Loaded) -> AsyncIterator[Grade | Failure]:
    """One result a scenario, as each ends. What a scenario cannot do is its own Failure; the others still run."""
    with TemporaryDirectory(prefix="proofthread-eval-") as folder:
        for scenario in scenarios:
            yield await _graded(scenario, loaded, Path(folder))


async def run_scenario(
    scenario: Scenario, loaded: Loaded, folder: Path, on_event: OnEvent = ignore_event
) -> Finished:
    """Raises ConfigError, ToolConfigError and StorageError: the scenario cannot be run as it stands."""
    async with _opened(scenario, loaded, folder) as (app, now):
        outcome = await _outcome(scenario, loaded, app, now, on_event)
        invocations = await app.database.call(app.store.invocations, outcome.run_id)
        return Finished(outcome, invocations)


async def _graded(scenario: Scenario, loaded: Loaded, folder: Path) -> Grade | Failure:
    try:
        finished = await run_scenario(scenario, loaded, folder)
    except (ConfigError, StorageError, ToolConfigError) as error:
        return Failure(id=scenario.file.id, reason=str(error))
    return grade(scenario, finished.outcome, [one.tool_name for one in finished.invocations])


@asynccontextmanager
async def _opened(scenario: Scenario, loaded: Loaded, folder: Path) -> AsyncIterator[tuple[App, datetime]]:
    own = folder / scenario.name
    with open_world(scenario, loaded.settings, own, datetime.now(UTC)) as world:
        trace = {"database_url": SecretStr(""), "data_dir": folder}
        here = replace(loaded, settings=world.settings.model_copy(update=trace))
        # Knowledge of one scenario must not be found by the next: it has a database of its own.
        async with open_app(here, external=world.tools, knowledge_url=f"sqlite:///{own / 'knowledge.db'}") as app:
            await prepare(app)
            if world.knowledge is not None:
                await sync_quietly(app, world.knowledge, lambda *_: None)
            domains = [Domain(name, "", "", 1) for name in scenario.file.world.knowledge_domains]
            if domains:
                await app.knowledge.call(KnowledgeStore(app.knowledge).put_domains, domains)
            yield app, world.now


async def _outcome(scenario: Scenario, loaded: Loaded, app: App, now: datetime, on_event: OnEvent) -> RunOutcome:
    if scenario.file.input.kind == "question":
        return await ask(app, _question(scenario, loaded, now), on_event)
    return await run(_request(scenario, loaded, now), app.work, on_event)


def _question(scenario: Scenario, loaded: Loaded, now: datetime) -> Question:
    asked = scenario.file.input
    language = scenario.file.language or language_of(asked.text, default="en")
    history = tuple(HistoryTurn(role=turn.role, text=turn.text) for turn in asked.history)
    return Question(asked.text, language, loaded.zone.key, now, history=history)


def _request(scenario: Scenario, loaded: Loaded, now: datetime) -> RunRequest:
    """Raises ConfigError where the scenario holds no alert that fires."""
    asked, seconds = scenario.file.input, loaded.settings.alert_max_seconds
    session, zone = uuid4().hex, loaded.zone.key
    if not asked.is_recorded_alert:
        language = scenario.file.language or "auto"
        alerts = _alerts(asked)
        return triage_request(alerts, session_id=session, language=language, zone=zone, now=now, seconds=seconds)
    return RunRequest(
        session_id=session,
        question=asked.text,
        language=scenario.file.language or "en",
        zone=zone,
        now=now,
        agent_flow="AI_OPS",
        deadline_seconds=seconds,
        mode=asked.mode,
        alerts=asked.alerts,
    )


def _alerts(asked: Asked) -> tuple[Alert, ...]:
    try:
        return firing_of(asked.event if asked.event is not None else asked.payload)
    except NoAlert as error:
        raise ConfigError(str(error)) from error
