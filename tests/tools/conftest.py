"""A door on a real store, for tests of tools."""

from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tool_door import NOW, DoorOfRun
from trace_rows import claimed, queued

from storage.engine import Database
from tools.contracts import CallContext


@pytest.fixture
def context() -> CallContext:
    return CallContext(run_id="run-1", now=NOW, zone=ZoneInfo("Europe/Berlin"))


@pytest.fixture
def run_door(sqlite_database: Database, context: CallContext) -> DoorOfRun:
    store = queued(sqlite_database)
    return DoorOfRun(sqlite_database, store, claimed(store), context)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """`write("skills/a/SKILL.md", text)` gives the path under the test's own folder."""

    def writes(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return writes
