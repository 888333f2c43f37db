"""Series and alerts of a thing that an alert names are that thing's, whatever the job that reads them is called."""

from __future__ import annotations

import re
from dataclasses import replace

from agents.llm.base import CitedRef
from agents.offline.evidence import Evidence
from agents.offline.question import Question


def by_own_names(question: Question, evidence: Evidence) -> Evidence:
    """A pod's, host's or database's own name in place of its exporter's; unchanged for a question."""
    names = [one.name for one in question.subjects]
    if not names:
        return evidence
    series = (replace(one, service=_own(names, one.service, one.cited)) for one in evidence.series)
    alerts = (replace(one, service=_own(names, one.service, one.cited)) for one in evidence.alerts)
    return replace(evidence, series=tuple(series), alerts=tuple(alerts))


def _own(names: list[str], service: str, cited: CitedRef) -> str:
    if service in names:
        return service
    labels = f"{cited.ref.text.partition(' from=')[0]} {' '.join(cited.ref.scope.values())}"
    return next((name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", labels)), service)
