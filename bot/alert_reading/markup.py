"""Slack's markup in a machine's post: marks read, entities resolved, links kept apart, emphasis taken off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

MAX_LINKS = 300

# <@U1>, <#C1|name>, <!here>, <!date^…|…>, <https://host|label>
_MARK = re.compile(r"<([@#!])([^<>|]{0,300})(?:\|([^<>]{0,300}))?>|<([a-zA-Z][a-zA-Z+.-]{1,20}:[^<>|]+)(?:\|([^<>]*))?>")
# Senders for other chats send HTML along.
_HTML = re.compile(r"</?(?:font|span|strong|b|i|em|p|div|small)(?:\s[^<>\n]{0,100})?>", re.IGNORECASE)
_PICTURE = re.compile(r":[a-z0-9_+'-]{1,40}:")
_EMPTY_LABELS = ("open", "link", "here", "view", "click here", "click", "url", "go")
_KEY_BEFORE = re.compile(r"([^\W\d_][\w -]{0,30})\s{0,2}(?:[:：]\s{0,2}[*_]{0,2}|[*_]{1,2}\s{0,2}[:：])\s{0,3}\Z")
_CODE = re.compile(r"```(?:[a-zA-Z]{1,10}\n)?(.*?)(?:```|\Z)", re.DOTALL)
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")
_STARS = re.compile(r"(?<![\w*])\*{1,2}(?=\S)|(?<=\S)\*{1,2}(?![\w*])")
_WAVES = re.compile(r"(?<![\w~])~(?=\S)|(?<=\S)~(?![\w~])")


@dataclass(frozen=True, slots=True)
class Link:
    """`label` is empty for a bare address."""

    label: str
    url: str


def unescape(text: str) -> str:
    """Slack's three entities and no other: `&region=` in an address is none."""
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def plain(markup: str) -> str:
    """As a person reads it: a link is its label or address, a mention its name. Emphasis and back-ticks stay."""
    text = unescape(_MARK.sub(_read, markup) if "<" in markup else markup)
    return _HTML.sub("", text) if "</" in text else text


def links_in(markup: str) -> tuple[Link, ...]:
    """In the order in which they stand. A link that is a picture (`*Graph:* <url|:chart:>`) has the name before it as its label."""
    if "<" not in markup:
        return ()
    found = (match for match in _MARK.finditer(markup) if match[4])
    return tuple(_link(markup, match) for match in islice(found, MAX_LINKS))


def _link(markup: str, match: re.Match[str]) -> Link:
    label, url = bare(unescape(match[5] or "")), unescape(match[4]).strip()
    if label.casefold() in _EMPTY_LABELS or (label and not any(letter.isalnum() for letter in _PICTURE.sub("", label))):
        before = _KEY_BEFORE.search(markup[max(0, match.start() - 40) : match.start()])
        label = before[1].strip() if before else label
    return Link(label, url)


def code_in(text: str) -> tuple[str, ...]:
    """Code blocks of three back-ticks, the last one also where it is cut off."""
    return tuple(match[1].strip() for match in _CODE.finditer(text)) if "```" in text else ()


def bare(text: str) -> str:
    """Without emphasis, back-ticks and space around: `` *`prod`* `` is prod. What stands alone (2 * 3, *.example) stays."""
    text = text.replace("`", "") if "`" in text else text
    if text.count("*") > 1:
        text = _STARS.sub("", text)
    if text.count("~") > 1:
        text = _WAVES.sub("", text)
    text = text.strip()
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == "_" else text


def clean(text: str) -> str:
    """Without what no database or screen takes: lone surrogates, NUL, marks of direction; line ends are \\n."""
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return _ODD.sub("", text)


def _read(match: re.Match[str]) -> str:
    kind, target, name, address, label = match.groups()
    if address:
        return str(label or address)
    if kind == "!":
        return _date(target, name) if target.startswith("date^") else name or f"@{target.partition('^')[0]}"
    return f"{kind}{name or target}"


def _date(target: str, fallback: str | None) -> str:
    """`date^1795999500^Started: {date} at {time}` with the instant in place of the tokens."""
    _, _, rest = target.partition("^")
    seconds, _, form = rest.partition("^")
    instant = instant_of(seconds)
    if instant is None:
        return fallback or ""
    before, brace, after = form.partition("{")
    return f"{before}{instant}{after.rpartition('}')[2]}" if brace else f"{form} {instant}"


def instant_of(seconds: str | float) -> str | None:
    """Seconds or milliseconds since the epoch, as UTC with Z; None for what is none between 2001 and 2100."""
    try:
        number = float(seconds)
        number = number / 1000 if number > 4.2e9 else number
        if not 9.8e8 < number < 4.2e9:
            return None
        at = datetime.fromtimestamp(number, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")
