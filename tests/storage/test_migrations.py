"""The tables as migrations make them are the tables as the models say, on every engine."""

from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from storage.database import migration_engine
from storage.engine import Database, require_upgraded, upgrade
from storage.errors import NotUpgraded
from storage.migrate import check, downgrade
from storage.revisions import migrations_folder, newest_revision


@pytest.fixture(params=["sqlite", "mariadb"])
def bare(request: pytest.FixtureRequest, tmp_path: Path):
    """A database without tables."""
    url = f"sqlite:///{tmp_path}/bare.db" if request.param == "sqlite" else request.getfixturevalue("bare_mariadb_url")
    db = Database(url)
    yield db
    db.close()


def test_models_and_migrations_agree(bare: Database) -> None:
    upgrade(bare)
    check(bare)


def test_upgrade_downgrade_upgrade_leaves_the_same_tables(bare: Database) -> None:
    upgrade(bare)
    before = tables(bare)
    downgrade(bare, "base")
    assert tables(bare) == {"alembic_version"}
    upgrade(bare)
    assert tables(bare) == before
    check(bare)


def test_upgrading_twice_does_nothing(bare: Database) -> None:
    upgrade(bare)
    upgrade(bare)
    require_upgraded(bare)


def test_a_database_without_tables_is_not_upgraded(bare: Database) -> None:
    with pytest.raises(NotUpgraded, match="proofthread db upgrade"):
        require_upgraded(bare)


def test_a_database_of_a_newer_version_asks_for_a_newer_program(bare: Database) -> None:
    upgrade(bare)
    with bare.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(NotUpgraded, match="update the program"):
        require_upgraded(bare)


def test_asking_about_a_missing_file_does_not_create_it(tmp_path: Path) -> None:
    db = Database(f"sqlite:///{tmp_path}/none.db")
    with pytest.raises(NotUpgraded):
        require_upgraded(db)
    db.close()
    assert list(tmp_path.iterdir()) == []


def test_file_names_and_revisions_agree() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [newest_revision(migrations_folder())]


def test_the_seeds_name_of_a_run_is_readable(bare: Database) -> None:
    upgrade(bare)
    with bare.read() as connection:
        columns = connection.execute(text("SELECT * FROM diagnosis_session")).keys()
    assert {"session_id", "query", "status", "agent_flow", "answer", "self_evaluation", "feedback"} <= set(columns)


def tables(db: Database) -> set[str]:
    engine = migration_engine(db)
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()
