"""What a post says under names, in headings and behind links: the parts that most senders' readers look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from bot.alert_reading.build import Links
from bot.alert_reading.labels import MAX_LINES, pairs_of_line
from bot.alert_reading.markup import Link, bare
from bot.alert_reading.post import Post

MAX_HEADINGS = 24
MAX_LINKS = 200
_MARKDOWN = re.compile(r"\[([^\[\]\n]{1,100})\]\((https?://[^\s()]{3,2000})\)")
_LEADING = re.compile(r"\A(?:\s|:[a-z0-9_+'-]{1,40}:|[^\w\s(\[{<\"'`«“*#@/.-])+")
_TAGS = re.compile(r"^[^\w\n]{0,20}tags:[^\w\n]{0,10}(\S[^\n]*)", re.IGNORECASE | re.MULTILINE)
_ENTRY = re.compile(r"[\w.@/-]{1,60}:[^\s,]\S*\Z")


@dataclass(frozen=True)
class Said:
    """Named values: the fields of all parts first, then `key: value` lines; the first of a name counts. Keys are folded."""

    pairs: Mapping[str, str]

    def get(self, *keys: str) -> str:
        return next((value for key in keys if (value := self.pairs.get(key))), "")

    def labels(self, **keys: tuple[str, ...]) -> dict[str, str]:
        """Label → the first value under one of its keys; what the post does not name is left out."""
        found = {label: self.get(*names) for label, names in keys.items()}
        return {label: value for label, value in found.items() if value}


def said(post: Post) -> Said:
    pairs: dict[str, str] = {}
    for field in post.fields:
        pairs.setdefault(folded_key(field.title), field.value)
    for text in (post.text, *(part.text for part in post.parts)):
        for key, value in _lines(text):
            pairs.setdefault(folded_key(key), value)
    return Said({key: value for key, value in pairs.items() if key and value})


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of the lines; a key that ends its line has the next line as its value."""
    open_key = ""
    for line in text.splitlines()[:MAX_LINES]:
        pairs = pairs_of_line(line)
        if open_key and not pairs and line.strip():
            yield open_key, bare(line)
        open_key = pairs[-1][0] if pairs and not pairs[-1][1] else ""
        yield from ((key, value) for key, value in pairs if value)


def folded_key(key: str) -> str:
    """`*Service Name:*`, `service_name` and `Service name` are one."""
    return key.casefold().replace("_", " ").strip(" :：*`")


def headings(post: Post) -> Iterator[str]:
    """What may name the alert, bare, without emoji before it: titles, pretexts, first lines of each text, fallbacks."""
    firsts = [line for part in post.parts for line in (part.title, part.pretext, *part.text[:2_000].splitlines()[:2])]
    fallbacks = [part.fallback[:2_000] for part in post.parts]
    lines = [*firsts, *post.text[:2_000].splitlines()[:2], *fallbacks]
    return (line for text in dict.fromkeys(lines[:MAX_HEADINGS]) if (line := heading(text)))


def heading(text: str) -> str:
    """One line without emphasis and without emoji before it."""
    line = bare(text.partition("\n")[0][:1_000])
    return bare(_LEADING.sub("", line)).strip()


def links_of(post: Post) -> Iterator[Link]:
    """All in the post: titles' first, then those in texts and fields, buttons', Markdown's last; no more than MAX_LINKS."""
    return islice(_links_of(post), MAX_LINKS)


def _links_of(post: Post) -> Iterator[Link]:
    yield from (Link("source", part.title_link) for part in post.parts if part.title_link)
    yield from post.links
    for part in post.parts:
        yield from part.links
        yield from part.buttons
        yield from (Link(label, url) for label, url in _MARKDOWN.findall(part.text) if "](" in part.text)
    yield from (Link(label, url) for label, url in _MARKDOWN.findall(post.text) if "](" in post.text)


def links_by_kind(post: Post, main: str = "") -> dict[str, str]:
    """`main` is the address of the alert itself, kind source; a link whose label is the alert's own name is source too."""
    found = Links().add("source", main)
    for link in links_of(post):
        found.add_all([(link.label if len(link.label) < 40 else "source", link.url)])
    return found.by_kind()


def link_to(post: Post, *pieces: str) -> Link | None:
    """The first link whose address holds one of these."""
    return next((link for link in links_of(post) if any(piece in link.url.casefold() for piece in pieces)), None)


def tagged(text: str) -> dict[str, str]:
    """`env:prod, service:checkout, urgent` as labels; what is no key and value stays together under tags."""
    pieces = [piece for piece in re.split(r",\s*|\s+(?=[\w.@/-]{1,60}:\S)|\n", bare(text)[:4_000]) if piece]
    labels = dict(piece.split(":", 1) for piece in pieces if _ENTRY.match(piece) and "://" not in piece)
    rest = ", ".join(piece for piece in pieces if not _ENTRY.match(piece) or "://" in piece)
    return {**labels, **({"tags": rest} if rest else {})}


def tags_of(post: Post) -> dict[str, str]:
    """Of a field or a line `Tags: …`."""
    line = next((found[1] for part in post.parts if (found := _TAGS.search(part.text))), "")
    return tagged(post.field("tags") or line)


def without(pairs: Mapping[str, str], *names: str) -> dict[str, str]:
    return {key: value for key, value in pairs.items() if key not in names}


def first_match(pattern: re.Pattern[str], lines: Iterable[str]) -> re.Match[str] | None:
    return next((match for line in lines if (match := pattern.search(line))), None)
