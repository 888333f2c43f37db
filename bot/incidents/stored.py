"""An incident's alert as it is stored, read back."""

from __future__ import annotations

from pydantic import ValidationError

from agents.contracts import Alert
from storage.incidents import StoredAlert


def alert_of(stored: StoredAlert) -> Alert:
    """With its present status."""
    try:
        return Alert.model_validate(dict(stored.document) | {"status": stored.status})
    except ValidationError:
        # Another version of the program wrote it: what every version has is enough to go on.
        name = stored.document.get("alert_name")
        return Alert(
            sender=str(stored.document.get("sender", "")),
            alert_name=None if name is None else str(name),
            status="firing" if stored.is_firing else "resolved",
            fingerprint=stored.fingerprint,
        )
