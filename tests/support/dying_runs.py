"""Runs that die at a given moment, inside their process or with it, and are taken up by another one."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_incident import world

from agents.contracts import RunOutcome
from agents.events import RunEvent
from agents.ledger import RunLimits
from agents.llm.base import ModelReply, ModelRequest
from agents.llm.scripted import Scripted, Turn
from agents.state import RunRequest
from bot.jobs import RunNotClaimed, execute, submit
from storage.engine import Database

SHORT = RunLimits(poll_seconds=0.01, lease_seconds=0)
CHILD = """
import asyncio, os, signal, sys
from small_incident import world
from agents.llm.scripted import Scripted, Turn
from agents.ledger import RunLimits
from bot.jobs import execute
from storage.engine import Database

url, run_id, kind, name = sys.argv[1:5]

def die(event):
    if (event.kind, event.name) == (kind, name):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    db = Database(url)
    turns = [Turn.model_validate_json(line) for line in sys.stdin]
    place = world(db, Scripted(turns), limits=RunLimits(poll_seconds=0.01, lease_seconds=1), owner="child").place
    await execute(run_id, place, die)

asyncio.run(main())
"""


class Killed(BaseException):
    """Stands for kill -9 inside one process: nothing may catch it."""


class DiesAt:
    """An event listener that dies at the first event of a kind and name."""

    def __init__(self, kind: str, name: str) -> None:
        self._at = (kind, name)

    def __call__(self, event: RunEvent) -> None:
        if (event.kind, event.name) == self._at:
            raise Killed


class Calls(Scripted):
    """Counts live calls a role and length, so that a repeated call shows."""

    def __init__(self, turns: list[Turn]) -> None:
        super().__init__(turns)
        self.live: Counter[tuple[str, int]] = Counter()

    async def complete(self, asked: ModelRequest) -> ModelReply:
        self.live[asked.role, len(asked.messages)] += 1
        return await super().complete(asked)


async def died_then_resumed(
    db: Database, request: RunRequest, turns: list[Turn], dies: DiesAt
) -> tuple[RunOutcome, Calls]:
    model = Calls(turns)
    first = world(db, model, limits=SHORT, owner="first").place
    run_id = await submit(request, first)
    with pytest.raises(Killed):
        await execute(run_id, first, dies)
    return await resumed(db, run_id, model), model


async def resumed(db: Database, run_id: str, model: Scripted, **changes: Any) -> RunOutcome:
    """As soon as the dead owner's lease has run out."""
    second = replace(world(db, model, owner="second").place, **changes)
    while True:
        try:
            return await execute(run_id, second)
        except RunNotClaimed:
            await asyncio.sleep(0.01)


def killed_process(database_url: str, run_id: str, turns: Sequence[Turn], kind: str, name: str) -> None:
    """A process of its own works on the run and is killed at this event."""
    root = Path(__file__).parents[2]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, database_url, run_id, kind, name],
        input="\n".join(turn.model_dump_json() for turn in turns),
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "tests" / "support"), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        timeout=60,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
