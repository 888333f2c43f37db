"""What a database can refuse. Every message says what to do; none holds a password or a statement's values."""

from __future__ import annotations


class StorageError(Exception):
    """Base of all storage errors: nothing of SQLAlchemy or a driver leaves this package."""


class BadDatabaseUrl(StorageError):
    """The operator wrote an address that cannot be used."""


class StorageUnavailable(StorageError):
    """The server or file is away, frozen, full, locked or read-only. Nothing of the transaction was kept."""


class NotUpgraded(StorageError):
    """The tables are missing or of another version."""


class NewerDatabase(NotUpgraded):
    """A newer program made the tables: the program must be updated, not the database."""


class StorageConflict(StorageError):
    """The row exists already, or belongs to something that does not exist."""


class RunNotFound(StorageError):
    """No run has this id."""


class CaseNotFound(StorageError):
    """No case has this id, and no run of this id has a case."""


class LeaseLost(StorageError):
    """Another process owns the run, or it has ended: stop working on it, nothing was written."""


class QueryRefused(StorageError):
    """A business query that is not one read-only statement, or that lacks a parameter."""


class QueryTimedOut(StorageError):
    """A business query ran longer than it may."""
