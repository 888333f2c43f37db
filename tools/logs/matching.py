"""Which records a scan is asked for, and the byte strings that let it pass over blocks without looking at lines."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from tools.logs.formats import CriReader, JsonReader, TextReader
from tools.logs.levels import at_least, needles
from tools.logs.read import Source
from tools.logs.request import LogFile, ScanRequest


@dataclass
class Matching:
    """The request's filters. `text` stands in the line as written, or as JSON escapes it."""

    request: ScanRequest
    levels: frozenset[str] | None = None
    _texts: tuple[bytes, ...] = ()
    _regex: re.Pattern[str] | None = None
    _services: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ScanRequest) -> Matching:
        return cls(
            request,
            at_least(request.level) if request.level else None,
            _spellings(request.text) if request.text else (),
            re.compile(request.regex) if request.regex else None,
        )

    def service(self, name: str) -> bool:
        wanted = self.request.service
        if wanted is None:
            return True
        known = self._services.get(name)
        if known is None:
            known = self._services[name] = fnmatch.fnmatchcase(name, wanted)
        return known

    def whole_file(self, file: LogFile) -> bool:
        """The wanted service is the file's workload: its pod is called cart-7d97b69596-lmsfv."""
        wanted = self.request.service
        return wanted is None or file.labels.get("pod", "").startswith(f"{wanted}-")

    def words(self, raw: bytes, text: str) -> bool:
        """`raw` is the record as it stands in the file, `text` its decoded message."""
        if self._texts and not any(one in raw for one in self._texts):
            return False
        if self._regex is None:
            return True
        if self._regex.search(raw.decode("utf-8", "replace")):
            return True
        return b"\\" in raw and self._regex.search(text) is not None

    def can_match(self, source: Source) -> bool:
        """False for a file that has one service, and not the wanted one."""
        reader = source.reader
        by_record = isinstance(reader, JsonReader | CriReader)
        by_record = by_record or (isinstance(reader, TextReader) and (reader.logfmt or reader.syslog))
        return by_record or self.service(source.file.service) or self.whole_file(source.file)

    def needles(self, source: Source) -> tuple[bytes, ...]:
        """Byte strings of which every record wanted from this file holds one; empty where there are none to go by."""
        if self._texts:
            return self._texts
        request, reader = self.request, source.reader
        wanted = request.service
        if wanted and not any(mark in wanted for mark in "*?[") and not self._is_of(source.file, wanted):
            return _spellings(wanted)
        if request.level and reader.name not in ("clf", "klog", "cri") and not _numeric_levels(source):
            return needles(request.level, source.head)
        return ()

    def _is_of(self, file: LogFile, wanted: str) -> bool:
        return file.service == wanted or self.whole_file(file)


@dataclass
class NextOf:
    """The next place of any of several byte strings; each of them reads the block once."""

    needles: Sequence[bytes]

    def places(self, data: bytearray, length: int) -> Generator[int, int, None]:
        """Rising places; send() the byte up to which the caller has dealt with."""
        ahead = {needle: data.find(needle, 0, length) for needle in self.needles}
        while live := [place for place in ahead.values() if place >= 0]:
            place = min(live)
            done = yield place
            for needle, known in ahead.items():
                if 0 <= known < max(done or 0, place + 1):
                    ahead[needle] = data.find(needle, max(done or 0, place + 1), length)


def _spellings(text: str) -> tuple[bytes, ...]:
    plain = text.encode("utf-8", "replace")
    escaped = json.dumps(text)[1:-1].encode()
    escaped_utf8 = json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    return tuple(dict.fromkeys((plain, escaped, escaped_utf8)))


def _numeric_levels(source: Source) -> bool:
    """pino writes 50 for ERROR, syslog's PRIORITY 3."""
    return isinstance(source.reader, JsonReader) and bool(
        re.search(rb'"(?:level|severity|lvl|PRIORITY)"\s*:\s*"?\d', source.head)
    )
