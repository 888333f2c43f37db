"""Runs the Alembic migrations. Imported on demand: Alembic is slow to load."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from storage.database import Database, migration_engine
from storage.errors import StorageError, StorageUnavailable
from storage.failures import translated
from storage.revisions import migrations_folder

LOCK_SECONDS = 60
# Alembic's context belongs to the process: two threads that upgrade different databases would take each other's.
_ALEMBIC = threading.Lock()


def upgrade(db: Database, migrations: Path | None = None, revision: str = "head") -> None:
    with _changing(db, migrations) as config:
        command.upgrade(config, revision)


def downgrade(db: Database, revision: str, migrations: Path | None = None) -> None:
    """Back to `revision` ("base" drops every table). Loses what the newer form held."""
    with _changing(db, migrations) as config:
        command.downgrade(config, revision)


def check(db: Database, migrations: Path | None = None) -> None:
    """Raise alembic's CommandError where models and migrations differ."""
    with _changing(db, migrations) as config:
        command.check(config)


@contextmanager
def _changing(db: Database, migrations: Path | None) -> Iterator[Config]:
    engine = migration_engine(db)
    config = Config()
    config.set_main_option("script_location", str(migrations or migrations_folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    with translated(db.url), engine.begin() as connection, _alone(connection), _ALEMBIC:
        config.attributes["connection"] = connection
        yield config
        _check_foreign_keys(connection)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """SQLite's write transaction lets one process in; MySQL, whose DDL commits at once, needs a named lock."""
    if connection.dialect.name == "sqlite":
        yield
        return
    name = {"name": f"proofthread:{connection.engine.url.database}"[:64]}
    if connection.execute(text(f"SELECT GET_LOCK(:name, {LOCK_SECONDS})"), name).scalar() != 1:
        raise StorageUnavailable("Another process has been upgrading the database for a minute: wait for it.")
    try:
        yield
    finally:
        connection.execute(text("SELECT RELEASE_LOCK(:name)"), name)


def _check_foreign_keys(connection: Connection) -> None:
    if connection.dialect.name == "sqlite" and connection.execute(text("PRAGMA foreign_key_check")).first():
        raise StorageError("The upgrade would break links between tables; it was rolled back: restore a backup.")
