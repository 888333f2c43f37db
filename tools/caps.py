"""Size limits of a tool's answer. Everything here stops at its budget: a huge answer costs no more than a large one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tools.contracts import EvidenceRef

_OVERHEAD = 6  # quotes, comma, brackets of one JSON value
_MAX_DEPTH = 40


@dataclass(frozen=True)
class ToolLimits:
    """Bounds of one run. Bytes and characters are those of one answer; seconds cap what a tool asks for itself."""

    max_calls: int = 20
    max_output_bytes: int = 120_000
    max_refs: int = 60
    max_ref_chars: int = 2_000
    max_error_chars: int = 2_000
    max_timeout_seconds: float = 60.0


@dataclass
class Budget:
    """Bytes left to spend; `cut` says that something did not fit."""

    bytes_left: int
    cut: bool = False

    def take(self, size: int) -> bool:
        self.bytes_left -= size
        self.cut = self.cut or self.bytes_left < 0
        return self.bytes_left >= 0


def bounded(value: Any, budget: Budget, depth: int = 0) -> Any:
    """A JSON copy of `value`, cut from the end where the budget is spent.

    What JSON does not know (times, NaN, bytes) becomes text; lone surrogates become "?".
    """
    if isinstance(value, str):
        return _bounded_text(value, budget)
    if value is None or isinstance(value, bool | int):
        budget.take(_OVERHEAD)
        return value
    if isinstance(value, float):
        budget.take(12)
        return value if value - value == 0 else str(value)
    if depth >= _MAX_DEPTH:
        budget.cut = True
        return "…"
    if isinstance(value, dict):
        return _bounded_members(value, budget, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return _bounded_items(value, budget, depth)
    return _bounded_text(str(value), budget)


def bounded_refs(
    refs: Sequence[EvidenceRef], *, max_refs: int, max_bytes: int, max_ref_chars: int
) -> tuple[list[EvidenceRef], bool]:
    """The refs that fit, dropped whole from the end, and whether one of them had to be cut."""
    kept: list[EvidenceRef] = []
    cut, left = False, max_bytes
    for ref in refs[:max_refs]:
        fitted = _fitted(ref, max_ref_chars)
        left -= len(fitted.text.encode("utf-8", "replace")) + sum(len(k) + len(v) for k, v in fitted.scope.items())
        if left < 0 and kept:
            break
        cut = cut or fitted is not ref
        kept.append(fitted)
    return kept, cut


def cut_text(text: str, limit: int) -> str:
    """At most `limit` characters, ending between words where a word ends in the last fifth."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    for end in range(limit, limit - limit // 5, -1):
        if not (_wordy(text[end - 1]) and _wordy(text[end])):
            return head[:end].rstrip()
    return head


def _wordy(character: str) -> bool:
    return (character.isalnum() and character < "\u2e80") or character in "_.-%"


def _fitted(ref: EvidenceRef, limit: int) -> EvidenceRef:
    text = ref.text[: limit + 1].encode("utf-8", "replace").decode()
    if len(text) <= limit:
        return ref if text == ref.text else ref.model_copy(update={"text": text})
    return ref.model_copy(update={"text": cut_text(text, limit), "scope": {**ref.scope, "truncated": "yes"}})


def _bounded_text(text: str, budget: Budget) -> str:
    if len(text) > budget.bytes_left:  # a character is a byte at least
        text, budget.cut = text[: max(budget.bytes_left, 0)], True
    encoded = text.encode("utf-8", "replace")
    if not budget.take(len(encoded) + _OVERHEAD):
        encoded = encoded[: max(len(encoded) + budget.bytes_left, 0)]
    return encoded.decode("utf-8", "ignore")


def _bounded_members(value: dict[Any, Any], budget: Budget, depth: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, item in value.items():
        if budget.bytes_left <= 0:
            budget.cut = True
            break
        name = str(key)[:200].encode("utf-8", "replace").decode()
        budget.take(len(name))
        members[name] = bounded(item, budget, depth + 1)
    return members


def _bounded_items(value: Any, budget: Budget, depth: int) -> list[Any]:
    items: list[Any] = []
    for item in value:
        if budget.bytes_left <= 0:
            budget.cut = True
            break
        items.append(bounded(item, budget, depth + 1))
    return items
