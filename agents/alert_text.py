"""What a model reads of the alerts: their fields as data, the first ones whole."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import Alert
from agents.fences import shortened
from agents.prompts import as_json, block

WHOLE = 10
TEXT_CHARS = 1_000
LABEL_CHARS = 300
LISTED = 100


def alerts_block(alerts: Sequence[Alert], mark: str) -> str:
    """Between fences. What the post was read from is left out: its fields are here."""
    whole = [_shown(alert) for alert in alerts[:WHOLE]]
    rest = [f"{alert.alert_name} {as_json(alert.labels)}" for alert in alerts[WHOLE:LISTED]]
    text = "\n".join([*(as_json(one) for one in whole), *(shortened(line, TEXT_CHARS) for line in rest)])
    return block("alerts", text, mark)


def _shown(alert: Alert) -> dict[str, object]:
    told = alert.model_dump(mode="json", exclude={"raw", "fingerprint", "links"}, exclude_none=True)
    told["labels"] = {key: shortened(text, LABEL_CHARS) for key, text in alert.labels.items()}
    told["annotations"] = {key: shortened(text, TEXT_CHARS) for key, text in alert.annotations.items()}
    return {key: value for key, value in told.items() if value}
