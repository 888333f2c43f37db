"""The one form of tests, evaluation, replay and regression: a folder with scenario.json and the files that it names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from agents.contracts import AiopsMode, Alert
from bot.errors import ConfigError
from tools.contracts import ToolResult

SCENARIO_FILE = "scenario.json"


class _Part(BaseModel):
    """A misspelt key of a scenario's parts would quietly grade nothing: it is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedCall(_Part):
    """One recorded call. `args` None answers whatever is asked; `output_file` stands for a long `output`; `result` is the
    whole ToolResult of a run that was recorded by us."""

    args: dict[str, Any] | None = None
    status: Literal["success", "no_data", "error"]
    output: str | None = None
    output_file: str | None = None
    error: str | None = None
    result: ToolResult | None = None


class RecordedTool(_Part):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")
    description: str = ""
    calls: tuple[RecordedCall, ...]


class World(_Part):
    """What the run can see. All paths are relative to the scenario's folder. `knowledge_domains` stand in for documents
    where the look-ups themselves are recorded."""

    tools: tuple[RecordedTool, ...] = ()
    metrics_file: str | None = None
    logs_file: str | None = None
    logs_dir: str | None = None
    orders_file: str | None = None
    changes_file: str | None = None
    knowledge_dir: str | None = None
    knowledge_domains: tuple[str, ...] = ()
    skills_dir: str | None = None


class Turn(_Part):
    role: Literal["user", "assistant"]
    text: str


class Asked(_Part):
    """A question, or an alert: a Slack event, a webhook's payload, or the alerts of a run that was recorded by us, whose
    `text` is their summary. `mode` is that run's; AUTO_DISCOVERY needs no alert."""

    kind: Literal["question", "alert"]
    text: str = ""
    history: tuple[Turn, ...] = ()
    event: dict[str, Any] | None = None
    payload: dict[str, Any] | None = None
    alerts: tuple[Alert, ...] = ()
    mode: AiopsMode = "PAYLOAD_TARGETED"

    @property
    def is_recorded_alert(self) -> bool:
        return self.kind == "alert" and (bool(self.alerts) or self.mode == "AUTO_DISCOVERY")


class Expect(_Part):
    """`must_mention` counts in the final answer alone (any of each list), `must_quote` in verified bindings alone."""

    verdict_in: tuple[Literal["PASS", "LOW_CONFID", "REJECT"], ...] = ()
    must_mention: tuple[tuple[str, ...], ...] = ()
    must_quote: tuple[str, ...] = ()
    must_not_mention: tuple[str, ...] = ()
    root_cause_service: str | None = None
    tools_called: tuple[str, ...] = ()
    max_tool_calls: int | None = None


class ScenarioFile(BaseModel):
    """scenario.json. Other keys at the top (tags, answer, meta) are for readers and are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    source: str = ""
    licence: str = ""
    language: str | None = None
    now: AwareDatetime | None = None
    input: Asked
    world: World = World()
    expect: Expect = Expect()


@dataclass(frozen=True)
class Scenario:
    folder: Path
    file: ScenarioFile

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def now(self) -> datetime | None:
        return self.file.now

    def path(self, name: str | None) -> Path | None:
        """A file of the world; it must lie inside the scenario's folder."""
        if name is None:
            return None
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise ConfigError(f"{self.name}: {name} lies outside the scenario's folder. Copy it into {self.folder}.")
        if not path.exists():
            raise ConfigError(f"{self.name}: {name} is missing in {self.folder}.")
        return path

    def output_of(self, call: RecordedCall) -> str:
        path = self.path(call.output_file)
        if path is None:
            return call.output or ""
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.name}: {call.output_file} cannot be read: {error}") from error


@dataclass(frozen=True)
class BrokenScenario:
    name: str
    reason: str


def read_scenario(folder: Path) -> Scenario:
    """Reads and checks one folder, its recorded outputs included. Raises ConfigError with the place of the fault."""
    path = folder / SCENARIO_FILE
    try:
        file = ScenarioFile.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"{folder.name}: {SCENARIO_FILE} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise ConfigError(f"{folder.name}: {_first(error)}") from error
    except ValueError as error:
        raise ConfigError(f"{folder.name}: {SCENARIO_FILE} is not JSON: {error}") from error
    scenario = Scenario(folder, file)
    _check_files(scenario)
    return scenario


def read_scenarios(directory: Path) -> tuple[list[Scenario], list[BrokenScenario]]:
    """The folder itself if it holds a scenario, else each folder in it that does. A broken one never hides another."""
    if not directory.is_dir():
        raise ConfigError(f"{directory} is no folder. Name a scenario's folder, or a folder of such folders.")
    folders = [directory] if (directory / SCENARIO_FILE).is_file() else _subfolders(directory)
    if not folders:
        raise ConfigError(f"{directory} holds no scenario: no {SCENARIO_FILE} in it, nor in a folder in it.")
    scenarios: list[Scenario] = []
    broken: list[BrokenScenario] = []
    for folder in folders:
        try:
            scenarios.append(read_scenario(folder))
        except ConfigError as error:
            broken.append(BrokenScenario(folder.name, str(error)))
    return scenarios, broken


def _subfolders(directory: Path) -> list[Path]:
    return [folder for folder in sorted(directory.iterdir()) if (folder / SCENARIO_FILE).exists()]


def _check_files(scenario: Scenario) -> None:
    world = scenario.file.world
    named = (world.metrics_file, world.logs_file, world.logs_dir, world.orders_file, world.changes_file)
    for name in (*named, world.knowledge_dir, world.skills_dir):
        scenario.path(name)
    for tool in world.tools:
        for call in tool.calls:
            scenario.path(call.output_file)


def _first(error: ValidationError) -> str:
    item = error.errors(include_input=False)[0]
    return f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
