"""Sentences that say a state: `Your site X went down`, `nightly - #412 Failure after 12 min`, `X came back online after 12 minutes`."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.headings import Heading
from bot.alert_reading.markup import bare
from bot.alert_reading.words import severity_of, status_of

BUILD = "build"
_NOW = r"(?:\s(?:is|are|was|has|have|went|came|appears|seems|gone|been|to be|now|currently|still)){1,4}\s"
_BUILD = re.compile(
    r"\A(?P<name>\S[^\n]{0,200}?)(?:\s[-–»:]){0,2}\s#(?P<number>\d{1,9})(?P<rest>(?:\s(?:of|on|in|for) [^\n]{1,120}?)?)(?:\s[-–:])?\s(?:has\s|is\s|was\s)?"
    r"(?P<state>still failing|failure|failed|failing|broken|unstable|errored|timed out|back to normal|fixed)\b",
    re.IGNORECASE,
)
_WRITTEN: tuple[tuple[AlertStatus, bool, str], ...] = (
    ("resolved", True, r"\A(?P<name>\S[^\n]{1,300}?)\s(?:is|are|was|has|have|came|went)(?: come)?(?: now)? (?:back (?:online|up|to normal)|up again|online again|healthy again)\b"),
    ("resolved", False, rf"\A(?P<name>\S[^\n]{{1,300}}?){_NOW}(?:recovered|restored|resolved|running again|responding again|healthy)\b"),
    ("firing", True, r"\A(?:the )?(?P<name>sync operation of application \S+) has failed\b"),
    ("firing", True, r"\Ayour (?:site|website|server|monitor|check|service)\s(?P<name>\S[^\n]{1,300}?)\s(?:went|is|has gone|is now) (?:down|offline|unreachable)\b"),
    ("firing", True, r"\A(?![^\n]*\b(?:ok|recover\w*|resolved?|closed?|clear\w*|critical|warning|up|down|unknown)\b)(?:[\w-]{1,30} ){1,4}alert:\s+(?P<name>\S[^\n]{1,300})\Z"),
    ("firing", True, r"\A(?P<name>(?:(?:ssl|tls) )?certificate\b[^\n]{1,200}?) (?:expires|will expire|has expired|expired)\b"),
    ("firing", True, r"\Aalert (?:for|on|in) (?P<name>\S[^\n]{1,200}?)\s?:?\Z"),
    ("firing", False, rf"\A(?P<name>\S[^\n]{{1,300}}?){_NOW}(?:down|offline|unreachable|not running|not responding|unresponsive|unhealthy|degraded|failing|stuck|flapping|crashed|crash-?looping|failed|timed out|stopped|exceeded|breached)\b"),
    ("firing", False, r"\A(?P<name>\S[^\n:]{1,100}?)\s(?:error|failure|failed|crashed|does not exist|not responding)\Z"),
)  # fmt: skip
_FORMS = tuple((status, strong, re.compile(form, re.IGNORECASE)) for status, strong, form in _WRITTEN)
_DECLARED = re.compile(r"\A(?P<level>SEV-?[0-5]|P[0-5]) (?:incident )?(?:declared|opened|started)\s?[:–-]\s*(?P<name>[^\n.]{3,200})", re.IGNORECASE)
_IS_LEVEL = re.compile(r"\A(?P<name>\S[^\n]{0,200}?) is (?:now |still )?(?P<level>CRITICAL|WARNING|WARN|ERROR|DOWN|UNREACHABLE|OK|UP|RECOVERED)\b[^\n]{1,200}\Z")
_ARROW = re.compile(r"[→➡>]| to ")
_STATES = "OK|UP|DOWN|WARNING|WARN|CRITICAL|CRIT|ERROR|UNKNOWN|ALARM|ALERTING|NODATA|NO_DATA|INSUFFICIENT_DATA|HEALTHY|UNHEALTHY|DEGRADED|NORMAL|FIRING"
_BECAME = re.compile(rf"\A(?P<name>\S[^\n]{{0,200}}?)\s?[:：]?(?:\s(?:has |is )?(?:changed|went|moved|now)(?: from)?)?\s(?:{_STATES})\s?(?:→|➡|->|=>|\sto\s)\s?(?P<state>{_STATES})\b[^\n]{{0,200}}\Z", re.IGNORECASE)
_SPEAKER = re.compile(r"\A[^:\n]{1,60}\(@?[\w.-]{1,40}\):\s+")
_OWNER = re.compile(r"\A(?:your (?:site|website|server|monitor|check|service)|the)\s+|,?\s+https?://\S+\Z|\s?:\s?process\Z", re.IGNORECASE)


def read_sentence(line: str) -> Heading | None:
    """None where the line is no such sentence. A number that counts runs is no part of the name; a build has the tag BUILD."""
    text = _SPEAKER.sub("", bare(line[:600]))
    if "#" in text and (match := _BUILD.match(text)):
        over = match["state"].casefold() in ("back to normal", "fixed")
        return Heading(f"{match['name']}{match['rest']}", "resolved" if over else "firing", strong=True, leads=True, tags=(BUILD,))
    if match := _DECLARED.match(text):
        return Heading(match["name"], "firing", match["level"], strong=True, leads=True)
    if _ARROW.search(text) and (match := _BECAME.match(text)):
        return _of_level(match["name"], match["state"])
    if " is " in text and (match := _IS_LEVEL.match(text)):
        return _of_level(match["name"], match["level"])
    for status, strong, form in _FORMS:
        if match := form.match(text):
            return Heading(_OWNER.sub("", match["name"]).strip(" ,:-"), status, strong=strong, leads=True)
    return None


def _of_level(name: str, word: str) -> Heading:
    return Heading(name, status_of(word), word if severity_of(word) else None, strong=True, leads=True)
