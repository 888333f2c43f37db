"""A scenario's orders as a business database: a CSV becomes the table `orders` of an SQLite file."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path

from bot.errors import ConfigError
from bot.setting_types import NamedQuery, QueryParameter


def orders_database(source: Path, folder: Path) -> str:
    """An SQLAlchemy URL. `source` is a CSV with a header, an SQL script, or an SQLite file. Raises ConfigError."""
    if source.suffix in (".db", ".sqlite"):
        return f"sqlite:///{source}"
    target = folder / "orders.db"
    target.unlink(missing_ok=True)
    connection = sqlite3.connect(target)
    try:
        with connection:
            _fill(connection, source)
    except (OSError, ValueError, sqlite3.Error) as error:
        raise ConfigError(f"The orders file {source} cannot be read: {error}") from error
    finally:
        connection.close()
    return f"sqlite:///{target}"


def _fill(connection: sqlite3.Connection, source: Path) -> None:
    if source.suffix == ".sql":
        connection.executescript(source.read_text(encoding="utf-8"))
        return
    with source.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, None)
        if not header or not all(name.isidentifier() for name in header):
            raise ValueError("the first line must name the columns")
        connection.execute(f"create table orders ({', '.join(header)})")
        marks = ", ".join("?" * len(header))
        rows = ([value or None for value in row] for row in reader if row)
        connection.executemany(f"insert into orders values ({marks})", rows)


ORDER_QUERIES = {
    "order_by_id": NamedQuery(
        sql="select * from orders where order_id = :order",
        description="one order: its state, failure code and times",
        parameters={"order": QueryParameter(description="the order's id")},
    ),
    "failures_by_code": NamedQuery(
        sql="select failure_code, count(*) as orders, min(created_at) as first, max(created_at) as last from orders"
        " where status <> 'PAID' and datetime(created_at) >= :since group by failure_code order by orders desc",
        description="failed orders since a time, counted by failure code",
        parameters={"since": QueryParameter(type="time", description="from when")},
    ),
}
