"""Useful runs as scenarios, whole: what `proofthread replay` runs when the run itself is long gone."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import bindparam, delete, insert, select, update

from storage.database import Database
from storage.errors import StorageConflict
from storage.models_slack import frozen_scenario
from storage.types import database_now

row = frozen_scenario.c
THIS = row.run_id == bindparam("the_run")
REPLACE = update(frozen_scenario).where(THIS).values(document=bindparam("new_document"))
ADD = insert(frozen_scenario).values(created_at=database_now())


class FrozenScenarios:
    """`document` is JSON of bot/evaluation/replay.py's Recording: a scenario that names no other file, and what the run found."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def freeze(self, run_id: str, document: str) -> None:
        """Keep it in place of an earlier one of the run."""
        with suppress(StorageConflict):
            values = {"run_id": run_id, "document": document}
            self._db.transact(lambda connection: connection.execute(ADD, values))
            return
        changed = {"the_run": run_id, "new_document": document}
        self._db.transact(lambda connection: connection.execute(REPLACE, changed))

    def thaw(self, run_id: str) -> None:
        """The run is no longer held useful."""
        self._db.transact(lambda connection: connection.execute(delete(frozen_scenario).where(THIS), {"the_run": run_id}))

    def get(self, run_id: str) -> str | None:
        with self._db.read() as connection:
            return connection.execute(select(row.document).where(THIS), {"the_run": run_id}).scalar()
