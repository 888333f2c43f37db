"""Addresses, connections and transactions: what goes wrong says what to do."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

import pytest
from sqlalchemy import text
from trace_rows import queued

from storage.engine import Database, Timeouts, answers, require_upgraded, upgrade
from storage.errors import BadDatabaseUrl, NotUpgraded, StorageConflict, StorageError, StorageUnavailable

ROOT = Path(__file__).parents[2]
QUICK = Timeouts(connect=1, read=1, write=1, busy=0.05, pool=0.1)


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("mysql://root:hunter2@127.0.0.1/x", r"mysql\+pymysql"),
        ("mariadb+mariadbconnector://root:hunter2@127.0.0.1/x", r"mysql\+pymysql"),
        ("postgresql://u:hunter2@h/x", "sqlite:///"),
        ("hunter2", "sqlite:///"),
        ("", "sqlite:///"),
        ("mysql+pymysql://root:hunter2@127.0.0.1:port/x", "sqlite:///"),
        ("mysql+pymysql://root:hunter2@127.0.0.1", "DATABASE"),
        ("sqlite://", "memory"),
        ("sqlite:///:memory:", "memory"),
    ],
)
def test_an_address_that_cannot_work_says_what_to_write(url: str, advice: str) -> None:
    with pytest.raises(BadDatabaseUrl, match=advice) as caught:
        Database(url)
    assert "hunter2" not in str(caught.value)


def test_a_mariadb_address_is_served_by_the_same_driver() -> None:
    db = Database("mariadb+pymysql://root:hunter2@127.0.0.1/x?charset=latin1")
    assert db.shown_url == "mysql+pymysql://root:***@127.0.0.1/x?charset=utf8mb4"
    db.close()


def test_making_a_database_object_opens_nothing(tmp_path: Path) -> None:
    Database(f"sqlite:///{tmp_path}/none.db").close()
    Database("mysql+pymysql://root@127.0.0.1:1/x").close()
    assert list(tmp_path.iterdir()) == []


def refused(db: Database) -> str:
    with pytest.raises(StorageUnavailable) as caught:
        answers(db)
    db.close()
    return str(caught.value)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "create its folder" in refused(Database(f"sqlite:///{tmp_path}/missing/x.db"))


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_text("These are my notes. " * 100)
    assert "the file is something else" in refused(Database(f"sqlite:///{file}"))
    assert file.read_text().startswith("These are my notes.")


def test_a_server_that_is_away_is_told_without_its_password() -> None:
    said = refused(Database("mysql+pymysql://root:hunter2@127.0.0.1:1/x", timeouts=QUICK))
    assert "check that the server runs" in said
    assert "hunter2" not in said


def test_a_schema_that_does_not_exist_is_told(mariadb_server: str) -> None:
    assert "create the database" in refused(Database(mariadb_server.rpartition("/")[0] + "/nowhere_at_all"))


def test_a_read_only_file_can_be_read_and_says_why_it_cannot_be_written(sqlite_url: str) -> None:
    file = sqlite_url.removeprefix("sqlite:///")
    db = Database(f"sqlite:///file:{file}?mode=ro&uri=true")
    require_upgraded(db)
    with pytest.raises(StorageUnavailable, match="read-only"):
        queued(db)
    db.close()


def test_a_table_that_is_missing_means_not_upgraded(database: Database) -> None:
    with pytest.raises(NotUpgraded, match="db upgrade"), database.read() as connection:
        connection.execute(text("SELECT * FROM table_of_tomorrow"))


def test_other_mistakes_are_ours_too_and_hold_no_values(database: Database) -> None:
    with pytest.raises(StorageError) as caught, database.begin() as connection:
        connection.execute(text("SELECT no_such_function(:secret)"), {"secret": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_an_exception_rolls_everything_back(database: Database) -> None:
    def half() -> None:
        with database.begin() as connection:
            insert_domain(connection, "a")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        half()
    assert domains(database) == []


def test_foreign_keys_are_enforced(database: Database) -> None:
    with pytest.raises(StorageConflict), database.begin() as connection:
        connection.execute(
            text("INSERT INTO diagnosis_run (run_id, session_id, agent_flow, query, language, time_zone, status, state,"
                 " attempt, deadline_seconds, created_at) VALUES ('r', 'nowhere', 'CHAT', '', 'en', 'UTC', 'QUEUED',"
                 " '{}', 0, 1, '2026-01-01')")
        )  # fmt: skip


def test_text_too_long_for_its_column_is_an_error_and_never_cut(mariadb_url: str) -> None:
    db = Database(mariadb_url)
    with pytest.raises(StorageError, match="too long"), db.begin() as connection:
        insert_domain(connection, "x" * 65)
    db.close()


def test_a_busy_file_is_tried_again_and_then_told(sqlite_url: str) -> None:
    holder, waiter = Database(sqlite_url), Database(sqlite_url, timeouts=QUICK)
    pauses: list[float] = []
    with holder.begin() as connection:
        insert_domain(connection, "held")
        with pytest.raises(StorageUnavailable, match="another process holds it"):
            waiter.transact(lambda other: insert_domain(other, "late"), attempts=3, pause=pauses.append)
    assert len(pauses) == 2
    waiter.transact(lambda other: insert_domain(other, "late"))
    assert domains(holder) == ["held", "late"]
    holder.close()
    waiter.close()


def test_readers_do_not_wait_for_a_writer(sqlite_url: str) -> None:
    db = Database(sqlite_url, timeouts=QUICK)
    with db.begin() as connection:
        insert_domain(connection, "unseen")
        assert domains(db) == []
    assert domains(db) == ["unseen"]
    db.close()


def test_a_deadlock_repeats_the_whole_transaction(mariadb_url: str) -> None:
    db = Database(mariadb_url)
    with db.begin() as connection:
        insert_domain(connection, "a")
        insert_domain(connection, "b")
    both_hold_one = threading.Barrier(2, timeout=20)
    tries: list[str] = []

    def cross(first: str, second: str) -> None:
        waits = iter([True])

        def work(connection) -> None:
            tries.append(first)
            count_one(connection, first)
            if next(waits, False):
                both_hold_one.wait()
            count_one(connection, second)

        db.transact(work)

    threads = [threading.Thread(target=cross, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    with db.read() as connection:
        counts = connection.execute(text("SELECT document_count FROM knowledge_domain")).scalars().all()
    assert list(counts) == [2, 2]
    assert len(tries) == 3
    db.close()


def test_more_callers_than_connections_are_told_when_none_gets_free(sqlite_url: str) -> None:
    db = Database(sqlite_url, pool_size=1, timeouts=QUICK)
    with db.read(), pytest.raises(StorageUnavailable, match="every connection is busy"):
        answers(db)
    db.close()


async def test_blocking_work_runs_in_the_databases_own_threads(sqlite_database: Database) -> None:
    name = await sqlite_database.call(lambda word, suffix="": threading.current_thread().name + word, "!", suffix="")
    assert name.startswith("storage")
    with pytest.raises(ZeroDivisionError):
        await sqlite_database.call(lambda: 1 / 0)


def test_many_threads_may_upgrade_one_new_database_at_the_same_time(tmp_path: Path, bare_mariadb_url: str) -> None:
    addresses = [f"sqlite:///{tmp_path}/{number}.db" for number in range(8)] + [bare_mariadb_url]
    databases = [Database(address) for address in addresses for _ in range(2)]
    with ThreadPoolExecutor(len(databases)) as threads:
        list(threads.map(upgrade, databases))
    for db in databases:
        require_upgraded(db)
        db.close()


def test_two_programs_may_upgrade_at_the_same_time(tmp_path: Path, bare_mariadb_url: str) -> None:
    program = "from storage.engine import *; import sys; print(flush=True); input(); upgrade(Database(sys.argv[1]))"
    for url in (f"sqlite:///{tmp_path}/x.db", bare_mariadb_url):
        command = [sys.executable, "-c", program, url]
        programs = [subprocess.Popen(command, stdin=PIPE, stdout=PIPE, cwd=ROOT) for _ in range(3)]
        for each in programs:
            assert each.stdout is not None
            assert each.stdout.readline() == b"\n"
        for each in programs:
            assert each.stdin is not None
            each.stdin.write(b"\n")
            each.stdin.flush()
        for each in programs:
            each.communicate(timeout=60)
        assert [each.returncode for each in programs] == [0, 0, 0]
        db = Database(url)
        require_upgraded(db)
        db.close()


def test_a_new_file_that_two_open_at_once_fails_neither(tmp_path: Path) -> None:
    def opens(db: Database) -> None:
        together.wait(20)
        answers(db)

    together = threading.Barrier(4)
    for number in range(60):
        databases = [Database(f"sqlite:///{tmp_path}/{number}.db") for _ in range(4)]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(opens, databases))
        for db in databases:
            db.close()


def insert_domain(connection, domain: str) -> None:
    connection.execute(
        text("INSERT INTO knowledge_domain (domain_id, description, when_to_retrieve, document_count) "
             "VALUES (:domain, '', '', 0)"),
        {"domain": domain},
    )  # fmt: skip


def count_one(connection, domain: str) -> None:
    statement = "UPDATE knowledge_domain SET document_count = document_count + 1 WHERE domain_id = :domain"
    connection.execute(text(statement), {"domain": domain})


def domains(db: Database) -> list[str]:
    with db.read() as connection:
        return list(connection.execute(text("SELECT domain_id FROM knowledge_domain ORDER BY id")).scalars())
