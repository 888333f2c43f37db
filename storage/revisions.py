"""Which form the tables have, and which form this version needs. Cheap: no alembic, asked at every start."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from storage.database import Database
from storage.errors import NewerDatabase, NotUpgraded
from storage.urls import sqlite_file


def migrations_folder() -> Path:
    """In a wheel they lie in bot's data, in a working tree beside the packages."""
    root = Path(__file__).resolve().parent.parent
    packaged = root / "bot" / "_data" / "migrations"
    return packaged if packaged.is_dir() else root / "migrations"


def newest_revision(migrations: Path) -> str:
    """Version files are named REVISION_words.py with revisions that count up."""
    return max(path.name.split("_")[0] for path in (migrations / "versions").glob("[0-9]*.py"))


def require_upgraded(db: Database) -> None:
    """Raise NotUpgraded unless the tables have this version's form. Creates nothing. One short query."""
    needed, found = newest_revision(migrations_folder()), _revision(db)
    if found == needed:
        return
    if found is not None and found > needed:
        raise NewerDatabase(
            f"{db.shown_url} was made by a newer Proofthread (revision {found}, this one knows {needed}): "
            "update the program."
        )
    raise NotUpgraded(f"{db.shown_url} is not upgraded: run `proofthread db upgrade`.")


def _revision(db: Database) -> str | None:
    file = sqlite_file(db.url)
    # Opening a missing file would create it; an address with its own mode (`?mode=ro`) fails by itself.
    if file is not None and not db.url.query and not Path(file).exists():
        return None
    try:
        with db.read() as connection:
            return connection.execute(text("SELECT MAX(version_num) FROM alembic_version")).scalar()
    except NotUpgraded:
        return None
