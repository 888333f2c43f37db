"""Log levels: one scale for every spelling, and the guess for a line that names none."""

from __future__ import annotations

import re

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")

_SPELLINGS = {
    "TRACE": ("TRACE", "FINEST", "FINER", "VERBOSE"),
    "DEBUG": ("DEBUG", "FINE", "DBG"),
    "INFO": ("INFO", "INFORMATION", "INFORMATIONAL", "NOTICE", "LOG", "I", "INF"),
    "WARN": ("WARN", "WARNING", "W", "WRN"),
    "ERROR": ("ERROR", "ERR", "SEVERE", "E", "EROR"),
    "FATAL": ("FATAL", "CRITICAL", "CRIT", "PANIC", "ALERT", "EMERG", "EMERGENCY", "F", "DPANIC"),
}
_CANONICAL = {spelling: level for level, spellings in _SPELLINGS.items() for spelling in spellings}
_NUMBERS = {10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR", 60: "FATAL"}  # pino and bunyan
_SYSLOG = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")

_WORDS = "TRACE|DEBUG|DBG|INFO|INF|NOTICE|WARNING|WARN|WRN|ERROR|ERR|SEVERE|CRITICAL|CRIT|FATAL|PANIC|ALERT|EMERG"
_UPPER = re.compile(rf"(?<![A-Za-z_./-])(?:{_WORDS}|LOG(?=: ))(?![A-Za-z_./-])")
_MARKED = re.compile(
    rf"(?:\[(?:\w+:)?|\b(?:level|lvl|severity|levelname)=[\"']?)({_WORDS})(?![a-z])|^(?:\S+ )?({_WORDS}):? ", re.I
)
_STATUS = re.compile(r"(?:\" |status=|status: |status\":)([1-5])\d\d\b")
_THROWN = re.compile(r"\b(?:[\w.]*(?:Exception|Error)(?::|\b at )|Traceback \(most recent|panic: )")


def canonical(value: object) -> str | None:
    """`warning`, `E`, 40 or "50" as one of LEVELS; None where it is no level."""
    if isinstance(value, str) and not value.isdigit():
        return _CANONICAL.get(value.strip().upper())
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return None
    return _SYSLOG[number] if 0 <= number < len(_SYSLOG) else _NUMBERS.get(number)


def level_in(text: str) -> str | None:
    """The level a line's text states, else ERROR or WARN by its HTTP status, else ERROR for a thrown exception."""
    head = text[:240]
    upper = _UPPER.search(head)
    if upper:
        return _CANONICAL[upper.group()]
    marked = _MARKED.search(head)
    if marked:
        return _CANONICAL[(marked.group(1) or marked.group(2)).upper()]
    status = _STATUS.search(text)
    if status:
        return {"5": "ERROR", "4": "WARN"}.get(status.group(1), "INFO")
    return "ERROR" if _THROWN.search(text) else None


def level_rank(level: str | None) -> int:
    """The place on the scale; a line without a level stands with INFO."""
    return LEVELS.index(level or "INFO")


def at_least(level: str) -> frozenset[str]:
    return frozenset(LEVELS[LEVELS.index(level) :])


def needles(level: str, sample: bytes) -> tuple[bytes, ...]:
    """Byte strings of which any line of at least `level` has one, in the spelling that `sample` uses.

    Empty where no prefilter is safe: INFO and below match nearly everything, and a sample without a level spelled out may
    hold `E` or 50.
    """
    if level_rank(level) < level_rank("WARN"):
        return ()
    upper = bool(re.search(rb"\b(?:INFO|DEBUG|WARN|ERROR)\b", sample))
    lower = bool(re.search(rb"[\[=\"](?:info|debug|warn|error|Info|Debug|Warn|Error)", sample))
    words = [word for one in LEVELS[level_rank(level) :] for word in _SPELLINGS[one] if len(word) > 2]
    words = [word for word in words if not any(other != word and other in word for other in words)]
    spelled = words * upper + [form for word in words for form in (word.lower(), word.capitalize())] * lower
    if not spelled:
        return ()
    digits = "45" if level == "WARN" else "5"
    status = [f"{key}{digit}" for key in ('" ', "status=", "status: ", 'status":') for digit in digits]
    return tuple(word.encode() for word in (*spelled, "Exception", "Error", "Traceback", "panic: ", *status))
