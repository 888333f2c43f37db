"""What loads a database: statements by their share of the load, and what each waits for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.llm.base import CitedRef, Exchange, ToolOffer
from agents.offline.external_calls import is_external
from agents.offline.reading import pairs_of
from tools.contracts import EvidenceStatus

_STATEMENT = ("statement", "query", "sql", "sql_text", "digest_text")
_LOAD = re.compile(r"load|total_(exec_)?time|avg_active|aas", re.IGNORECASE)
_WRITES = re.compile(r"^\W*(?:BEGIN\W+)?(?:WITH\b.*?\)\s*)?(UPDATE|INSERT|DELETE|MERGE|COPY|VACUUM|ALTER|CREATE|REINDEX)\b", re.IGNORECASE | re.DOTALL)
_BESIDE = 0.15  # of the whole load: what less than this does is no news


@dataclass(frozen=True)
class Load:
    """`waits` are the records of what it waits for, the longest first."""

    cited: CitedRef
    statement: str
    load: float
    waits: tuple[CitedRef, ...]

    @property
    def writes(self) -> bool:
        return _WRITES.search(self.statement) is not None

    @property
    def wait(self) -> str:
        """The name of what it waits for most."""
        return pairs_of(self.waits[0].ref.text).get("name", "") if self.waits else ""

    @property
    def text(self) -> str:
        return "\n".join([self.statement, self.wait])


def loads(offers: Sequence[ToolOffer], exchanges: Sequence[Exchange]) -> list[Load]:
    """The heaviest first; those alone that carry a share worth telling."""
    answered = [one for one in exchanges if is_external(one, offers) and one.evidence_status is EvidenceStatus.SUPPORTED]
    found = sorted((load for one in answered for load in _of(one)), key=lambda load: -load.load)
    whole = sum(load.load for load in found)
    return [load for load in found if load.load >= _BESIDE * whole]


def _of(exchange: Exchange) -> Iterator[Load]:
    for cited in exchange.refs:
        pairs = pairs_of(cited.ref.text)
        statement = next((pairs[key] for key in _STATEMENT if " " in pairs.get(key, "")), "")
        weight = _number(pairs)
        if statement and weight is not None:
            below = [one for one in exchange.refs if one.ref.raw_path.startswith(f"{cited.ref.raw_path}.")]
            waits = sorted(below, key=lambda one: -(_number(pairs_of(one.ref.text)) or 0.0))
            yield Load(cited, statement, weight, tuple(waits))


def _number(pairs: dict[str, str]) -> float | None:
    try:
        return next((float(value) for key, value in pairs.items() if _LOAD.search(key)), None)
    except ValueError:
        return None
