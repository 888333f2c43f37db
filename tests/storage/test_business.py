"""Business rows can be read and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from storage.business import BusinessStore
from storage.errors import BadDatabaseUrl, QueryRefused, QueryTimedOut, StorageError, StorageUnavailable

ROWS = [(n, f"order {n} 😀", n / 4) for n in range(1, 41)]
ENDLESS = """SELECT SUM(a.price * b.price * c.price * d.price * e.price * f.price) AS total
FROM orders a, orders b, orders c, orders d, orders e, orders f"""


@pytest.fixture(params=["sqlite", "mariadb"])
def orders_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    sqlite = f"sqlite:///{tmp_path}/orders.db"
    url = sqlite if request.param == "sqlite" else request.getfixturevalue("bare_mariadb_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        charset = "" if request.param == "sqlite" else "CHARSET utf8mb4"
        columns = "id INTEGER PRIMARY KEY, note VARCHAR(50), price DECIMAL(9, 2)"
        connection.execute(text(f"CREATE TABLE orders ({columns}) {charset}"))
        values = [{"id": n, "note": note, "price": price} for n, note, price in ROWS]
        connection.execute(text("INSERT INTO orders VALUES (:id, :note, :price)"), values)
    engine.dispose()
    return url


@pytest.fixture
def orders(orders_url: str) -> Iterator[BusinessStore]:
    store = BusinessStore(orders_url)
    yield store
    store.close()


def ask(store: BusinessStore, sql: str, max_rows: int = 100, seconds: float = 5, **params: object) -> list[dict]:
    return store.query(sql, params, max_rows=max_rows, timeout_seconds=seconds)


def test_a_bound_parameter_finds_its_row(orders: BusinessStore) -> None:
    assert ask(orders, "SELECT id, note FROM orders WHERE id = :id;", id=7) == [{"id": 7, "note": "order 7 😀"}]


def test_a_parameter_is_a_value_and_never_sql(orders: BusinessStore) -> None:
    assert ask(orders, "SELECT id FROM orders WHERE note = :note", note="x' OR '1'='1") == []


def test_no_more_rows_than_asked_for(orders: BusinessStore) -> None:
    assert len(ask(orders, "SELECT id FROM orders", max_rows=3)) == 3
    assert len(ask(orders, "SELECT id FROM orders LIMIT 30", max_rows=3)) == 3
    assert len(ask(orders, "SELECT id FROM orders")) == len(ROWS)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "SELECT 1; DELETE FROM orders",
        "-- SELECT\nDROP TABLE orders",
        "SELECT 1 /*!, 2 */",
        "SELECT id FROM orders FOR UPDATE",
        "SELECT id INTO OUTFILE 'stolen' FROM orders",
        "",
    ],
)
def test_anything_but_one_read_is_refused_by_name(orders: BusinessStore, sql: str) -> None:
    with pytest.raises(QueryRefused, match="The query"):
        ask(orders, sql)


def test_semicolons_and_words_inside_quotes_are_no_statements(orders: BusinessStore) -> None:
    assert ask(orders, "SELECT 'a; DROP INTO x' AS said -- ; really") == [{"said": "a; DROP INTO x"}]


def test_the_database_itself_refuses_a_write_that_looks_like_a_read(orders: BusinessStore) -> None:
    with pytest.raises(StorageError):
        ask(orders, "WITH gone AS (SELECT 1) DELETE FROM orders")
    with pytest.raises(DBAPIError), orders._engine.begin() as connection:
        connection.execute(text("DELETE FROM orders"))
    assert len(ask(orders, "SELECT id FROM orders")) == len(ROWS)


def test_a_query_that_runs_too_long_is_stopped_and_the_next_one_works(orders: BusinessStore) -> None:
    with pytest.raises(QueryTimedOut, match=r"longer than 0.2 s"):
        ask(orders, ENDLESS, seconds=0.2)
    assert ask(orders, "SELECT COUNT(*) AS n FROM orders") == [{"n": len(ROWS)}]


def test_a_missing_parameter_is_named(orders: BusinessStore) -> None:
    with pytest.raises(QueryRefused, match="id"):
        ask(orders, "SELECT note FROM orders WHERE id = :id")


def test_a_time_inside_a_string_is_no_parameter(orders: BusinessStore) -> None:
    assert ask(orders, "SELECT '2026-11-30 10:30:00' AS at") == [{"at": "2026-11-30 10:30:00"}]


def test_a_file_that_is_not_there_is_not_created(tmp_path: Path) -> None:
    store = BusinessStore(f"sqlite:///{tmp_path}/none.db")
    with pytest.raises(StorageUnavailable, match="create"):
        store.check()
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_of_database_says_which_are_known() -> None:
    with pytest.raises(BadDatabaseUrl, match=r"mysql\+pymysql"):
        BusinessStore("oracle://u:p@h/x")
