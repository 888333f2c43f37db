"""The warm pipeline with a model that answers at once, against writing the same rows bare in the same transactions.

Run it from the repository: `python benchmarks/pipeline.py [runs]`. CPU is the whole process's, all threads, and the
sides are measured in turn, so that their ratio bears other load. Three sides write the rows of one run to a SQLite file
in one thread, one after the other:

- `bare`, which the target speaks of: SQLAlchemy Core, one `insert` or `update` of our tables for each row written, each
  in a transaction of our engine where the run has one. It begins with the values of the row and so makes their JSON;
  it reads nothing, proves no lease, changes no thread. A check says that the rows in the file are the run's.
- `store`, the store's own methods, with their fences: what the run itself pays for its rows.
- `driver`, plain sqlite3 with parameters that are ready, and only the statements that write: the floor.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from small_incident import CAUSE, CHANGE, GOOD_VOTES, composed, draft, looks, plan, request, world  # noqa: E402
from sqlalchemy import bindparam, event, insert, select, update  # noqa: E402
from sqlalchemy.engine import Engine  # noqa: E402
from sqlalchemy.sql.dml import UpdateBase  # noqa: E402

from agents.ledger import RunLimits  # noqa: E402
from agents.llm.base import ModelReply, ModelRequest  # noqa: E402
from agents.llm.scripted import Scripted, Turn  # noqa: E402
from bot.jobs import Workplace, ask  # noqa: E402
from storage.engine import Database, upgrade  # noqa: E402
from storage.models import agent_step, diagnosis_run, tool_invocation  # noqa: E402
from storage.sessions import SessionStore  # noqa: E402
from storage.trace import TraceStore  # noqa: E402
from storage.trace_sql import run_values  # noqa: E402

Statement = tuple[str, Any]
WRITES = ("INSERT", "UPDATE", "DELETE")
READS = ("_stored", "get", "cancel_requested", "run", "steps", "invocations")
TABLES = (tool_invocation, agent_step, diagnosis_run)  # children first
THE_RUN = update(diagnosis_run).where(diagnosis_run.c.run_id == bindparam("the_run"))
THE_CALL = update(tool_invocation).where(tool_invocation.c.id == bindparam("the_id"))
ENDED = {"next_node": None, "lease_owner": None, "lease_until": None}


def turns(calls: int) -> list[Turn]:
    """A run with `calls` tool calls: the three that find something, then one a turn that finds nothing."""
    first = looks(
        ("query_logs", "order-service"), ("query_metrics", "order-service"), ("query_changes", "order-service")
    )
    more = [looks(("query_logs", f"quiet-{number}")) for number in range(calls - 3)]
    return [plan(), first, *more, draft(CAUSE, CHANGE), GOOD_VOTES, composed()]


class Endless(Scripted):
    """The same transcript for every run."""

    def __init__(self, script: list[Turn]) -> None:
        super().__init__(script)
        self._script, self._at = script, 0

    async def complete(self, asked: ModelRequest) -> ModelReply:
        turn = self._script[self._at % len(self._script)]
        self._at += 1
        self.asked.clear()
        self._turns, self._next = {turn.role: [turn]}, {}
        return await super().complete(asked)


def workplace(db: Database, calls: int) -> Workplace:
    numbers = count(1)
    place = world(db, Endless(turns(calls)), limits=RunLimits()).place
    return replace(place, new_id=lambda: f"run{next(numbers):012d}")


def fresh_file(folder: Path, name: str) -> Path:
    template, file = folder / "template.db", folder / name
    if not template.exists():
        db = Database(f"sqlite:///{template}")
        upgrade(db)
        SessionStore(db).open_terminal(request().session_id, "en", "UTC")  # all runs are of one conversation
        db.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    shutil.copyfile(template, file)
    return file


# ---------------------------------------------------------------- the pipeline


def pipeline_cpu(folder: Path, runs: int, calls: int, warm_up: int = 10) -> float:
    """CPU seconds a run."""
    db = Database(f"sqlite:///{fresh_file(folder, 'pipeline.db')}")
    place = workplace(db, calls)

    async def many(times: int) -> None:
        for _ in range(times):
            outcome = await ask(request(), place)
            assert outcome.verdict == "PASS", outcome

    async def measured() -> float:
        await many(warm_up)
        gc.collect()
        started = time.process_time()
        await many(runs)
        return (time.process_time() - started) / runs

    try:
        return asyncio.run(measured())
    finally:
        db.close()


# ---------------------------------------------------------------- what one run writes


@dataclass
class Record:
    """`calls` are the store's methods in order, `statements` all that reached SQLite, `rows` what stands there in the
    end, save instants."""

    calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def writing(self) -> list[Statement]:
        """The transactions that write, without what they read."""
        kept: list[Statement] = []
        for group in _transactions(self.statements):
            writes = [one for one in group if _writes(one[0])]
            if writes:
                kept += [("BEGIN IMMEDIATE", ()), *writes, ("COMMIT", ())]
        return kept


class ListeningDatabase(Database):
    def __init__(self, url: str, record: Record) -> None:
        super().__init__(url, pool_size=1)  # one thread: the calls are noted in the order in which they write
        self._record = record

    async def call(self, fn: Any, *args: Any, **rest: Any) -> Any:
        if fn.__name__ == "_taken":  # it claims the run, and then reads
            store, run_id, place = args
            self._record.calls.append((store.claim, (run_id, place.owner, place.limits.lease_seconds)))
        elif fn.__name__ not in READS:
            self._record.calls.append((fn, args))
        return await super().call(fn, *args, **rest)


def recorded(folder: Path, calls: int) -> Record:
    record = Record()
    file = fresh_file(folder, "recorded.db")
    with _heard(record.statements):
        db = ListeningDatabase(f"sqlite:///{file}", record)
        asyncio.run(ask(request(), workplace(db, calls)))
    record.rows = _rows(db)
    db.close()
    return record


def _rows(db: Database) -> dict[str, list[dict[str, Any]]]:
    with db.read() as connection:
        return {
            table.name: [
                {name: value for name, value in row.items() if not name.endswith("_at")}
                for row in connection.execute(select(table).order_by(table.c.id)).mappings()
            ]
            for table in TABLES
        }


@contextmanager
def _heard(heard: list[Statement]) -> Iterator[None]:
    """Every connection that SQLAlchemy opens notes its statements."""

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, parameters: Any = ()) -> Any:
            heard.append((sql, parameters))
            return super().execute(sql, parameters)

    class Connection(sqlite3.Connection):
        def cursor(self, _: Any = None) -> Any:
            return super().cursor(Cursor)

        def execute(self, sql: str, parameters: Any = ()) -> Any:
            return self.cursor().execute(sql, parameters)

    def connect(_: Any, __: Any, arguments: Any, named: Any) -> Connection:
        return sqlite3.connect(*arguments, **named, factory=Connection)

    event.listen(Engine, "do_connect", connect)
    try:
        yield
    finally:
        event.remove(Engine, "do_connect", connect)


def _transactions(statements: list[Statement]) -> list[list[Statement]]:
    groups: list[list[Statement]] = [[]]
    for statement in statements:
        if statement[0].startswith("BEGIN"):
            groups.append([])
        groups[-1].append(statement)
    return groups


def _writes(sql: str) -> bool:
    return sql.lstrip().upper().startswith(WRITES)


# ---------------------------------------------------------------- bare


def store_cpu(folder: Path, record: Record, runs: int) -> float:
    """CPU seconds a run of the store's own methods, one after the other in one thread."""
    file = fresh_file(folder, "store.db")
    db = Database(f"sqlite:///{file}")
    store = TraceStore(db)

    def once() -> None:
        for fn, args in record.calls:
            if hasattr(fn, "__self__"):
                getattr(store, fn.__name__)(*args)
            else:
                fn(*(db if isinstance(arg, Database) else store if isinstance(arg, TraceStore) else arg for arg in args))

    try:
        return _timed(once, file, runs)
    finally:
        db.close()


def _timed(once: Callable[[], None], file: Path, runs: int, warm_up: int = 5) -> float:
    """Mean CPU seconds of `once`; the rows of the run before are deleted in between, so that ids repeat."""
    spent = []
    for number in range(warm_up + runs):
        with sqlite3.connect(file) as cleaner:
            for table in TABLES:
                cleaner.execute(f"DELETE FROM {table.name}")
        cleaner.close()
        started = time.process_time()
        once()
        if number >= warm_up:
            spent.append(time.process_time() - started)
    return sum(spent) / len(spent)


def bare_cpu(folder: Path, record: Record, runs: int) -> float:
    """CPU seconds a run of one SQLAlchemy Core statement for each row written, and a transaction where the store has
    one. Checks that the rows are those of the pipeline."""
    file = fresh_file(folder, "bare.db")
    db = Database(f"sqlite:///{file}")
    steps = count(1)
    transactions = [write for fn, args in record.calls for write in _bare(fn.__name__, args, steps)]

    def once() -> None:
        for statement, row in transactions:
            with db.begin() as connection:
                connection.execute(statement, row)

    try:
        spent = _timed(once, file, runs)
        assert _rows(db) == record.rows, "the bare side writes other rows"
        return spent
    finally:
        db.close()


def _bare(name: str, args: tuple[Any, ...], steps: Iterator[int]) -> list[tuple[UpdateBase, dict[str, Any]]]:
    """The rows that one call of the store writes, as values that its tables take."""
    now = datetime.now(UTC)
    if name == "_store_run":
        return [(insert(diagnosis_run), run_values(args[2]) | {"status": "QUEUED", "attempt": 0, "created_at": now})]
    if name == "claim":
        claimed = {"status": "RUNNING", "attempt": 1, "lease_owner": args[1], "lease_until": now}
        return [(THE_RUN, claimed | {"the_run": args[0], "started_at": now, "deadline_at": now})]
    if name == "_write_end":
        _, lease, evaluations, result = args
        values = {key: value.model_dump(mode="json") for key, value in evaluations.items()}
        written = [dict(list(values.items())[: count + 1]) for count in range(len(values))]
        ends = [*({"self_evaluation": value} for value in written), vars(result) | ENDED | {"finished_at": now}]
        return [(THE_RUN, end | {"the_run": lease.run_id}) for end in ends]
    lease, *rest = args
    owned = {"run_id": lease.run_id, "attempt": lease.attempt}
    if name == "checkpoint":
        state, node, _ = rest
        return [(THE_RUN, {"the_run": lease.run_id, "state": state, "next_node": node, "lease_until": now})]
    if name == "add_step":
        number = {"step_index": next(steps), "token_count": rest[0].token_count}
        return [(insert(agent_step), vars(rest[0]) | owned | number | {"created_at": now})]
    if name == "start_invocation":
        return [(insert(tool_invocation), vars(rest[0]) | owned | {"started_at": now})]
    assert name == "finish_invocation", name
    return [(THE_CALL, vars(rest[1]) | {"the_id": rest[0], "finished_at": now})]


def driver_cpu(folder: Path, statements: list[Statement], runs: int) -> float:
    """CPU seconds a run of the bare statements. Opening is not counted."""
    file = fresh_file(folder, "driver.db")
    connection = sqlite3.connect(file, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")

    def once() -> None:
        for sql, parameters in statements:
            connection.execute(sql, parameters)

    try:
        return _timed(once, file, runs)
    finally:
        connection.close()


# ---------------------------------------------------------------- report


def middle(measure: Callable[[], float], times: int = 3) -> float:
    """Milliseconds."""
    return median(measure() for _ in range(times)) * 1000


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print("CPU in ms a run; the last three columns are the pipeline's over each")
    print("calls steps statements rows transactions |  driver   store    bare pipeline | /driver  /store   /bare")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fresh_file(folder, "first.db")
        for calls in (3, 6, 12, 18):
            print(_line(folder, calls, runs))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _line(folder: Path, calls: int, runs: int) -> str:
    record = recorded(folder, calls)
    written = record.writing()
    driver = middle(lambda: driver_cpu(folder, written, runs))
    store = middle(lambda: store_cpu(folder, record, runs))
    sides = [(bare_cpu(folder, record, runs), pipeline_cpu(folder, runs, calls)) for _ in range(5)]
    ratio = median(full / plain for plain, full in sides)
    plain, full = (median(side) * 1000 for side in zip(*sides, strict=True))
    rows = sum(_writes(sql) for sql, _ in written)
    transactions = sum(sql == "COMMIT" for sql, _ in written)
    counted = f"{calls:5} {len(turns(calls)):5} {len(record.statements):10} {rows:4} {transactions:12}"
    spent = f"{driver:7.2f} {store:7.2f} {plain:7.2f} {full:8.2f}"
    return f"{counted} | {spent} | {full / driver:7.2f} {full / store:7.2f} {ratio:7.2f}"


if __name__ == "__main__":
    main()
