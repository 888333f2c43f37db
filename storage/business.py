"""Business rows, read-only: the database itself refuses a write, whatever the statement says."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, StatementError

from storage.errors import QueryRefused, QueryTimedOut
from storage.failures import driver_code, translated
from storage.read_only import refuse_unless_one_read
from storage.urls import database_url, shown, sqlite_file

MARIADB_TIMED_OUT, MYSQL_TIMED_OUT = 1969, 3024
SOCKET_SECONDS = 30
# SQLite asks after so many of its own instructions (about a millisecond) whether to go on.
SQLITE_INSTRUCTIONS = 20_000


class BusinessStore:
    """Raises BadDatabaseUrl for an address that cannot work; opens nothing before the first query."""

    def __init__(self, url: str, *, pool_size: int = 4) -> None:
        self._url = database_url(url)
        self._engine = _engine(self._url, pool_size)

    def query(
        self, sql: str, params: Mapping[str, Any], *, max_rows: int, timeout_seconds: float
    ) -> list[dict[str, Any]]:
        """At most `max_rows` rows (ask for one more to learn whether there are more), values as JSON has them: decimals,
        dates and times as text as stored.

        Raises QueryRefused for anything but one SELECT or WITH, or a missing parameter; QueryTimedOut; StorageUnavailable.
        """
        refuse_unless_one_read(sql)
        with (
            translated(self._url),
            self._engine.connect() as connection,
            _explained(self._url, timeout_seconds),
            _bounded(connection, max_rows, timeout_seconds),
        ):
            rows = connection.execute(text(sql), dict(params)).mappings().fetchmany(max_rows)
            return [{name: _plain(value) for name, value in row.items()} for row in rows]

    def check(self) -> None:
        """Raise StorageUnavailable unless the database answers."""
        self.query("SELECT 1 AS answer", {}, max_rows=1, timeout_seconds=5)

    def close(self) -> None:
        self._engine.dispose()


def _engine(url: URL, pool_size: int) -> Engine:
    if sqlite_file(url) is not None:
        engine = create_engine(_read_only_file(url), hide_parameters=True, pool_size=pool_size, max_overflow=0)
        event.listen(engine, "connect", _only_query)
        return engine
    return create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=pool_size,
        max_overflow=0,
        isolation_level="READ COMMITTED",
        connect_args={
            "connect_timeout": 3,
            "read_timeout": SOCKET_SECONDS,
            "write_timeout": SOCKET_SECONDS,
            "init_command": "SET SESSION TRANSACTION READ ONLY",
        },
    )


def _read_only_file(url: URL) -> URL:
    path = Path(sqlite_file(url) or "").absolute()
    return URL.create("sqlite", database=path.as_uri(), query={"mode": "ro", "uri": "true"})


def _only_query(connection: Any, _: object) -> None:
    connection.execute("PRAGMA query_only = ON")


@contextmanager
def _bounded(connection: Connection, max_rows: int, seconds: float) -> Iterator[None]:
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        end = time.monotonic() + seconds
        driver.set_progress_handler(lambda: time.monotonic() > end, SQLITE_INSTRUCTIONS)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)
        return
    connection.exec_driver_sql(f"SET SESSION sql_select_limit = {int(max_rows)}, {_time_limit(connection, seconds)}")
    yield


def _time_limit(connection: Connection, seconds: float) -> str:
    if getattr(connection.dialect, "is_mariadb", False):
        return f"max_statement_time = {seconds:.3f}"
    return f"max_execution_time = {int(seconds * 1000)}"


@contextmanager
def _explained(url: URL, seconds: float) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        if str(error.orig) == "interrupted" or driver_code(error) in (MARIADB_TIMED_OUT, MYSQL_TIMED_OUT):
            raise QueryTimedOut(f"The query on {shown(url)} took longer than {seconds:g} s: narrow it.") from error
        if str(error.orig).startswith("attempt to write"):
            raise QueryRefused("The query would write; only reading is allowed.") from error
        raise
    except StatementError as error:
        raise QueryRefused(f"The query cannot be run as given: {error.orig}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, Decimal | date | timedelta):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value
