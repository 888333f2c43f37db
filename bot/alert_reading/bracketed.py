"""Titles of Prometheus' kind, `[FIRING:2, RESOLVED:1] HighErrorRate checkout (shop critical)`, and posts below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Alert, AlertStatus
from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.entries import Entry, entries_of
from bot.alert_reading.parsed import Reading
from bot.alert_reading.post import Part, Post
from bot.alert_reading.words import severity_of, status_of

MAX_ALERTS = 500
_GRAVEST_FIRST: tuple[AlertStatus, ...] = ("firing", "no_data", "resolved")
_WORD = r"firing|resolved|alerting|ok|no ?data|pending|paused|error|触发|恢复|告警"
_TITLE = re.compile(rf"\A[^\w\[]{{0,12}}(?::[a-z0-9_+-]{{1,40}}:\s*){{0,3}}[^\w\[]{{0,12}}\[[^\w\]]{{0,8}}((?:{_WORD})\b[^\]\n]{{0,60}})\]\s*(.*)", re.IGNORECASE | re.DOTALL)  # fmt: skip
_COUNTS = re.compile(rf"({_WORD})\s*[:：]?\s*(\d{{1,6}})?", re.IGNORECASE)
_PAIR = re.compile(r'([A-Za-z_]\w{0,60})\s?=\s?"([^"\n]{0,300})"')
# An alert's name as rules have it: one word of several parts. What follows it in a title is the group's other values.
_IDENTIFIER = re.compile(r"(?:(?=\w*[a-z0-9][A-Z])[A-Za-z]\w*|[A-Z]{2,}[a-z]\w+|[A-Za-z0-9]+(?:[_.:-][A-Za-z0-9]+)+|Watchdog|(?=\S*[^\W\d_])[^\x00-\x7f]\S*)\Z")
_PROMETHEUS = re.compile(r"firing|resolved|触发|恢复|告警", re.IGNORECASE)
_TRAILING = re.compile(r"(?:[\s*_]|:[a-z][a-z0-9_+-]{1,40}:|[\u2600-\u27bf\ufe0f\U0001f300-\U0001faff])+\Z")
_TAIL = re.compile(r"\s\|\s(https?://\S+)\s*\Z")


@dataclass(frozen=True)
class Title:
    """`count`: firing and resolved ones together. `group` is all before the brackets; `labels` where the title names them;
    `names_rule`: its name is the label alertname (not so in `[Alerting] …`)."""

    status: AlertStatus
    count: int
    name: str | None
    group: str
    severity: str | None
    labels: dict[str, str]
    names_rule: bool = True


def title_of(text: str) -> Title | None:
    match = _TITLE.match(text[:2_000].strip())
    if match is None:
        return None
    counts = [(status_of(word.replace(" ", "")) or status_of(word), int(number or 1)) for word, number in _COUNTS.findall(match[1])]
    found = {status for status, _ in counts}
    status: AlertStatus = next((each for each in _GRAVEST_FIRST if each in found), "firing")
    group, inside = _split(_TRAILING.sub("", _TAIL.sub("", match[2].strip()).partition("\n")[0]).strip("*_ "))
    labels = dict(_PAIR.findall(inside))
    name, others = _name(group, inside)
    return Title(
        status=status,
        count=max(1, sum(number for _, number in counts)),
        name=name,
        group=group,
        severity=labels.get("severity") or _severity(f"{others} {inside}"),
        labels=labels,
        names_rule=_PROMETHEUS.match(match[1]) is not None,
    )


def read_bracketed(post: Post, sender: str) -> Reading | None:
    """Each part below a title of its own is a group; None where no part has one."""
    groups: list[tuple[Part, Title, list[Entry]]] = []
    left = MAX_ALERTS
    for part, title in ((part, title) for part in _candidates(post) if (title := _part_title(part))):
        groups.append((part, title, entries_of_part(part, title)[:left] if left > 0 else []))
        left -= len(groups[-1][2])
    if not groups:
        return None
    alerts = tuple(alert for part, title, entries in groups for alert in _alerts(part, title, entries or [Entry()], sender))
    count = sum(max(title.count, len(entries)) for _, title, entries in groups)
    return Reading(alerts, count=count)


def entries_of_part(part: Part, title: Title) -> list[Entry]:
    lines = part.markup.splitlines()
    body = "\n".join(lines[1:]) if lines and not part.title and title_of(part.text) else part.markup
    return entries_of(body, only_one=title.count == 1 and title.status != "resolved")


def _candidates(post: Post) -> Iterator[Part]:
    yield from post.parts
    if not any(_part_title(part) for part in post.parts):
        yield Part(kind="text", text=post.text, markup=post.markup, links=post.links, fields=post.fields)


def _part_title(part: Part) -> Title | None:
    heads = (part.title, part.pretext, part.text, part.fallback)
    return next((title for head in heads if head and (title := title_of(head))), None)


def _split(text: str) -> tuple[str, str]:
    """Group values and the common ones in brackets behind them."""
    text = text.strip()
    if not text.endswith((")", "…", "...")) or "(" not in text:
        return text, ""
    start = _opening(text)
    return text[:start].strip(), text[start + 1 :].rstrip(")….")


def _opening(text: str) -> int:
    """Where the last bracket opens that closes at the end; a value may hold brackets of its own."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == ")") - (text[place] == "(")
        if text[place] == "(" and depth <= 0:
            return place
    return text.index("(")


def _name(group: str, inside: str) -> tuple[str | None, str]:
    """The name and the other values of the group. Without a group the first of the common values is the name (it sorts
    first), if it is a rule's name and no level or host."""
    if not group:
        first, _, rest = inside.partition(" ")
        is_name = bool(re.match(r"[A-Z][a-z0-9]+[A-Z]\w*\Z", first)) and "=" not in first
        return (first, rest) if is_name else (None, "")
    first, _, rest = group.partition(" ")
    if _IDENTIFIER.match(first) and (first.isascii() or " " not in group or _plain_values(rest)):
        return first, rest
    return group, ""


def _plain_values(rest: str) -> bool:
    """Whether all of it are values in Latin letters, behind a name in another script."""
    return rest.isascii()


def _severity(values: str) -> str | None:
    """The last level among the values: labels sort by name, so severity stands late."""
    words = [word.strip(",;|") for word in values.split()]
    return next((word for word in reversed(words) if severity_of(word)), None)


def _alerts(part: Part, title: Title, entries: list[Entry], sender: str) -> Iterator[Alert]:
    for entry in entries:
        for field in part.fields:
            entry.say(field.title or "note", field.value)
        yield _alert(entry, part, title, sender, alone=len(entries) == 1)


def _alert(entry: Entry, part: Part, title: Title, sender: str, *, alone: bool) -> Alert:
    labels = title.labels | entry.labels
    name = labels.get("alertname") or title.name or entry.name
    if name and title.names_rule:
        labels = {"alertname": name} | labels
    status = entry.group_status or title.status
    if name == "DatasourceNoData" and status == "firing":
        status = "no_data"
    return make_alert(
        sender,
        name,
        status,
        severity=_first_level(entry.labels.get("severity"), title.severity, entry.severity),
        labels=labels,
        annotations=entry.annotations,
        value=entry.value,
        starts_at=entry.starts_at,
        ends_at=entry.ends_at,
        at=entry.at,
        links=_links(entry, part).by_kind(),
        group=title.group if alone and labels.keys() <= {"alertname"} else None,
        raw="\n".join(piece for piece in (part.title or part.fallback, *entry.lines) if piece),
    )


def _first_level(*said: str | None) -> str | None:
    """A label's, then the title's, then what the text says: that may be anybody's words. One that is known counts first."""
    return next((level for level in said if severity_of(level)), None) or next((level for level in said if level), None)


def _links(entry: Entry, part: Part) -> Links:
    links = entry.links.add_links(part.buttons)
    tail = _TAIL.search(part.fallback[-1_000:])
    return links.add("source", part.title_link).add("source", tail[1] if tail else "")
