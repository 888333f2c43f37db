"""Turns what SQLAlchemy and the drivers raise into our own errors, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from storage.errors import NotUpgraded, StorageConflict, StorageError, StorageUnavailable
from storage.urls import shown, sqlite_file

DEADLOCK, LOCK_WAIT = 1213, 1205
NO_TABLE, NO_COLUMN = 1146, 1054
NO_DATABASE, ACCESS_DENIED, NO_ACCESS_TO_DATABASE, TOO_LARGE = 1049, 1045, 1044, 1153
SQLITE_ADVICE = {
    "unable to open database file": "create its folder and make it writable, or set another database address",
    "readonly database": "the file is read-only: make the file and its folder writable",
    "database is locked": "another process holds it: close it, or wait and try again",
    "file is not a database": "the file is something else: move it away or set another database address",
    "disk is full": "free space on the disk",
    "disk I/O error": "check the disk and the folder's permissions",
}
SERVER_ADVICE = {
    NO_DATABASE: "create the database, then run `proofthread db upgrade`",
    ACCESS_DENIED: "check user and password in the database address",
    NO_ACCESS_TO_DATABASE: "grant this user the database",
    TOO_LARGE: "raise the server's max_allowed_packet",
    DEADLOCK: "other transactions were in the way: try again",
    LOCK_WAIT: "other transactions were in the way: try again",
}


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Let nothing of SQLAlchemy pass."""
    try:
        yield
    except SQLAlchemyError as error:
        raise storage_error(url, error) from error


def storage_error(url: URL, error: Exception) -> StorageError:
    """Ours for an error of SQLAlchemy or of the driver itself."""
    if isinstance(error, PoolTimeout):
        return StorageUnavailable(f"{shown(url)}: every connection is busy; try again or raise the pool size.")
    if isinstance(error, SQLAlchemyError) and not isinstance(error, DBAPIError):
        return StorageError(f"{shown(url)}: {error}")
    return _of_driver(url, _driver_error(error))


def is_worth_repeating(error: StorageError) -> bool:
    """A deadlock or a busy file: the same transaction may pass at the next try."""
    cause = _driver_error(error.__cause__)
    return driver_code(cause) in (DEADLOCK, LOCK_WAIT) or "database is locked" in str(cause)


def driver_code(error: BaseException | None) -> int | None:
    """MySQL's number of an error, as SQLAlchemy or the driver raised it."""
    arguments = getattr(_driver_error(error), "args", ())
    return arguments[0] if arguments and isinstance(arguments[0], int) else None


def _driver_error(error: BaseException | None) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _of_driver(url: URL, error: BaseException | None) -> StorageError:
    said = str(error)
    # Both drivers name their classes as DB-API says; importing the unused one for isinstance would cost its import.
    if type(error).__name__ == "IntegrityError":
        return StorageConflict(f"{shown(url)}: {said}")
    if driver_code(error) in (NO_TABLE, NO_COLUMN) or said.startswith(("no such table", "no such column")):
        return NotUpgraded(f"{shown(url)} lacks a table or column of this version: run `proofthread db upgrade`.")
    advice = _sqlite_advice(said) if sqlite_file(url) is not None else _server_advice(driver_code(error))
    if advice is None:
        return StorageError(f"{shown(url)}: {said}")
    return StorageUnavailable(f"{shown(url)}: {said}; {advice}.")


def _sqlite_advice(said: str) -> str | None:
    return next((advice for sign, advice in SQLITE_ADVICE.items() if sign in said), None)


def _server_advice(code: int | None) -> str | None:
    # PyMySQL reports its own losses of the connection as 2xxx; InterfaceError(0, '') is a closed socket.
    if code is None or code == 0 or 2000 <= code < 3000:
        return "check that the server runs and that the address is right, then try again"
    return SERVER_ADVICE.get(code)
