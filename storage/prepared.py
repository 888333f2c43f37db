"""Statements compiled once and run on the driver's own cursor.

SQLAlchemy's execution of a short INSERT costs several times what SQLite's does, and a run writes dozens. Here it only
writes the SQL and converts the values; the frequent writes of the trace go this way, everything else the ordinary one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from sqlalchemy import Dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.selectable import Select

Convert = Callable[[Any], Any] | None


class Cursor(Protocol):
    """What we use of a DB-API cursor."""

    @property
    def rowcount(self) -> int: ...
    @property
    def lastrowid(self) -> int: ...
    def execute(self, sql: str, parameters: Any = ..., /) -> Any: ...
    def fetchone(self) -> Any: ...


class Prepared:
    """A statement and the columns it sets from values of the same names. No IN lists: their SQL varies with the value.

    Rows come back as the driver has them: only for statements whose columns need no conversion.
    """

    def __init__(self, statement: UpdateBase | Select[Any], columns: Iterable[str] = ()) -> None:
        self._statement = statement
        self._columns = list(columns) or None
        self._forms: dict[str, _Form] = {}

    def bound(self, dialect: Dialect, values: Mapping[str, Any]) -> tuple[str, Any]:
        """The SQL and its parameters as this driver takes them."""
        form = self._forms.get(dialect.name)
        if form is None:
            compiled = self._statement.compile(dialect=dialect, column_keys=self._columns)
            form = self._forms[dialect.name] = _Form(compiled, dialect)
        return form.sql, form.parameters(values)


class Writer:
    """One writing transaction on a driver's cursor. Given out by `Database.write`."""

    def __init__(self, cursor: Cursor, dialect: Dialect) -> None:
        self._cursor = cursor
        self._dialect = dialect

    def run(self, prepared: Prepared, values: Mapping[str, Any]) -> Cursor:
        """The cursor after the statement: read it before the next one."""
        self._cursor.execute(*prepared.bound(self._dialect, values))
        return self._cursor


class _Form:
    def __init__(self, compiled: SQLCompiler, dialect: Dialect) -> None:
        self.sql = str(compiled)
        self._positional = compiled.positional
        binds = {name: bind for bind, name in compiled.bind_names.items()}
        self._slots: list[tuple[str, Any, Convert]] = [
            (name, binds[name].effective_value, binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in compiled.positiontup or binds
        ]

    def parameters(self, values: Mapping[str, Any]) -> Any:
        converted = [
            value if convert is None else convert(value)
            for name, constant, convert in self._slots
            for value in (values.get(name, constant),)
        ]
        if self._positional:
            return converted
        return dict(zip((slot[0] for slot in self._slots), converted, strict=True))
