"""Columns that mean the same on SQLite, MySQL and MariaDB, and the MetaData that all tables share."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Double, Integer, MetaData, Table, Text
from sqlalchemy.dialects.mysql import DATETIME, LONGTEXT
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import SchemaItem
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def table(name: str, *items: SchemaItem) -> Table:
    """A table whose text compares byte by byte on every engine, as it does on SQLite."""
    return Table(
        name, metadata, *items, mysql_charset="utf8mb4", mysql_collate="utf8mb4_bin", mysql_engine="InnoDB"
    )


# SQLite counts up only a column that is spelt INTEGER.
BigKey = BigInteger().with_variant(Integer(), "sqlite")
# Float would be 4 bytes on MySQL: a cost or an epoch loses its digits.
Real = Double
# None is SQL NULL, never the JSON word.
Json = JSON(none_as_null=True)


class LongText(TypeDecorator[str]):
    """Text of any length. A lone surrogate (broken UTF-16 from a log or a model) is stored as U+FFFD: no database
    and no JSON reader takes it."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(LONGTEXT() if _is_mysql(dialect) else Text())

    def process_bind_param(self, value: str | None, _: Dialect) -> str | None:
        return None if value is None else encodable(value)


class ExactJson(TypeDecorator[Any]):
    """JSON kept as it was written, key order and all: MySQL's own JSON type sorts keys, and a replay compares text."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(LONGTEXT() if _is_mysql(dialect) else Text())

    def process_bind_param(self, value: Any, _: Dialect) -> str | None:
        return None if value is None else _exact(value)

    def process_result_value(self, value: str | None, _: Dialect) -> Any:
        return None if value is None else json.loads(value)


class UtcDateTime(TypeDecorator[datetime]):
    """An instant with microseconds. Takes zone-aware values only, gives them back in UTC."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(DATETIME(fsp=6) if _is_mysql(dialect) else DateTime())

    def process_bind_param(self, value: datetime | None, _: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone: an instant is stored in UTC")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, _: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class InSeconds(FunctionElement[datetime]):
    """The database's clock plus so many seconds (a number, a parameter or a column)."""

    type = UtcDateTime()
    inherit_cache = True


class JsonWithKey(FunctionElement[Any]):
    """A JSON column with one value set: (column, path, the value's JSON). The value enters as JSON, not as a string
    that holds JSON; MariaDB has no CAST AS JSON, MySQL no json(), both have JSON_EXTRACT."""

    type = Json
    inherit_cache = True


def database_now() -> InSeconds:
    """The database's clock: the only one that all workers share."""
    return InSeconds(0)


def to_json(value: Any) -> str:
    """JSON that people can read in SQL; a lone surrogate becomes U+FFFD, as in LongText."""
    return encodable(json.dumps(value, ensure_ascii=False))


def encodable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _exact(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if encodable(text) == text else json.dumps(value)


def _is_mysql(dialect: Dialect) -> bool:
    return dialect.name in ("mysql", "mariadb")


@compiles(InSeconds, "sqlite")
def _in_seconds_sqlite(element: InSeconds, compiler: SQLCompiler, **kw: Any) -> str:
    seconds = compiler.process(element.clauses, **kw)
    # SQLite gives milliseconds; the zeros make the text sort with the six digits that SQLAlchemy writes.
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', {seconds} || ' seconds') || '000')"


@compiles(InSeconds, "mysql")
@compiles(InSeconds, "mariadb")
def _in_seconds_mysql(element: InSeconds, compiler: SQLCompiler, **kw: Any) -> str:
    seconds = compiler.process(element.clauses, **kw)
    return f"TIMESTAMPADD(MICROSECOND, 1000000 * {seconds}, UTC_TIMESTAMP(6))"


@compiles(JsonWithKey)
def _json_with_key(element: JsonWithKey, compiler: SQLCompiler, **kw: Any) -> str:
    column, path, value = (compiler.process(clause, **kw) for clause in element.clauses)
    parsed = f"json({value})" if compiler.dialect.name == "sqlite" else f"JSON_EXTRACT({value}, '$')"
    return f"JSON_SET(COALESCE({column}, '{{}}'), {path}, {parsed})"
