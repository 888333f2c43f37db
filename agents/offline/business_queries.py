"""The operator's named queries, as query_order's description lists them: which one is about what the question asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agents.llm.base import ToolOffer
from agents.offline.question import Question

_QUERY = re.compile(r"(?:Queries: |; )(?P<name>[\w-]+)\((?P<parameters>[^()]*)\): (?P<said>.*?)(?=; [\w-]+\([^()]*\): |$)", re.DOTALL)
_WORD = re.compile(r"[a-z]{3,}")
_SINCE = re.compile(r"^(since|from|start|after|begin)", re.IGNORECASE)
_UNTIL = re.compile(r"^(until|to|end|before)(_|$)", re.IGNORECASE)
_NO_SUBJECT = frozenset({"since", "time", "times", "from", "with", "last", "many", "much", "number", "what", "which", "were"})
_ALIKE = 2  # words in common, of those that say what it is about
_STEM = 4


@dataclass(frozen=True)
class BusinessQuery:
    """`parameters` by name: whether one must be given."""

    name: str
    parameters: dict[str, bool]
    words: frozenset[str]


def queries_of(offer: ToolOffer) -> list[BusinessQuery]:
    return [
        BusinessQuery(found["name"], _parameters(found["parameters"]), _stems(f"{found['name']} {found['said']}"))
        for found in _QUERY.finditer(offer.description)
    ]


def query_about(question: Question, offer: ToolOffer, times: Mapping[str, str]) -> dict[str, object] | None:
    """The arguments of the query that names what the question asks for and needs no more than a time, or None."""
    asked = _stems(" ".join(question.terms))
    fitting = [query for query in queries_of(offer) if all(_is_time(name) for name, must in query.parameters.items() if must)]
    best = max(fitting, key=lambda query: len(query.words & asked), default=None)
    if best is None or len(best.words & asked) < _ALIKE:
        return None
    values = {name: value for name in best.parameters if (value := _time(name, times))}
    needed = {name for name, must in best.parameters.items() if must}
    return {"query": best.name, "parameters": values} if needed <= values.keys() else None


def _parameters(text: str) -> dict[str, bool]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    return {name.removesuffix("?"): not name.endswith("?") for name in names}


def _is_time(name: str) -> bool:
    return bool(_SINCE.match(name) or _UNTIL.match(name))


def _time(name: str, times: Mapping[str, str]) -> str | None:
    if _SINCE.match(name):
        return times.get("since")
    return times.get("until") if _UNTIL.match(name) else None


def _stems(text: str) -> frozenset[str]:
    """failed, failures and failing are one."""
    words = _WORD.findall(text.lower().replace("_", " "))
    return frozenset(word[:_STEM] for word in words if word not in _NO_SUBJECT)
