"""Words copied from evidence, cut where a word ends, so that the Gatekeeper finds them again."""

from __future__ import annotations

import re
from itertools import accumulate

from agents.gate.normalise import clear_stretches
from tools.contracts import EvidenceRef

MAX_EXCERPT = 900
MAX_QUOTE = 170

_HEAD = re.compile(
    r"^\S*\d[\d:.,T/+ \-]*\S*\s.{0,140}?\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE|CRITICAL)\b.{0,140}?\s[:\-]\s+(?=\S)", re.DOTALL
)
_REQUEST = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+ HTTP/[\d.]+\" \d{3}\b")
_EXTRAS = re.compile(r"(?: [A-Za-z_][\w.]*=(?:\"[^\"]*\"|\S+))+$")
_CLAUSE_END = re.compile(r"(?<=[\w)\"'])[.;,](?=\s)|[。；，]")
_CLAUSE_START = re.compile(r"=\"|[\[,]\"|(?<=[a-z)])[.;] |: (?=failed to |unable to |cannot )|\bdesc = ")
_JSON_HEAD = re.compile(r"^\S*\d[\d:.,T+Z\-]*\s+(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\s+(?=\S)", re.IGNORECASE)
_TELLING_WORD = re.compile(r"[A-Za-z0-9_]{2,}|[\u4e00-\u9fff]{2}")
_ENOUGH_WORDS = 3  # what the Gatekeeper asks of a quote
_NGINX_HEAD = re.compile(r"^[\d/]{8,10} [\d:]{8} \[[a-z]+\] \d+#\d+: (?:\*\d+ )?(?=\S)")


def flat(text: str) -> str:
    return " ".join(text.split())


def excerpt(ref: EvidenceRef, around: str = "") -> str:
    """The whole text where it is short enough, else the part of it that holds `around`."""
    text = _clear(ref.text, max(ref.text.find(around), 0))[0].strip()
    if len(text) <= MAX_EXCERPT:
        return text
    at = max(text.find(around), 0) if around else 0
    start = 0 if at + len(around) < MAX_EXCERPT else _boundary(text, at)
    return text[start : _boundary(text, start + MAX_EXCERPT)].strip()


def marked(words: str, language: str) -> str:
    """In quotation marks that do not occur in the words themselves."""
    pairs = [("「", "」"), ("«", "»")] if language == "zh" else [('"', '"'), ("«", "»")]
    first, last = next((pair for pair in pairs if pair[0] not in words and pair[1] not in words), pairs[-1])
    return f"{first}{words}{last}"


def quote(text: str, limit: int = MAX_QUOTE, at: int = 0) -> str:
    """At most `limit` characters on one line from the clause on that holds `at`, cut after a clause where one ends in the
    second half. Characters that hide or reorder words are never quoted, but what stands before or after them is."""
    text, at = _clear(text, at or None)
    line = flat(text[_clause_start(text, at) if len(text) > limit else 0 :])
    if len(line) <= limit:
        return line.rstrip(".。")
    clauses = [found.start() for found in _CLAUSE_END.finditer(line, limit // 2, limit)]
    end = clauses[-1] if clauses else _boundary(line, limit)
    return line[:end].rstrip(" ,;:(-")


def _clear(text: str, at: int | None) -> tuple[str, int]:
    """The stretch without bidi controls and tags that holds `at`, where it says enough; else the longest; and where in it
    `at` is."""
    pieces = clear_stretches(text)
    if len(pieces) == 1:
        return text, at or 0
    starts = accumulate((len(piece) + 1 for piece in pieces), initial=0)
    told = list(zip(starts, pieces, strict=False))
    here = [one for one in told if at is not None and one[0] <= at <= one[0] + len(one[1])]
    enough = [one for one in here if len(_TELLING_WORD.findall(one[1])) >= _ENOUGH_WORDS]
    start, piece = enough[0] if enough else max(told, key=lambda one: len(one[1]))
    return piece, at - start if enough and at is not None else 0


def _clause_start(text: str, at: int) -> int:
    starts = [found.end() for found in _CLAUSE_START.finditer(text) if found.end() <= at]
    return starts[-1] if starts else 0


def message(line: str) -> str:
    """A log line without its stamp, level, thread and logger; an access line from its request on."""
    first = line.strip().split("\n", 1)[0]
    request = _REQUEST.search(first)
    if request:
        return request.group(0)
    found = _NGINX_HEAD.match(first) or _HEAD.match(first) or _JSON_HEAD.match(first)
    rest = first[found.end() :] if found else first
    bare = _EXTRAS.sub("", rest) if found else rest
    return next((text for text in (bare, rest) if len(text.split()) >= 3), first)


def _boundary(text: str, at: int) -> int:
    """The nearest white space at or before `at`; `at` itself where there is none."""
    if at >= len(text):
        return len(text)
    found = text.rfind(" ", 0, at + 1)
    return found if found > 0 else at
