"""Turns what SQLAlchemy and the drivers raise into our own errors, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
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
}


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Let nothing of SQLAlchemy pass."""
    try:
        yield
    except PoolTimeout as error:
        raise StorageUnavailable(f"{shown(url)}: every connection is busy; try again or raise the pool size.") from error
    except DBAPIError as error:
        raise _ours(url, error) from error
    except SQLAlchemyError as error:
        raise StorageError(f"{shown(url)}: {error}") from error


def is_worth_repeating(error: StorageError) -> bool:
    """A deadlock or a busy file: the same transaction may pass at the next try."""
    cause = error.__cause__
    if not isinstance(cause, DBAPIError):
        return False
    return driver_code(cause) in (DEADLOCK, LOCK_WAIT) or "database is locked" in str(cause.orig)


def _ours(url: URL, error: DBAPIError) -> StorageError:
    said = str(error.orig)
    if isinstance(error, IntegrityError):
        return StorageConflict(f"{shown(url)}: {said}")
    if driver_code(error) in (NO_TABLE, NO_COLUMN) or said.startswith(("no such table", "no such column")):
        return NotUpgraded(f"{shown(url)} lacks a table or column of this version: run `proofthread db upgrade`.")
    advice = _sqlite_advice(said) if sqlite_file(url) is not None else _server_advice(error)
    if advice is None:
        return StorageError(f"{shown(url)}: {said}")
    return StorageUnavailable(f"{shown(url)}: {said}; {advice}.")


def _sqlite_advice(said: str) -> str | None:
    return next((advice for sign, advice in SQLITE_ADVICE.items() if sign in said), None)


def _server_advice(error: DBAPIError) -> str | None:
    code = driver_code(error)
    if code in SERVER_ADVICE:
        return SERVER_ADVICE[code]
    if code in (DEADLOCK, LOCK_WAIT):
        return "other transactions were in the way: try again"
    # PyMySQL reports its own losses of the connection as 2xxx; InterfaceError(0, '') is a closed socket.
    if code is None or code == 0 or 2000 <= code < 3000 or error.connection_invalidated:
        return "check that the server runs and that the address is right, then try again"
    return None


def driver_code(error: DBAPIError) -> int | None:
    arguments = getattr(error.orig, "args", ())
    return arguments[0] if arguments and isinstance(arguments[0], int) else None
