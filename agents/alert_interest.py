"""Which of the alerts that fire now a patrol looks into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

# By convention alerts of severity none only prove that alerting works.
META = "none"


def is_of_interest(fields: Mapping[str, str], ignored: Iterable[str]) -> bool:
    """`fields` as query_metrics gives an active alert; `ignored` are patterns of names."""
    name = fields.get("alertname", "").casefold()
    is_ignored = any(fnmatchcase(name, pattern.casefold()) for pattern in ignored)
    return fields.get("state") == "firing" and fields.get("severity") != META and not is_ignored
