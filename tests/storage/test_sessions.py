"""A terminal conversation is opened once and remembers how to speak."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from trace_rows import queued

from storage.engine import Database
from storage.sessions import SessionStore, Thread


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


# ---------------------------------------------------------------- Slack threads

THREAD = Thread("T1", "C1", "1700000000.000100")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def minute(number: int) -> datetime:
    return NOON + timedelta(minutes=number)


def joined(database: Database) -> SessionStore:
    store = SessionStore(database)
    store.open_thread(THREAD, "zh", "Asia/Shanghai")
    return store


def heard(store: SessionStore) -> tuple[datetime | None, str | None, tuple[str, ...]]:
    session = store.of_thread(THREAD)
    assert session is not None
    return session.addressed_at, session.addressed_by, session.speakers


def test_a_thread_is_joined_once(database: Database) -> None:
    store = SessionStore(database)
    assert store.of_thread(THREAD) is None
    with ThreadPoolExecutor(6) as threads:
        opened = set(threads.map(lambda _: store.open_thread(THREAD, "zh", "Asia/Shanghai"), range(6)))
    assert opened == {store.of_thread(THREAD)}
    assert store.open_thread(THREAD, "en", "UTC").language == "zh"


def test_nobody_has_spoken_in_a_new_thread(database: Database) -> None:
    assert heard(joined(database)) == (None, None, ())


def test_who_spoke_since_the_bot_was_addressed(database: Database) -> None:
    store = joined(database)
    session_id = THREAD.session_id
    store.spoke(session_id, "U0", minute(0))
    store.addressed(session_id, "U1", minute(1))
    store.spoke(session_id, "U2", minute(2))
    store.spoke(session_id, "U1", minute(3))
    assert heard(store) == (minute(1), "U1", ("U2", "U1"))


def test_the_order_in_which_events_come_does_not_matter(database: Database) -> None:
    store = joined(database)
    session_id = THREAD.session_id
    store.spoke(session_id, "U1", minute(3))
    store.spoke(session_id, "U2", minute(2))
    store.addressed(session_id, "U1", minute(1))
    store.spoke(session_id, "U0", minute(0))
    store.addressed(session_id, "U0", minute(0))
    assert heard(store) == (minute(1), "U1", ("U2", "U1"))


def test_people_speak_at_once_and_all_are_heard(database: Database) -> None:
    store = joined(database)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: store.spoke(THREAD.session_id, f"U{number}", minute(number)), range(8)))
    assert heard(store)[2] == tuple(f"U{number}" for number in range(8))


def test_a_thread_that_was_not_joined_hears_nothing(database: Database) -> None:
    store = SessionStore(database)
    store.spoke(THREAD.session_id, "U1", NOON)
    store.addressed(THREAD.session_id, "U1", NOON)
    assert store.of_thread(THREAD) is None
