"""query_metrics mode=alerts: what is pending, firing or silenced now, each quotable."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tools.active_alerts import FIRING, ActiveAlert, ActiveAlerts
from tools.contracts import EvidenceRef, ToolResult, nothing_found
from tools.metric_text import line, noted, supported


def alerts_answer(found: ActiveAlerts, words: Sequence[str], sources: Sequence[str], *, limit: int) -> ToolResult:
    """Those that mention any of the words, the firing ones first. `sources` are the addresses that were asked."""
    wanted = [alert for alert in found.alerts if _mentions(alert, words)]
    if not wanted:
        about = f" that mentions {' '.join(words)}" if words else ""
        others = f" {len(found.alerts)} others are." if found.alerts else ""
        said = f"No alert{about} is pending or firing in {' and '.join(found.asked)}.{others}"
        return nothing_found(said, scope={"source": ", ".join(sources)}, **noted(found.failures))
    wanted.sort(key=lambda alert: (alert.state != FIRING, alert.since))
    kept = wanted[:limit]
    return supported(
        {"alerts": [alert.fields for alert in kept]},
        [
            EvidenceRef(raw_path=f"$.alerts[{index}]", text=line(alert.fields), scope=alert.scope)
            for index, alert in enumerate(kept)
        ],
        found.failures,
        f"{len(wanted) - limit} of {len(wanted)} alerts are not shown" if len(wanted) > limit else "",
    )


def _mentions(alert: ActiveAlert, words: Sequence[str]) -> bool:
    said = json.dumps(alert.fields, ensure_ascii=False).lower()
    return not words or any(word.lower() in said for word in words)
