"""From counts to the report: merged, ranked and cut templates, the verbatim lines that go with them, the sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools.logs.compare import Baseline, by_service, ranked, spread
from tools.logs.levels import level_in, level_rank
from tools.logs.read import BROKEN, Source, assumptions, opened
from tools.logs.records import records
from tools.logs.render import show
from tools.logs.request import FileRead, LogLine, ScanReport, ScanRequest, TemplateCount
from tools.logs.templates import Kind, Tally

_LINE_CHARS = 300
_LOG_CHARS = 1_000
_SERVICES = 12
_AROUND = 1 << 14
_SEEK_IN_GZIP = 1 << 25
_RARE = 3


@dataclass(frozen=True)
class Kept:
    """A record of the window, kept as it stood."""

    moment: float
    service: str
    level: str | None
    file: int
    offset: int
    raw: bytes


@dataclass
class Report:
    request: ScanRequest
    tally: Tally
    kept: list[Kept]
    sources: dict[int, Source]
    skipped: list[tuple[str, str]]

    def made(self, incomplete: str | None, lines: int, saw_before: bool, seconds: float) -> ScanReport:
        kinds = self.tally.merged()
        matched = sum(kind.count for kind in kinds)
        before = sum(kind.before for kind in kinds)
        covered = self._covered_from()
        baseline = Baseline(None if incomplete or not saw_before else self._scale(covered))
        order = ranked(kinds, baseline)
        return ScanReport(
            templates=tuple(self._template(kind, baseline) for kind in spread(order, self.request.limit)),
            logs=tuple(self._log(one) for one in self._lines(order, baseline, matched)),
            services=tuple(by_service(kinds, baseline, _SERVICES)),
            files=tuple(_file_read(source) for source in self.sources.values()),
            skipped=tuple(self.skipped),
            matched=matched,
            matched_before=before,
            template_total=len(kinds),
            lines_read=lines,
            seen_services=() if kinds else self._seen_services(),
            before_covered_from=covered,
            incomplete=incomplete,
            spilled=self.tally.spilled,
            seconds=round(seconds, 3),
        )

    # ---------------------------------------------------------------- coverage

    def _covered_from(self) -> float | None:
        """From when on the files hold lines of the time before; None where they hold none of it."""
        firsts = [source.first for source in self.sources.values() if source.first is not None]
        start = max(min(firsts, default=self.request.since), self.request.before_from)
        return start if start < self.request.since else None

    def _scale(self, covered: float | None) -> float | None:
        if covered is None or self.request.before_from >= self.request.since:
            return None
        lasts = [source.last for source in self.sources.values()]
        known = [last for last in lasts if last is not None]
        until = min(self.request.until, max(known)) if known and len(known) == len(lasts) else self.request.until
        window = max(until - self.request.since, 1.0)
        return min(max(window / (self.request.since - covered), 0.1), 10.0)

    def _seen_services(self) -> tuple[str, ...]:
        """Services of the files' first lines: what a caller may have meant by a service that matched nothing."""
        seen: dict[str, None] = {}
        for source in self.sources.values():
            for line in source.head.split(b"\n")[:200]:
                parsed = source.reader.parse(line)
                if parsed is not None:
                    seen[parsed[1] or source.file.service] = None
        return tuple(sorted(seen)[:60])

    # ---------------------------------------------------------------- templates and lines

    def _template(self, kind: Kind, baseline: Baseline) -> TemplateCount:
        source = self.sources[kind.file]
        shown = show(kind.sample, source.reader, _LINE_CHARS)
        return TemplateCount(
            service=kind.service,
            level=kind.level,
            count=kind.count,
            before=kind.before if baseline.scale is not None else None,
            first=kind.first,
            last=kind.last,
            status=baseline.status(kind),
            template=kind.template.strip()[:_LINE_CHARS],
            line=shown.text,
            source=source.file.name,
            labels={**source.file.labels, **shown.labels},
            extras=shown.extras,
            score=round(baseline.score(kind), 3),
            cut=shown.cut,
        )

    def _lines(self, order: list[Kind], baseline: Baseline, matched: int) -> list[Kept]:
        """All that matched where they fit; else the top templates' lines that were cut, and the rare ones with their
        neighbours. A line that stands whole in its template is not said twice."""
        if matched <= self.request.limit:
            return sorted(self.kept, key=lambda one: one.moment)[: self.request.limit]
        chosen: dict[tuple[int, int], Kept] = {}
        for kind in (kind for kind in order if kind.count):
            around = list(self._around(kind)) if kind.count <= _RARE and len(chosen) < self.request.limit // 2 else []
            own = [Kept(kind.at, kind.service, kind.level, kind.file, kind.offset, kind.sample)]
            for one in own + around if around or len(kind.sample) > _LINE_CHARS else []:
                if len(chosen) < self.request.limit:
                    chosen.setdefault((one.file, one.offset), one)
            if len(chosen) >= self.request.limit or not _worth_lines(kind, baseline):
                break
        return sorted(chosen.values(), key=lambda one: one.moment)

    def _around(self, kind: Kind) -> Iterator[Kept]:
        """One record of the same service before it and one after it, from the same file."""
        source = self.sources[kind.file]
        start = max(0, kind.offset - _AROUND)
        if source.file.gzip and kind.offset > _SEEK_IN_GZIP:
            return
        try:
            with opened(source.file) as stream:
                stream.seek(start)
                data = stream.read(2 * _AROUND)
        except BROKEN:
            return
        records = list(_same_service(source, data, start, kind))
        yield from [one for one in records if one.offset < kind.offset][-1:]
        yield from [one for one in records if one.offset > kind.offset][:1]

    def _log(self, kept: Kept) -> LogLine:
        source = self.sources[kept.file]
        shown = show(kept.raw, source.reader, _LOG_CHARS)
        labels = {**source.file.labels, **shown.labels}
        return LogLine(kept.moment, kept.service, kept.level, shown.text, source.file.name, kept.offset, labels,
                       shown.extras, shown.cut)


def _worth_lines(kind: Kind, baseline: Baseline) -> bool:
    return baseline.status(kind) in ("new", "shifted", "not_compared") or level_rank(kind.level) >= level_rank("WARN")


def _same_service(source: Source, data: bytes, start: int, kind: Kind) -> Iterator[Kept]:
    whole = data[: data.rfind(b"\n") + 1]
    offset = start + (whole.find(b"\n") + 1 if start else 0)
    for parsed, lines, size in records(source.reader, whole[offset - start :]):
        if parsed is not None and (parsed[1] or source.file.service) == kind.service:
            level = parsed[2] or level_in(parsed[3])
            yield Kept(parsed[0], kind.service, level, kind.file, offset, b"\n".join(lines)[:4096])
        offset += size


def _file_read(source: Source) -> FileRead:
    notes = (*assumptions(source), *dict.fromkeys(source.notes))
    return FileRead(source.file.name, source.reader.name, source.first, source.last, source.bytes_read, notes[:20])
