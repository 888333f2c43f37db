"""A scenario's world at the product's own addresses: log files, Prometheus over HTTP, a database, a change file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.emulator.orders import ORDER_QUERIES, orders_database
from bot.emulator.prometheus import PrometheusServer
from bot.emulator.recorded import recorded_tools
from bot.evaluation.scenarios import Scenario
from bot.settings import Settings
from tools.contracts import ToolSpec
from tools.registry import ToolRegistry


@dataclass(frozen=True)
class OpenWorld:
    """`settings` name the world's systems and none of the operator's; `tools` are its recorded ones."""

    settings: Settings
    tools: tuple[ToolSpec, ...]
    knowledge: Path | None
    now: datetime


@contextmanager
def open_world(scenario: Scenario, settings: Settings, folder: Path, now: datetime) -> Iterator[OpenWorld]:
    """Serves the world while the block lasts. Model, limits and databases stay as in `settings`; what the world needs
    to write (orders, the knowledge base) goes to `folder`. `now` counts where the scenario states none."""
    folder.mkdir(parents=True, exist_ok=True)
    clock = scenario.now or now
    with ExitStack() as stack:
        changed = _addresses(scenario, folder, clock, stack)
        yield OpenWorld(
            settings=settings.model_copy(update=_NOTHING | changed),
            tools=tuple(recorded_tools(scenario, ToolRegistry.builtin())),
            knowledge=scenario.path(scenario.file.world.knowledge_dir),
            now=clock,
        )


_NOTHING: dict[str, Any] = {
    "logs_roots": (),
    "logs_time_zone": None,
    "prometheus_url": "",
    "prometheus_token": None,
    "prometheus_headers": {},
    "business_url": None,
    "queries": {},
    "changes_file": None,
    "knowledge_dir": None,
    "skills_dirs": (),
    "milvus_uri": "",
    "milvus_token": None,
    "embeddings": "none",
}


def _addresses(scenario: Scenario, folder: Path, now: datetime, stack: ExitStack) -> dict[str, Any]:
    world = scenario.file.world
    logs = (scenario.path(world.logs_dir), scenario.path(world.logs_file))
    changed: dict[str, Any] = {"logs_roots": tuple(path for path in logs if path is not None)}
    metrics = scenario.path(world.metrics_file)
    if metrics is not None:
        changed["prometheus_url"] = stack.enter_context(PrometheusServer.of_file(metrics, now.timestamp())).url
    orders = scenario.path(world.orders_file)
    if orders is not None:
        changed |= {"business_url": SecretStr(orders_database(orders, folder)), "queries": ORDER_QUERIES}
    changed["changes_file"] = scenario.path(world.changes_file)
    skills = scenario.path(world.skills_dir)
    changed["skills_dirs"] = (skills,) if skills else ()
    return changed
