"""A server that dies or freezes costs an error that says so, never a half-written row or an endless wait."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from private_mariadb import MariaDB, new_schema
from trace_rows import STEP, claimed, queued

from storage.engine import Database, Timeouts, upgrade
from storage.errors import StorageUnavailable


@pytest.fixture
def server(tmp_path: Path, require_binary: Callable[..., str]) -> Iterator[MariaDB]:
    server = MariaDB.start(tmp_path / "server", require_binary("mariadbd", "mariadb-server"), os.getpid())
    yield server
    server.stop()


@pytest.fixture
def fragile(server: MariaDB) -> Iterator[Database]:
    db = Database(new_schema(server.url("proofthread"), "fragile"), timeouts=Timeouts(connect=1, read=1, write=1))
    upgrade(db)
    yield db
    db.close()


def test_a_server_killed_in_a_transaction_keeps_nothing_of_it(server: MariaDB, fragile: Database) -> None:
    store = queued(fragile)
    lease = claimed(store, lease_seconds=600)
    store.add_step(lease, STEP)

    def write_and_die(connection) -> None:
        connection.exec_driver_sql("UPDATE diagnosis_run SET state = 'half'")
        server.kill()
        connection.exec_driver_sql("UPDATE diagnosis_run SET next_node = 'half'")

    with pytest.raises(StorageUnavailable, match="check that the server runs"):
        fragile.transact(write_and_die)
    assert (store.run("run-1").state, store.run("run-1").next_node) == ('{"v": 1}', "PLANNER")
    assert len(store.steps("run-1")) == 1
    assert store.add_step(lease, replace(STEP, sequence=2)).step_index == 2


def test_a_frozen_server_is_given_up_after_the_read_timeout(server: MariaDB, fragile: Database) -> None:
    store = queued(fragile)
    lease = claimed(store, lease_seconds=600)
    server.freeze()
    try:
        with pytest.raises(StorageUnavailable, match="check that the server runs"):
            store.add_step(lease, STEP)
    finally:
        server.thaw()
    assert store.add_step(lease, STEP).step_index == 1
