"""A scan's report as the tool's answer: payload, refs with their scope, and the sentence for "nothing found"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from tools.contracts import EvidenceRef
from tools.logs.cut import cut_text
from tools.logs.find import Found
from tools.logs.render import with_extras
from tools.logs.request import FileRead, LogLine, ScanReport, ServiceCount, TemplateCount
from tools.window import Window, stamp

_MAX_NAMES = 40
_LINE_CHARS = 420
_LOG_CHARS = 1_200
_FILTERS = ("service", "level", "text", "regex", "glob")


@dataclass(frozen=True)
class Answer:
    asked: dict[str, Any]
    window: Window
    compare: bool
    report: ScanReport
    found: Found

    # ---------------------------------------------------------------- what was found

    def payload(self) -> dict[str, Any]:
        report = self.report
        return {
            "window": self.window.scope(),
            "before_window": self._before_window(),
            "filters": self._filters(),
            "matched": report.matched,
            "matched_before": report.matched_before if self._compared else None,
            "template_count": report.template_total,
            "common": self._common_labels | self._common_extras,
            "notes": self.notes(),
            "templates": [self._template(one) for one in report.templates],
            "services": [_service(one) for one in report.services],
            "logs": [self._log(one) for one in report.logs],
        }

    def refs(self) -> tuple[EvidenceRef, ...]:
        """Templates first, then services, then lines: where a cap cuts, the least telling go first."""
        report = self.report
        templates = (
            self._ref(f"$.templates[{at}]", self._template_text(one), one.source, one.service, one.labels, one.cut)
            for at, one in enumerate(report.templates)
        )
        services = (
            EvidenceRef(raw_path=f"$.services[{at}]", text=_pairs(_service(one)), scope=self._sums_scope(one.service))
            for at, one in enumerate(report.services)
        )
        logs = (
            self._ref(f"$.logs[{at}]", self._log_text(one), one.source, one.service, one.labels, one.cut)
            for at, one in enumerate(report.logs)
        )
        return (*templates, *services, *logs)

    # ---------------------------------------------------------------- what was not

    def nothing(self) -> str:
        """What was looked for and where, and what time the files do cover: why nothing came."""
        looked = f"query_logs found no line{self._filter_words()} from {self.window} in {len(self.report.files)} files"
        return ". ".join([f"{looked} ({self._names()})", *self._why_nothing()]) + "."

    def _why_nothing(self) -> list[str]:
        said = []
        firsts = [one.first for one in self.report.files if one.first is not None]
        lasts = [one.last for one in self.report.files if one.last is not None]
        if firsts:
            said.append(f"The oldest line of these files is of {_time(min(firsts))}")
        if lasts:
            said.append(f"The newest line seen in them is of {_time(max(lasts))}")
        if "service" in self.asked and self.report.seen_services:
            wanted = self.asked["service"].strip("*").lower()
            seen = sorted(self.report.seen_services, key=lambda name: (wanted not in name.lower(), name))
            said.append(f"Services in these files: {', '.join(seen)}")
        if "text" in self.asked:
            said.append("Text is compared letter by letter, case included")
        return [*said, *self.notes()]

    def details(self) -> dict[str, Any]:
        report = self.report
        partly = [(one.name, note) for one in report.files for note in one.notes if "not stated" not in note]
        skipped = [*report.skipped, *partly, *self.found.skipped]
        return {
            "files": [_file(one) for one in report.files[:_MAX_NAMES]],
            "file_count": len(report.files),
            "skipped": [{"name": name, "reason": reason} for name, reason in skipped[:_MAX_NAMES]],
            "skipped_count": len(skipped),
            "notes": self.notes(),
            "lines_read": report.lines_read,
            "bytes_read": sum(one.bytes_read for one in report.files),
            "scan_seconds": report.seconds,
            "source_documents": [one.name for one in report.files[:_MAX_NAMES]],
        }

    def notes(self) -> list[str]:
        """What a reader must know to read the numbers right."""
        report, said = self.report, []
        if report.incomplete:
            said.append(f"Incomplete: {report.incomplete}. Counts are lower bounds, nothing was compared")
        elif self.compare and not self._compared:
            said.append("The files hold no lines of the time before, so nothing can be called new or gone")
        elif self._compared and report.before_covered_from is not None and report.before_covered_from > self._before_start:
            said.append(f"The time before is covered only from {_time(report.before_covered_from)}")
        late = [one for one in report.files if one.first is not None and one.first > self._before_start]
        if self._compared and len(late) < len(report.files):
            said += [f"{one.name} begins only at {_time(one.first or 0)}: what is new in it may have been in an older file"
                     for one in late[:5] if one.first is not None and one.first < self.window.end.timestamp()]
        if report.spilled:
            said.append(f"{report.spilled} lines have no repeating form and are counted together: narrow by text")
        assumed = {note for one in report.files for note in one.notes if "not stated" in note}
        said += [f"{note[0].upper()}{note[1:]}" for note in sorted(assumed)]
        said += [f"{one.name}: {note}" for one in report.files for note in one.notes if note not in assumed][:10]
        said += [f"{name} was not read: {reason}" for name, reason in report.skipped[:10]]
        return said

    # ---------------------------------------------------------------- parts

    @cached_property
    def _compared(self) -> bool:
        report = self.report
        if not report.templates:
            return self.compare and report.before_covered_from is not None and report.incomplete is None
        return any(one.status != "not_compared" for one in report.templates)

    @property
    def _before_start(self) -> float:
        return self.window.before.start.timestamp()

    def _before_window(self) -> dict[str, str] | None:
        if not self._compared:
            return None
        covered = self.report.before_covered_from
        return self.window.before.scope() | ({"covered_from": _time(covered)} if covered is not None else {})

    @cached_property
    def _shown(self) -> list[TemplateCount | LogLine]:
        return [*self.report.templates, *self.report.logs]

    @cached_property
    def _common_labels(self) -> dict[str, str]:
        return _common([one.labels for one in self._shown])

    @cached_property
    def _common_extras(self) -> dict[str, str]:
        return _common([one.extras for one in self._shown])

    def _own(self, extras: dict[str, str]) -> dict[str, str]:
        return {key: value for key, value in extras.items() if key not in self._common_extras}

    def _template(self, one: TemplateCount) -> dict[str, Any]:
        return {
            "service": one.service,
            "level": one.level,
            "count": one.count,
            "before": one.before,
            "status": one.status,
            "first": _time(one.first),
            "last": _time(one.last),
            "score": one.score,
            "template": one.template,
            "line": self._line(one),
            "source": one.source,
        }

    def _line(self, one: TemplateCount) -> str:
        return cut_text(with_extras(one.line, self._own(one.extras)), _LINE_CHARS)

    def _template_text(self, one: TemplateCount) -> str:
        named = {"service": one.service, "level": one.level, "count": one.count, "before": one.before,
                 "status": one.status if one.before is not None else None,
                 "first": _time(one.first), "last": _time(one.last)}
        return f'{_pairs(named)} line="{self._line(one)}"'

    def _log(self, one: LogLine) -> dict[str, Any]:
        cut = {"cut": True} if one.cut else {}
        return {"time": _time(one.time), "service": one.service, "level": one.level, "text": self._log_text(one),
                "source": one.source, "offset": one.offset, **cut}

    def _log_text(self, one: LogLine) -> str:
        return cut_text(with_extras(one.text, self._own(one.extras)), _LOG_CHARS)

    def _ref(self, path: str, text: str, source: str, service: str, labels: dict[str, str], cut: bool) -> EvidenceRef:
        scope = {"source": source, "service": service, **self.window_scope(), **labels}
        assumed = next((note for one in self.report.files if one.name == source for note in one.notes
                        if note.startswith("time zone not stated")), None)
        scope |= {"zone": assumed} if assumed else {}
        return EvidenceRef(raw_path=path, text=text, scope=scope | ({"truncated": "yes"} if cut else {}))

    def window_scope(self) -> dict[str, str]:
        before = {"before_from": stamp(self.window.before.start)} if self._compared else {}
        return self.window.scope() | before

    def _sums_scope(self, service: str) -> dict[str, str]:
        names = {one.name for one in self.report.files}
        source = names.pop() if len(names) == 1 else f"{len(names)} log files"
        return {"source": source, "service": service, **self.window_scope(), **self._filters()}

    def _filters(self) -> dict[str, str]:
        return {name: str(self.asked[name]) for name in _FILTERS if name in self.asked and name != "service"} | (
            {"service_filter": str(self.asked["service"])} if "service" in self.asked else {}
        )

    def _filter_words(self) -> str:
        words = {"service": "of service {}", "level": "of level {} or above", "text": "with the text {!r}",
                 "regex": "in which {!r} is found", "glob": "of files {!r}"}
        said = [form.format(self.asked[name]) for name, form in words.items() if name in self.asked]
        return "".join(f" {part}" for part in said)

    def _names(self) -> str:
        names = [one.name for one in self.report.files]
        return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _service(one: ServiceCount) -> dict[str, Any]:
    return {"service": one.service, "lines": one.lines, "before": one.before, "errors": one.errors,
            "errors_before": one.errors_before}


def _file(one: FileRead) -> dict[str, Any]:
    return {
        "name": one.name,
        "format": one.format,
        "first": _time(one.first) if one.first is not None else None,
        "last": _time(one.last) if one.last is not None else None,
        "notes": list(one.notes),
    }


def _pairs(values: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items() if value is not None)


def _common(maps: Sequence[dict[str, str]]) -> dict[str, str]:
    """What all of at least two share: said once."""
    if len(maps) < 2:
        return {}
    return {key: value for key, value in maps[0].items() if all(one.get(key) == value for one in maps)}


def _time(seconds: float) -> str:
    return stamp(datetime.fromtimestamp(round(seconds, 3), UTC))
