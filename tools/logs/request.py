"""What a scan is asked and what it answers: plain values, so that they can cross to another process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class LogFile:
    """One file to read. `name` is relative to its root (the root's own name in front where there are several)."""

    path: str
    name: str
    service: str
    size: int
    modified: float
    gzip: bool
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScanRequest:
    """Times are seconds since the epoch. The time before is [before_from, since); it is empty without a comparison.

    `service` may hold `*`. `seconds` bounds the work: what was not read by then is said in the report.
    """

    files: tuple[LogFile, ...]
    since: float
    until: float
    before_from: float
    service: str | None = None
    level: str | None = None
    text: str | None = None
    regex: str | None = None
    limit: int = 15
    zone: str | None = None
    seconds: float = 20.0


@dataclass(frozen=True)
class TemplateCount:
    """`before` is None where nothing is known of the time before. `status`: new, gone, shifted, same, not_compared."""

    service: str
    level: str | None
    count: int
    before: int | None
    first: float
    last: float
    status: str
    template: str
    line: str
    source: str
    labels: dict[str, str]
    extras: dict[str, str]
    score: float
    cut: bool = False


@dataclass(frozen=True)
class LogLine:
    """One verbatim record. `offset` is its first byte in the (decompressed) file; `cut` says that its end is missing."""

    time: float
    service: str
    level: str | None
    text: str
    source: str
    offset: int
    labels: dict[str, str]
    extras: dict[str, str]
    cut: bool = False


@dataclass(frozen=True)
class ServiceCount:
    service: str
    lines: int
    errors: int
    before: int | None
    errors_before: int | None


@dataclass(frozen=True)
class FileRead:
    """What was read of one file. `first` and `last` are the times that its lines cover, as far as they were seen."""

    name: str
    format: str
    first: float | None
    last: float | None
    bytes_read: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScanReport:
    """The answer of a scan. `incomplete` says in words why not everything was read; `spilled` lines had no repeating form
    and are counted together."""

    templates: tuple[TemplateCount, ...]
    logs: tuple[LogLine, ...]
    services: tuple[ServiceCount, ...]
    files: tuple[FileRead, ...]
    skipped: tuple[tuple[str, str], ...]
    matched: int
    matched_before: int
    template_total: int
    lines_read: int
    seen_services: tuple[str, ...]
    before_covered_from: float | None
    incomplete: str | None = None
    spilled: int = 0
    seconds: float = 0.0


def request_from(values: dict[str, Any]) -> ScanRequest:
    files = tuple(LogFile(**one) for one in values.pop("files"))
    return ScanRequest(files=files, **values)


def report_from(values: dict[str, Any]) -> ScanReport:
    return ScanReport(
        templates=tuple(TemplateCount(**one) for one in values.pop("templates")),
        logs=tuple(LogLine(**one) for one in values.pop("logs")),
        services=tuple(ServiceCount(**one) for one in values.pop("services")),
        files=tuple(FileRead(**{**one, "notes": tuple(one["notes"])}) for one in values.pop("files")),
        skipped=tuple((name, reason) for name, reason in values.pop("skipped")),
        seen_services=tuple(values.pop("seen_services")),
        **values,
    )
