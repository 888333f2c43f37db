"""The business questions an operator allows: SQL with a name, never SQL from a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tools.errors import ToolConfigError

if TYPE_CHECKING:
    from storage.business import BusinessStore

ParameterType = Literal["string", "integer", "number", "boolean", "time"]


@dataclass(frozen=True)
class QueryParameter:
    """`time` values are read in the asker's zone where they state none, and reach the SQL in UTC."""

    type: ParameterType = "string"
    description: str = ""
    required: bool = True


@dataclass(frozen=True)
class NamedQuery:
    """`sql` reads only and names its parameters as `:order_id`."""

    name: str
    sql: str
    description: str
    parameters: dict[str, QueryParameter] = field(default_factory=dict)


class BusinessQueries:
    """The named queries beside the store that runs them. Raises ToolConfigError on a name given twice."""

    def __init__(
        self, store: BusinessStore, queries: Iterable[NamedQuery], *, max_rows: int = 50, timeout_seconds: float = 10.0
    ) -> None:
        self.store = store
        self.max_rows = max_rows
        self.timeout_seconds = timeout_seconds
        self._queries: dict[str, NamedQuery] = {}
        for query in queries:
            if query.name in self._queries:
                raise ToolConfigError(f"two business queries are named {query.name!r}: rename one in the settings")
            self._queries[query.name] = query

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._queries)

    def get(self, name: str) -> NamedQuery | None:
        return self._queries.get(name)

    def catalogue(self) -> str:
        """One line a query, as a model is told: name(parameters): description."""
        return "; ".join(_line(query) for query in self._queries.values())


def _line(query: NamedQuery) -> str:
    names = ", ".join(name if parameter.required else f"{name}?" for name, parameter in query.parameters.items())
    return f"{query.name}({names}): {query.description}"
