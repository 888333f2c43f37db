"""A terminal conversation is opened once and remembers how to speak."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from trace_rows import queued

from storage.engine import Database
from storage.sessions import SessionStore


def test_a_terminal_session_comes_back(database: Database) -> None:
    store = SessionStore(database)
    opened = store.open_terminal("terminal-1", "zh", "Asia/Shanghai")
    assert store.get("terminal-1") == opened
    assert (opened.language, opened.zone, opened.team, opened.state) == ("zh", "Asia/Shanghai", None, "OPEN")
    assert abs(opened.joined_at - datetime.now(UTC)) < timedelta(minutes=1)


def test_opening_it_again_changes_nothing(database: Database) -> None:
    store = SessionStore(database)
    opened = store.open_terminal("terminal-1", "zh", "Asia/Shanghai")
    assert store.open_terminal("terminal-1", "en", "UTC") == opened


def test_many_may_open_it_at_once(database: Database) -> None:
    store = SessionStore(database)
    with ThreadPoolExecutor(6) as threads:
        opened = threads.map(lambda _: store.open_terminal("terminal-1", "en", "UTC"), range(6))
        assert len(set(opened)) == 1


def test_an_unknown_session_is_none(database: Database) -> None:
    assert SessionStore(database).get("nobody") is None


def test_ids_that_differ_in_case_or_accent_are_different(database: Database) -> None:
    store = SessionStore(database)
    assert len({store.open_terminal(name, "en", "UTC").session_id for name in ("a", "A", "á", "ａ")}) == 4


def test_a_session_lists_its_runs_oldest_first(database: Database) -> None:
    for name in ("run-1", "run-2"):
        queued(database, name)
    assert [run.run_id for run in SessionStore(database).runs("session-1")] == ["run-1", "run-2"]
