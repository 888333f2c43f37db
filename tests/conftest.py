"""Databases for every test that wants one. A test that takes `database` runs on SQLite and on MariaDB."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from binaries import find_binary, missing
from binaries import require_binary as find_or_skip
from private_mariadb import MariaDB, new_schema
from sqlalchemy import create_engine, text

from storage.engine import Database, upgrade


@pytest.fixture(scope="session")
def require_binary() -> Callable[..., str]:
    """`require_binary("prometheus")` gives its path, or skips (fails where PROOFTHREAD_REQUIRE_SERVERS=1)."""
    return find_or_skip


@pytest.fixture
def database(request: pytest.FixtureRequest, database_url: str) -> Iterator[Database]:
    """An upgraded, empty database of its own."""
    db = Database(database_url)
    yield db
    db.close()


@pytest.fixture(params=["sqlite", "mariadb"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The address of an upgraded, empty database that any process of the test may open."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def sqlite_database(sqlite_url: str) -> Iterator[Database]:
    db = Database(sqlite_url)
    yield db
    db.close()


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    file = tmp_path / "proofthread.db"
    shutil.copyfile(sqlite_template, file)
    return f"sqlite:///{file}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("template") / "proofthread.db"
    db = Database(f"sqlite:///{file}")
    upgrade(db)
    db.close()
    return file


@pytest.fixture
def mariadb_url(mariadb_schema: str) -> str:
    """One schema a worker, emptied before each test: quicker than a new one."""
    engine = create_engine(mariadb_schema)
    with engine.begin() as connection:
        connection.execute(text("SET FOREIGN_KEY_CHECKS = 0"))
        for table in connection.execute(text("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")).scalars().all():
            if table != "alembic_version":
                connection.execute(text(f"DELETE FROM `{table}`"))
    engine.dispose()
    return mariadb_schema


@pytest.fixture(scope="session")
def mariadb_schema(mariadb_server: str, worker_id: str) -> str:
    address = new_schema(mariadb_server, worker_id)
    db = Database(address)
    upgrade(db)
    db.close()
    return address


@pytest.fixture
def bare_mariadb_url(mariadb_server: str, worker_id: str) -> str:
    """A schema without tables."""
    return new_schema(mariadb_server, f"{worker_id}_bare")


@pytest.fixture(scope="session")
def mariadb_server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> str:
    """The address of a server where we may create schemas: PROOFTHREAD_TEST_MYSQL_URL, or one private server that all
    workers share and that ends with the test run."""
    given = os.environ.get("PROOFTHREAD_TEST_MYSQL_URL")
    if given:
        return given
    binary = find_binary("mariadbd")
    if binary is None:
        missing("MariaDB is not installed: apt-get install mariadb-server, or set PROOFTHREAD_TEST_MYSQL_URL")
    base = tmp_path_factory.getbasetemp()
    # Workers are children of the process that started them all, and their folders lie in its folder.
    shared, owner = (base, os.getpid()) if worker_id == "master" else (base.parent, os.getppid())
    with (shared / "mariadb.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "mariadb"
        server = MariaDB(folder) if folder.exists() else MariaDB.start(folder, binary, owner)
        return server.url("proofthread")
