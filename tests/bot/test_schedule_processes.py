"""Two processes on one database: each slot once, and when the leader is killed the other goes on."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from bot.schedule import LEASE
from bot.settings import inherited_environment
from storage.engine import Database
from storage.models_schedule import schedule_slot
from storage.schedule import ScheduleStore

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "support" / "schedule_process.py"
PATIENCE_SECONDS = 40.0


@contextmanager
def process(url: str, name: str) -> Iterator[subprocess.Popen[str]]:
    environment = inherited_environment() | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PROGRAM), url, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as made:
        try:
            assert made.stdout is not None
            assert made.stdout.readline() == "started\n"
            yield made
        finally:
            made.kill()


def until(what: str, holds: Callable[[], bool]) -> None:
    end, pause = time.monotonic() + PATIENCE_SECONDS, threading.Event()
    while not holds():
        assert time.monotonic() < end, f"waited {PATIENCE_SECONDS} s for {what}"
        pause.wait(0.1)


def fired_by(db: Database) -> list[str]:
    """Who fired each slot, oldest first."""
    with db.read() as connection:
        return list(connection.execute(schedule_slot.select().order_by(schedule_slot.c.slot)).scalars("fired_by"))


def test_the_other_goes_on_when_the_leader_is_killed(database: Database, database_url: str) -> None:
    store = ScheduleStore(database)
    with ExitStack() as stack:
        two = {name: stack.enter_context(process(database_url, name)) for name in ("one", "other")}
        until("three slots", lambda: len(fired_by(database)) >= 3)
        leader = store.leader(LEASE)
        assert leader is not None
        two[leader.owner].kill()
        [left] = {"one", "other"} - {leader.owner}
        until("three slots of the other", lambda: fired_by(database).count(left) >= 3)
    names = fired_by(database)
    assert names == sorted(names, key=lambda name: name == left)
    with database.read() as connection:
        slots = list(connection.execute(schedule_slot.select().order_by(schedule_slot.c.slot)).scalars("slot"))
    gaps = [after - before for before, after in zip(slots, slots[1:], strict=False)]
    assert min(gaps) >= timedelta(seconds=1)
