"""What a heading says beside name and status: a host, a level in capitals, a time."""

from __future__ import annotations

import re

from bot.alert_reading.entries import Entry
from bot.alert_reading.headings import Heading
from bot.alert_reading.times import read_time

_HOST_LIKE = r"(?!v?\d+(?:\.\d+){1,2}(?:\s|\Z)|p\d+)[a-z](?=[\w.-]*\d)(?=[\w.]*[.-])[\w.-]*\w(?::\d{2,5})?|(?:\d{1,3}\.){3}\d{1,3}(?::\d{2,5})?|(?!v\d)[a-z][\w-]*(?:\.[\w-]+){2,6}(?::\d{2,5})?"
# A time that a heading carries: at its front, or behind "since".
_SINCE = re.compile(r"(?:\bsince\s|\A\[?)\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d[^\n]{0,30}", re.IGNORECASE)
ON_HOST = re.compile(
    rf"(?:\b(?:on|host|device|server|serveur|servidor|node|instance)\s|主机\s?|节点\s?|服务器\s?|ホスト\s?|サーバー?\s?|\b(?:на|хост\w*|сервер\w*|узл\w+)\s|호스트\s?|서버\s?|(?:على|المضيف|الخادم)\s)[`*'\"]?({_HOST_LIKE})(?![\w/])",
    re.IGNORECASE,
)
_NAGIOS = re.compile(r"\A(?:Service Alert: ?|Host Alert: ?|Service |Host )?([\w.-]{1,100})/([^\n:]{1,200}?)(?::\s[^\n]{0,400})?\Z")
# Levels in capitals inside a heading are levels, in small letters they may be part of its sentence.
_LEVEL = re.compile(r"\b(CRITICAL|CRIT|WARNING|WARN|MAJOR|MINOR|DISASTER|EMERGENCY|P[1-5]|SEV-?[1-5])\b")


def take_facts(entry: Entry, name: str, line: str, heading: Heading) -> str:
    """Puts what `name` and its whole `line` say into the entry, where nothing stands yet, and gives the name that is left."""
    name = _first_cell(entry, name)
    _host(entry, name if ON_HOST.search(name[:1_000]) else line, heading)
    since = _SINCE.search(line[:600])
    entry.at = entry.at or (read_time(since[0]) if since else None)
    if entry.severity is None and heading.severity is None and (level := _LEVEL.search(name)):
        entry.severity = level[1]
    match = _NAGIOS.match(name)
    if match and heading.status and not entry.name and entry.labels.get("host", match[1]) == match[1]:
        entry.labels["host"], entry.labels["service"], name = match[1], match[2], match[2]
    return name


def _first_cell(entry: Entry, name: str) -> str:
    """Of `cpu-high | web-01 | 97%` the first; a host among the others is one."""
    cells = [cell.strip() for cell in re.split(r" [|·•] ", name)]
    host = next((cell for cell in cells[1:] if re.fullmatch(_HOST_LIKE, cell, re.IGNORECASE)), None)
    if host and "instance" not in entry.labels:
        entry.labels.setdefault("host", host)
    return cells[0] if len(cells) > 1 else name


def _host(entry: Entry, name: str, heading: Heading) -> None:
    """A host that the heading names: behind a word for one, or in brackets."""
    if "host" in entry.labels or "instance" in entry.labels:
        return
    tagged = next((tag for tag in heading.tags if re.fullmatch(_HOST_LIKE, tag, re.IGNORECASE)), None)
    match = ON_HOST.search(name[:1_000])
    if host := tagged or (match[1] if match else None):
        is_instance = not tagged and match is not None and match[0].casefold().startswith("instance")
        entry.labels["instance" if is_instance else "host"] = host
