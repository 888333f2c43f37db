"""Alerts in a post of any form: what its headings and its named values say. None where they do not say that something fires
or has ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.contracts import Alert
from bot.alert_reading.build import make_alert
from bot.alert_reading.entries import Entry
from bot.alert_reading.evidence import colour_of, is_alert, is_monitor
from bot.alert_reading.heading_facts import take_facts
from bot.alert_reading.headings import Heading, is_status_phrase, read_heading
from bot.alert_reading.labels import joined, pairs_of_line, role_of
from bot.alert_reading.markup import bare, code_in, links_in, plain
from bot.alert_reading.parsed import Reading
from bot.alert_reading.post import Part, Post, squeezed
from bot.alert_reading.sentences import BUILD, read_sentence
from bot.alert_reading.structured import json_rows, table_rows
from bot.alert_reading.words import status_of_emoji

MAX_LINES = 1_000
MAX_ALERTS = 500
_COUNT = re.compile(
    r"(?<![\w.])(\d{1,4})\s?(?:条|個|个|件の?)?\s?(?:[a-z]+\s){0,2}(?:alerts?|alarms?|incidents?|problems?|告警|报警|アラート|алерт\w*|проблем\w*|경보|알림|تنبيه\w*)(?!\w)",
    re.IGNORECASE,
)
# A time inside a sentence: `Problem started at 09:31:00 on 2026.11.30`.
_TOLD = re.compile(r"\b(started|ended|resolved|recovered)(?: in [\w ]{1,30})?:?\s(?=(?:at|on)\s[^\n]{0,12}\d\d:\d\d)", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\A((?::[a-z0-9_+-]{1,40}:|\W){0,12})(\w{1,40})")
_EMOJI = re.compile(r"\A(?:\s|:[a-z0-9_+-]{1,40}:|[^\w\s\[(<\"“#*`])+")


@dataclass(frozen=True)
class _Piece:
    """What one alert (or a list of them) is read from."""

    headings: tuple[str, ...]
    body: str
    parts: tuple[Part, ...]
    post: Post


def read_loosely(post: Post, sender: str) -> Reading | None:
    pieces = _pieces(post)
    alerts = [alert for piece in pieces for alert in _of_piece(piece, sender, sure=False)][:MAX_ALERTS]
    if not alerts:
        return None
    if len(alerts) < len(pieces):
        alerts = [alert for piece in pieces for alert in _of_piece(piece, sender, sure=True)][:MAX_ALERTS]
    number = _COUNT.search("\n".join(pieces[0].headings)[:300])
    return Reading(tuple(alerts), count=max(len(alerts), int(number[1])) if number else len(alerts))


def _pieces(post: Post) -> list[_Piece]:
    """One for the whole post, or one an attachment where several say a status of their own."""
    speaking = [part for part in post.parts if (head := _heads(part)) and read_heading(head[0]).says_something]
    if len(speaking) > 1:
        return [_Piece(_heads(part), part.markup, (part,), post) for part in speaking]
    own = _first_lines(post.text)
    parts = [head for part in post.parts for head in _heads(part)]
    ordered = [*own, *parts] if own and read_heading(own[0]).says_something else [*parts, *own]
    ordered = [line for line in ordered if squeezed(line) != squeezed(post.username)]
    body = "\n".join([post.markup, *(part.markup for part in post.parts)])
    return [_Piece(tuple(dict.fromkeys(ordered)), body, post.parts, post)]


def _heads(part: Part) -> tuple[str, ...]:
    """Lines that may be a heading; a fallback only where nothing else is said."""
    heads = [head for head in (part.title, *part.pretext.splitlines()[:1], *_first_lines(part.text), part.author) if head.strip()]
    return tuple(heads) or tuple(part.fallback.splitlines()[:1])


def _first_lines(text: str) -> list[str]:
    return [line for line in joined(text.splitlines()[:40]) if line.strip()][:3]


def _of_piece(piece: _Piece, sender: str, *, sure: bool) -> Iterator[Alert]:
    """`sure`: another attachment of the post is an alert, so that a status alone makes this one an alert too."""
    headings = [(line, _heading(line)) for line in piece.headings[:12]]
    rows = _rows(piece)
    listed = [] if rows else _listed(piece)
    if rows:
        yield from _of_rows(rows, piece, headings, sender)
    elif listed:
        for line, heading in listed:
            entry = Entry(lines=[line])
            entry.links.add_links(links_in(line))
            yield _alert(entry, heading, piece, sender, [])
    else:
        entry = _entry(piece)
        heading = _main(headings, piece)
        if is_alert(entry, heading, piece.parts, piece.post) or (sure and heading.says_something):
            yield _alert(entry, heading, piece, sender, headings)


def _heading(line: str) -> Heading:
    """A named value is none, but for its emoji."""
    heading = read_heading(line)
    if (sentence := _sentence(line)) and sentence.strong and not (heading.leads and heading.severity):
        return sentence
    return Heading("", status_of_emoji(line[:60])) if _is_named_value(line) else heading


def _sentence(line: str) -> Heading | None:
    return read_sentence(_EMOJI.sub("", line[:800]))


# ---------------------------------------------------------------- several in one post


def _rows(piece: _Piece) -> list[list[tuple[str, str]]]:
    code = [text for part in (piece.body,) for text in code_in(plain(part))]
    found = [row for text in code for row in json_rows(text)]
    if not found and piece.body.lstrip().startswith(("{", "[{")):
        found = json_rows(plain(piece.body))
    return found or next((rows for text in (*code, plain(piece.body)) if (rows := table_rows(text))), [])


def _of_rows(
    rows: list[list[tuple[str, str]]], piece: _Piece, headings: list[tuple[str, Heading]], sender: str
) -> Iterator[Alert]:
    main = _main(headings, piece)
    for row in rows:
        entry = _entry(piece) if len(rows) == 1 else Entry()
        for key, value in row:
            entry.say(key, value)
        entry.lines.append("; ".join(f"{key}: {value}" for key, value in row))
        if entry.status or entry.severity or main.says_something:
            yield _alert(entry, main, piece, sender, headings if len(rows) == 1 else [])


def _listed(piece: _Piece) -> list[tuple[str, Heading]]:
    """Lines that are an alert each: at least two, and nearly all lines of the post. Two lines must begin alike: a check's output
    below its state (`RECOVERY: load`, `OK - load average: 1.0`) is no second alert."""
    lines = [line for line in _outside_code(piece.body).splitlines()[:MAX_LINES] if line.strip()]
    if len(lines) < 2 or any(part.fields for part in piece.parts):
        return []
    if not read_heading(plain(lines[0])).name or _COUNT.search(lines[0][:200]):
        lines = lines[1:]
    told: list[tuple[str, Heading]] = []
    for read, line in enumerate(lines):
        if (read - len(told)) * 5 > len(lines) or len(told) >= MAX_ALERTS:
            break
        heading = read_heading(plain(line))
        if heading.status and heading.name and not _is_named_value(plain(line)):
            told.append((line, heading))
    enough = len(told) > 2 or len({_beginning(line) for line, _ in told}) == 1 < len(told)
    return told if enough and len(told) * 5 >= min(len(lines), MAX_ALERTS) * 4 else []


def _outside_code(body: str) -> str:
    """Without code blocks, unless they are all that there is."""
    return "\n".join(body.split("```")[::2]).strip() or body


def _beginning(line: str) -> tuple[str, bool]:
    """The marks before its first word (one for any emoji), and whether that is in capitals."""
    match = _FIRST_WORD.match(line)
    return (_EMOJI.sub(":", match[1]) if match else "", bool(match) and match[2].isupper()) if match else ("", False)


def _is_named_value(line: str) -> bool:
    """`Host: web-01`; not `Alert: disk full`, which is a heading."""
    pairs = pairs_of_line(line[:500])
    return bool(pairs) and role_of(pairs[0][0]) not in (None, "name", "description", "started", "ended")


# ---------------------------------------------------------------- one


def _entry(piece: _Piece) -> Entry:
    entry = Entry()
    for part in piece.parts:
        for field in part.fields:
            if field.title or field.value:
                entry.say(field.title or "description", field.value)
    skipped = {line for line in piece.headings[:1] if not _is_named_value(line)}
    for markup in joined(piece.body.splitlines()[:MAX_LINES]):
        text = plain(markup).strip()
        if text and text not in skipped:
            _line(entry, text)
        entry.links.add_links(link for link in links_in(markup) if not link.label.startswith("http"))
    return entry


def _line(entry: Entry, text: str) -> None:
    text = text.replace("```", "").strip()
    if text[:1] in "{}[]" and text.endswith(("{", "}", "[", "]", ",")):
        return
    for key, value in pairs_of_line(text):
        if role_of(key) is not None or not is_status_phrase(key):
            entry.say(key, value)
    if told := _TOLD.search(text[:600]):
        entry.say(told[1], text[told.end() : told.end() + 60])
    entry.lines.append(text)


def _main(headings: Sequence[tuple[str, Heading]], piece: _Piece) -> Heading:
    """The first that says a status in words; else the first sentence that does, else the first with any."""
    said = [heading for _, heading in headings if heading.says_something]
    strong = [heading for heading in said if heading.strong]
    if strong and BUILD in strong[0].tags:
        return max((heading for heading in strong if BUILD in heading.tags), key=lambda heading: len(heading.name))
    if strong:
        return strong[0]
    sentences = (_sentence(line) for line in piece.headings[:12] if not _is_named_value(line))
    found = [sentence for sentence in sentences if sentence]
    return max(found, key=lambda sentence: len(sentence.name)) if found else said[0] if said else Heading("")


def _alert(entry: Entry, heading: Heading, piece: _Piece, sender: str, headings: Sequence[tuple[str, Heading]]) -> Alert:
    name = entry.labels.get("alertname") or entry.name or heading.before or _name(heading, entry, headings)
    name = take_facts(entry, name or "", piece.headings[0] if headings and piece.headings else name or "", heading)
    if name and entry.annotations.get("summary") == name:
        del entry.annotations["summary"]
    status = entry.status or heading.status or (colour_of(piece.parts) if not entry.severity else None) or "firing"
    for part in piece.parts:
        entry.links.add("source", part.title_link).add_links(part.buttons)
    return make_alert(
        sender,
        bare(name),
        status,
        severity=entry.severity or heading.severity or entry.state_level,
        labels=entry.labels,
        annotations=entry.annotations,
        value=entry.value,
        starts_at=entry.starts_at,
        ends_at=entry.ends_at,
        at=entry.at,
        links=entry.links.by_kind(),
        raw="\n".join(dict.fromkeys([*piece.headings[:1], *entry.lines])) if headings else "\n".join(entry.lines),
    )


def _name(heading: Heading, entry: Entry, headings: Sequence[tuple[str, Heading]]) -> str | None:
    """What the heading calls it; else the first line that is no named value, else the summary, else what it is of."""
    first = headings[0][1] if headings else heading
    is_title = bool(first.name) and not first.says_something and not pairs_of_line(headings[0][0])
    if heading.name and not (is_title and not heading.leads and not is_monitor(first.name)):
        return heading.name
    summary = entry.annotations.get("summary") or entry.annotations.get("description")
    lines = (other.name for line, other in headings if other.name and not pairs_of_line(line) and not other.says_something)
    return next(lines, None) or summary or entry.labels.get("service") or entry.labels.get("host")
