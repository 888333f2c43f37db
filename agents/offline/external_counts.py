"""Counts that an outside tool makes with jq: of which kind, where, in which state."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.offline.question import Question

# What a counted kind may be in, as jq asks for it; a count of all would not answer "how many failed".
_STATES = {
    "pod": {"pending": "Pending", "running": "Running", "failed": "Failed", "succeeded": "Succeeded", "completed": "Succeeded"},
    "job": {"failed": "failed", "active": "active", "running": "active", "succeeded": "succeeded", "completed": "succeeded"},
}
_QUALIFIED = re.compile(
    r"\b(fail(ed|ing)|pending|running|succeeded|completed|active|(not |un)ready|crash\w*|restart\w*|evicted|unhealthy|bound)\b"
    r"|失败|挂起|运行中|完成|崩溃|重启",
    re.IGNORECASE,
)


def counts(question: Question) -> Iterator[tuple[dict[str, str], int]]:
    """(role → value, priority) of the counts that the question asks for."""
    state = _state_asked(question)
    if not question.kind or state is None:
        return
    for namespace in question.namespaces or ("",):
        where = f'select(.metadata.namespace == "{namespace}") | ' if namespace else ""
        values = {"kind": question.kind, "namespace": namespace, "jq": f".items[] | {where}{state}.metadata.name"}
        yield values, 0


def _state_asked(question: Question) -> str | None:
    """jq for the state that is asked for, "" where all are; None where it is one that no field tells."""
    asked = _QUALIFIED.search(question.text)
    if asked is None:
        return ""
    known = _STATES.get(question.kind or "", {}).get(asked[0].lower())
    if known is None:
        return None
    return f'select(.status.phase == "{known}") | ' if question.kind == "pod" else f"select((.status.{known} // 0) > 0) | "
