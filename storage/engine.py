"""The storage layer's front door: a database, and the form of its tables."""

from __future__ import annotations

from pathlib import Path

from storage.database import Database, Timeouts, answers
from storage.revisions import require_upgraded

__all__ = ["Database", "Timeouts", "answers", "require_upgraded", "upgrade"]


def upgrade(db: Database, migrations: Path | None = None) -> None:
    """Bring the tables to this version's form; does nothing where they are. Safe from several processes at once."""
    from storage.migrate import upgrade as run  # alembic is slow to import and needed here alone

    run(db, migrations)
