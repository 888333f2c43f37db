"""The one door to the SQL database: SQLite by file, MySQL and MariaDB by PyMySQL."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool, PoolProxiedConnection

from storage.errors import StorageError
from storage.failures import is_worth_repeating, storage_error, translated
from storage.prepared import Writer
from storage.types import to_json
from storage.urls import database_url, shown, sqlite_file

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C")
READ = "proofthread_read"


@dataclass(frozen=True)
class Timeouts:
    """Seconds. `read` and `write` bound a frozen server, `busy` a locked SQLite file, `pool` a wait for a connection."""

    connect: int = 3
    read: int = 30
    write: int = 30
    busy: float = 5.0
    pool: float = 30.0


class Database:
    """A database and the threads that talk to it. Nothing is opened before the first use.

    Raises BadDatabaseUrl for an address that cannot work; all else fails at use, as a StorageError.
    """

    def __init__(self, url: str, *, pool_size: int = 8, timeouts: Timeouts = Timeouts()) -> None:
        self.url = database_url(url)
        self.timeouts = timeouts
        # Last in, first out: the connection that was used last has its pages and statements at hand.
        self._engine = _engine(
            self.url,
            timeouts,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=timeouts.pool,
            pool_use_lifo=True,
        )
        self._reader = self._engine.execution_options(**{READ: True})
        self._threads = ThreadPoolExecutor(pool_size, thread_name_prefix="storage")

    @property
    def shown_url(self) -> str:
        """The address without its password."""
        return shown(self.url)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction that may write: committed at the end, rolled back by any exception."""
        with translated(self.url), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads: on SQLite it waits for no writer."""
        with translated(self.url), self._reader.begin() as connection:
            yield connection

    def transact(
        self, work: Callable[[Connection], T], *, attempts: int = 4, pause: Callable[[float], None] = time.sleep
    ) -> T:
        """Run `work` in a transaction; a deadlock or a busy file repeats the whole of it, so it must not keep state."""
        return _repeated(self.begin, work, attempts, pause)

    def write(
        self, work: Callable[[Writer], T], *, attempts: int = 4, pause: Callable[[float], None] = time.sleep
    ) -> T:
        """`transact` for prepared statements on the driver's cursor: the short way for frequent writes."""
        return _repeated(self._writer, work, attempts, pause)

    @contextmanager
    def _writer(self) -> Iterator[Writer]:
        driver_error = self._engine.dialect.loaded_dbapi.Error
        pooled: PoolProxiedConnection | None = None
        try:
            pooled = self._engine.raw_connection()
            cursor = pooled.cursor()
            if self._engine.dialect.name == "sqlite":
                cursor.execute("BEGIN IMMEDIATE")
            yield Writer(cursor, self._engine.dialect)
            pooled.commit()
        except SQLAlchemyError as error:
            raise storage_error(self.url, error) from error
        except driver_error as error:
            if pooled is not None and self._engine.dialect.is_disconnect(error, None, None):
                pooled.invalidate(error)
            raise storage_error(self.url, error) from error
        finally:
            if pooled is not None:
                pooled.close()  # rolls back what was not committed

    async def call(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run blocking `fn` in the database's own threads: there are as many as connections, so none waits for one."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        work = self._threads.submit(fn, *args, **kwargs)
        work.add_done_callback(partial(_deliver, loop, answer))
        try:
            return await answer
        finally:
            work.cancel()  # where it has not begun and nobody waits any more

    async def call_to_end(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`call` that whoever is cancelled meanwhile still waits for: what they do next, as they end, must come after it."""
        work = asyncio.ensure_future(self.call(fn, *args, **kwargs))
        cancelled: asyncio.CancelledError | None = None
        while not work.done():
            try:
                await asyncio.wait({work})
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is None:
            return work.result()
        raise cancelled from (None if work.cancelled() else work.exception())

    def close(self) -> None:
        """Finish what runs, then close every connection."""
        self._threads.shutdown(wait=True)
        self._engine.dispose()


def _deliver(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], work: Future[T]) -> None:
    """In the thread. What `run_in_executor` does costs more than the short statement it is for."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(_settle, answer, work)


def _settle(answer: asyncio.Future[T], work: Future[T]) -> None:
    if answer.done():  # whoever waited for it was cancelled
        return
    error = work.exception()
    if error is None:
        answer.set_result(work.result())
    else:
        answer.set_exception(error)


def migration_engine(db: Database) -> Engine:
    """For changes of tables: no time-out for a long ALTER, and no foreign keys while SQLite rebuilds a table."""
    patient = Timeouts(read=3600, write=3600, busy=60)
    return _engine(db.url, patient, foreign_keys=False, poolclass=NullPool)


def _repeated(
    transaction: Callable[[], AbstractContextManager[C]],
    work: Callable[[C], T],
    attempts: int,
    pause: Callable[[float], None],
) -> T:
    for attempt in range(1, attempts):
        try:
            with transaction() as context:
                return work(context)
        except StorageError as error:
            if not is_worth_repeating(error):
                raise
            pause(0.01 * 2**attempt)
    with transaction() as context:
        return work(context)


def _engine(url: URL, timeouts: Timeouts, *, foreign_keys: bool = True, **pool: Any) -> Engine:
    if sqlite_file(url) is not None:
        engine = create_engine(url, json_serializer=to_json, hide_parameters=True, **pool)
        _prepare_sqlite(engine, timeouts.busy, foreign_keys)
        return engine
    return create_engine(
        url,
        json_serializer=to_json,
        hide_parameters=True,
        # A poller must see what others committed: REPEATABLE READ would show it the past.
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": timeouts.connect,
            "read_timeout": timeouts.read,
            "write_timeout": timeouts.write,
            "init_command": "SET time_zone='+00:00', sql_mode=CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')",
        },
        **pool,
    )


def _prepare_sqlite(engine: Engine, busy_seconds: float, foreign_keys: bool) -> None:
    @event.listens_for(engine, "connect")
    def set_pragmas(connection: Any, _: object) -> None:
        # The driver's own transaction control would start a write with a deferred BEGIN, which cannot wait its turn.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {int(busy_seconds * 1000)}")
        _turn_on_wal(connection, busy_seconds)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get(READ, False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _turn_on_wal(connection: Any, busy_seconds: float) -> None:
    """A file that is WAL already stays so at once. To change a new one SQLite needs it alone, and fails instead of
    waiting as it does elsewhere: two programs that open it at the same time have to wait here."""
    end = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def answers(db: Database) -> None:
    """Raise StorageUnavailable unless the database answers."""
    with db.read() as connection:
        connection.execute(text("SELECT 1"))

