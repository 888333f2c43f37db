"""What Alertmanager's Slack receiver posts by its default template about one alert of a Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

COLOURS = {"firing": "danger", "resolved": "good"}
NAME = "alertname"


def slack_payload(alert: Mapping[str, Any], status: Literal["firing", "resolved"], address: str) -> dict[str, Any]:
    """For an incoming webhook. `alert` is one of /api/v1/alerts, `address` that of the Alertmanager; the title has the
    values of the labels without their names, as the template has them."""
    labels = dict(alert["labels"])
    said = "FIRING:1" if status == "firing" else "RESOLVED"
    name = labels.pop(NAME)
    title = f"[{said}] {name} ({' '.join(labels[key] for key in sorted(labels))})"
    link = f"{address}/#/alerts?receiver=slack"
    text = str(alert["annotations"].get("summary", ""))
    attachment = {
        "title": title,
        "title_link": link,
        "fallback": f"{title} | {link}",
        "text": text,
        "color": COLOURS[status],
        "mrkdwn_in": ["fallback", "pretext", "text"],
    }
    return {"username": "Alertmanager", "attachments": [attachment]}
