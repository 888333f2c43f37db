"""The sample incident that ships with the project, asked about as if it were now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from bot.app import App, open_app, prepare
from bot.emulator.worlds import open_world
from bot.evaluation.scenarios import Scenario
from bot.knowledge import sync_quietly
from bot.settings import Loaded
from bot.wiring import writable_folder


@dataclass(frozen=True)
class OpenSample:
    app: App
    now: datetime


@asynccontextmanager
async def open_sample(loaded: Loaded, scenario: Scenario, now: datetime) -> AsyncIterator[OpenSample]:
    """The program in the sample's world, ready to be asked. Writes to the data folder alone: the sample's runbooks get
    a knowledge base of their own there, the runs go to the usual database."""
    folder = writable_folder(loaded.settings.data_dir / "samples" / scenario.name)
    with open_world(scenario, loaded.settings, folder, now) as world:
        here = replace(loaded, settings=world.settings)
        knowledge = f"sqlite:///{folder / 'knowledge.db'}"
        async with open_app(here, external=world.tools, knowledge_url=knowledge) as app:
            await prepare(app)
            if world.knowledge is not None:
                await sync_quietly(app, world.knowledge, lambda *_: None)
            yield OpenSample(app, world.now)
