"""What CloudWatch's two senders share: states, reasons, names of labels."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus

STATES: dict[str, AlertStatus] = {"ALARM": "firing", "OK": "resolved", "INSUFFICIENT_DATA": "no_data", "INSUFFICIENT DATA": "no_data"}
_STATE = r"ALARM|OK|INSUFFICIENT[_ ]DATA"
_CHANGE = re.compile(rf"\b(?:{_STATE})\b\W{{0,6}}\s*(?:->|→|➡|=>|to)\s*\W{{0,6}}({_STATE})\b")
_WORD = re.compile(rf"(?<![\w/-])({_STATE})(?![\w/-])")
_REASON = re.compile(r"(?:Threshold Crossed|Insufficient Data|Unchecked|Thresholds Crossed)\b[^\n]*")
_POINT = re.compile(r"datapoints? \[\s*(-?\d[\d.eE+-]*)")
REGION = re.compile(r"\b[a-z]{2}(?:-gov|-iso[a-z]?)?-(?:north|south|east|west|central|northeast|southeast|northwest|southwest)-\d\b")


def state_in(text: str) -> AlertStatus | None:
    """The new state that a text names: behind the arrow of a change, else the first that stands as a word."""
    match = _CHANGE.search(text[:8_000]) or _WORD.search(text[:8_000])
    return STATES.get(match[1]) if match else None


def reason_in(text: str) -> str:
    match = _REASON.search(text[:20_000])
    return match[0].strip() if match else ""


def latest_point(reason: str) -> str | None:
    """The newest datapoint, which a reason lists first."""
    match = _POINT.search(reason)
    return match[1] if match else None
