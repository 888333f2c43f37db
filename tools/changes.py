"""Deploys, config and feature-flag changes from a file that a pipeline appends to."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from tools.errors import ToolConfigError, ToolFailed
from tools.window import Window

_MAX_LINE_CHARS = 20_000
_MAX_BAD_LINES = 5
_TIME_FIELDS = ("time", "timestamp", "ts", "at", "deployed_at")


@dataclass(frozen=True)
class Change:
    """One change; `fields` are its own (service, kind, summary, author, version, …), `scope` says where it was read."""

    at: datetime
    fields: dict[str, str]
    scope: dict[str, str]

    @property
    def service(self) -> str:
        return self.fields.get("service", "")


@dataclass
class FoundChanges:
    """`bad_lines` says which lines could not be read (the first few), `bad_count` how many; `read` counts the rest."""

    changes: list[Change] = field(default_factory=list)
    read: int = 0
    bad_count: int = 0
    bad_lines: list[str] = field(default_factory=list)


class ChangeSource:
    """A JSON-lines or CSV file (by its suffix: .csv is CSV). Times without a zone are read in `zone`.

    Opens nothing before `find`; the file is read anew each time, since a pipeline appends to it.
    """

    def __init__(self, path: Path, zone: ZoneInfo | None = None) -> None:
        self.path = path
        self._zone = zone or UTC

    def check(self) -> None:
        """Raises ToolConfigError unless the file can be read."""
        try:
            with self.path.open("rb") as file:
                file.read(1)
        except OSError as error:
            raise ToolConfigError(
                f"changes file {self.path} cannot be read: {error.strerror}. Set changes_file"
            ) from error

    def find(self, window: Window) -> FoundChanges:
        """The changes of the window, oldest first. Blocking. Raises ToolFailed where the file cannot be read."""
        found = FoundChanges()
        try:
            with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
                rows = _csv_rows(file) if self.path.suffix.lower() == ".csv" else _json_rows(file)
                for number, row in rows:
                    self._collect(found, number, row, window)
        except (OSError, csv.Error) as error:
            raise ToolFailed(f"the changes file {self.path.name} cannot be read: {error}") from error
        found.changes.sort(key=lambda change: change.at)
        return found

    def _collect(self, found: FoundChanges, number: int, row: object, window: Window) -> None:
        try:
            change = self._change(row)
        except ValueError as error:
            found.bad_count += 1
            if len(found.bad_lines) < _MAX_BAD_LINES:
                found.bad_lines.append(f"line {number}: {error}")
            return
        found.read += 1
        if window.start <= change.at <= window.end:
            found.changes.append(change)

    def _change(self, row: object) -> Change:
        if not isinstance(row, dict):
            raise ValueError(row if isinstance(row, str) else "is not an object")
        fields = {str(key): _plain(value) for key, value in row.items() if key and value not in (None, "")}
        name = next((name for name in _TIME_FIELDS if name in fields), None)
        if name is None:
            raise ValueError("has no time")
        at = _moment(fields.pop(name))
        return Change(at if at.tzinfo else at.replace(tzinfo=self._zone), fields, {"source": self.path.name})


def _json_rows(file: Iterable[str]) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line) if len(line) <= _MAX_LINE_CHARS else f"has over {_MAX_LINE_CHARS} characters"
        except ValueError:
            yield number, "is not JSON"


def _csv_rows(file: Iterable[str]) -> Iterator[tuple[int, object]]:
    reader = csv.DictReader(file)
    for row in reader:
        yield reader.line_num, row


def _moment(text: str) -> datetime:
    try:
        if text.replace(".", "", 1).isdigit():
            seconds = float(text)
            return datetime.fromtimestamp(seconds / 1000 if seconds >= 1e12 else seconds, UTC)
        return datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"time {text[:40]!r} cannot be read") from error


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
