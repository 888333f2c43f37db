"""The lists of a report: whom it reaches, what changed, which runbooks and which alerts there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.answer import marked
from agents.contracts import BlastEntry
from bot.answers.told_report import ToldReport
from bot.blocks.proven import source_spans
from bot.blocks.reader import Reader
from bot.blocks.rich import Element, Span, bullets, link, section, spans
from bot.blocks.text import shown_pieces
from bot.shapes.rules import units

_GROUP_CHARS, _ENTITY_CHARS, _MARKS = 360, 120, 3
_CHANGES, _CHANGE_CHARS = 4, 260
_ALERTS, _ALERT_CHARS = 8, 120
_LINKS, _LINK_CHARS = 5, 300


def blast_elements(told: ToldReport, reader: Reader) -> tuple[list[Element], bool]:
    """One line a group that has members, and whether one was left out."""
    report = told.report
    groups = [
        (name, _entities(entries, told))
        for name, entries in (
            ("triage_affected", report.affected),
            ("triage_healthy", report.healthy),
            ("triage_other_reason", report.other_reason),
        )
    ]
    groups.append(("triage_not_checked", [name for name in report.not_checked if name.strip()]))
    rows = [_group(reader.say(name), members, reader) for name, members in groups if members]
    if not rows:
        return [], False
    heading = section(spans(reader.say("triage_reach"), bold=True))
    return [heading, bullets(row for row, _ in rows)], any(left for _, left in rows)


def change_elements(told: ToldReport, reader: Reader) -> tuple[list[Element], bool]:
    rows: list[list[Span]] = []
    cut = False
    for allowed in told.changes[:_CHANGES]:
        first, *rest = shown_pieces(marked(allowed), _CHANGE_CHARS)
        rows.append(spans(f"{first.rstrip()} …" if rest else first, reader.link_hosts) + source_spans([allowed]))
        cut = cut or bool(rest)
    return _rows("triage_changes", rows, len(told.changes) - len(rows), reader, cut)


def link_elements(told: ToldReport, reader: Reader) -> tuple[list[Element], bool]:
    """The runbooks that the head does not show."""
    links = told.runbooks[1:]
    short = [url for url in links if units(url) <= _LINK_CHARS][:_LINKS]
    return _rows("triage_runbooks", [link(url) for url in short], len(links) - len(short), reader, cut=False)


def alert_elements(told: ToldReport, reader: Reader) -> tuple[list[Element], bool]:
    """What the incident is made of, where that is more than one alert."""
    counts = told.alert_counts
    if len(told.report.alerts) < 2:
        return [], False
    named = [(shown_pieces(name, _ALERT_CHARS), count) for name, count in counts[:_ALERTS]]
    rows = [spans(f"{pieces[0].rstrip()}{' …' if pieces[1:] else ''}{_times(count)}") for pieces, count in named]
    title = reader.say("triage_alerts", count=len(told.report.alerts))
    cut = any(pieces[1:] for pieces, _ in named)
    return _rows(title, rows, len(counts) - len(rows), reader, cut, is_key=False)


def _rows(
    heading: str, rows: Sequence[Iterable[Span]], more: int, reader: Reader, cut: bool, *, is_key: bool = True
) -> tuple[list[Element], bool]:
    if not rows and more <= 0:
        return [], False
    elements = [section(spans(reader.say(heading) if is_key else heading, bold=True))]
    elements += [bullets(rows)] if rows else []
    elements += [section(spans(reader.say("items_left", count=more), italic=True))] if more > 0 else []
    return elements, cut or more > 0


def _times(count: int) -> str:
    return f" × {count}" if count > 1 else ""


def _entities(entries: Sequence[BlastEntry], told: ToldReport) -> list[str]:
    return [f"{entry.entity} {told.marks_of(entry, _MARKS)}".strip() for entry in entries]


def _group(label: str, members: Sequence[str], reader: Reader) -> tuple[list[Span], bool]:
    shown: list[str] = []
    room, cut = _GROUP_CHARS, False
    for member in members:
        first, *rest = shown_pieces(member, _ENTITY_CHARS)
        if room < units(first):
            break
        shown.append(f"{first.rstrip()} …" if rest else first)
        room -= units(first) + 2
        cut = cut or bool(rest)
    more = len(members) - len(shown)
    tail = spans(f" {reader.say('triage_group_left', count=more)}", italic=True) if more else []
    return [*spans(f"{label} ", bold=True), *spans(", ".join(shown)), *tail], cut or more > 0
