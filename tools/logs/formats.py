"""The formats of log lines: one reader a file, chosen from a sample, that turns a line into (time, service, level, text)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tools.logs.levels import canonical
from tools.logs.timestamps import Clock, StampReader, choose_kinds, kinds, read_value

# seconds since the epoch, service, stated level, text to make a template of
Parsed = tuple[float, str | None, str | None, str]

TIME_KEYS = ("ts", "time", "timestamp", "@timestamp", "t", "datetime", "eventTime", "asctime", "date",
             "__REALTIME_TIMESTAMP")
LEVEL_KEYS = ("level", "severity", "lvl", "levelname", "log.level", "loglevel", "severity_text", "SeverityText",
              "PRIORITY")
TEXT_KEYS = ("msg", "message", "log", "MESSAGE", "event", "body", "Body", "textPayload", "jsonPayload.message",
             "short_message", "line")
SERVICE_KEYS = ("service", "service.name", "service_name", "serviceName", "resource.service.name", "app", "application",
                "app_name", "kubernetes.labels.app", "kubernetes.labels.app.kubernetes.io/name",
                "kubernetes.container_name", "kubernetes.container.name", "container_name", "container", "component",
                "SYSLOG_IDENTIFIER")
LOGGER_KEYS = ("logger", "logger_name", "loggerName", "name", "log.logger")
THROWN_KEYS = ("error", "err", "exception", "exc_info", "stack_trace", "stack", "stacktrace", "error.message",
               "error.stack_trace", "err.message")
LABEL_KEYS = ("pod", "pod_name", "namespace", "kubernetes.pod_name", "kubernetes.pod.name", "kubernetes.namespace_name",
              "kubernetes.namespace", "host", "hostname", "host.name", "container", "container_id", "node", "instance",
              "version", "env", "environment", "region", "cluster", "stream")

_LOGFMT_SERVICE = re.compile(rb'(?:^|\s)(?:service|service_name|app|application|component)="?([\w./-]+)')
_LOGFMT_PAIR = re.compile(rb"(?:^|\s)[A-Za-z_@][\w.@/-]*=")
_SYSLOG_PROGRAM = re.compile(rb" ?\S+ ([A-Za-z_][\w./-]*?)(?:\[\d+\])?: ")
_CRI = re.compile(rb" ?(?:stdout|stderr) [FP] ")
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")
_KLOG_HEAD = re.compile(rb"[IWEF]\d{4} \d\d:\d\d:\d\d\.")
_KLOG = {ord("I"): "INFO", ord("W"): "WARN", ord("E"): "ERROR", ord("F"): "FATAL"}


class Reader(Protocol):
    """One file's lines. `parse` gives None for a line that belongs to the record before."""

    name: str
    multiline: bool
    stamps: StampReader

    def parse(self, line: bytes) -> Parsed | None: ...

    def moment(self, line: bytes) -> float | None: ...


def choose_reader(sample: Sequence[bytes], clock: Clock) -> Reader | None:
    """The reader for a file that begins with these lines; None where no line carries a time."""
    lines = [line for line in sample if line.strip()]
    records = [record for record in map(json_object, lines) if record is not None]
    if records and len(records) * 2 >= len(lines):
        reader = JsonReader.learn(records, clock)
        return reader if any(reader.parse(line) for line in lines) else None
    stamps = StampReader(choose_kinds([_ANSI.sub(b"", line) for line in lines], kinds()), clock)
    if not stamps.chosen:
        return None
    name = stamps.chosen[0].name
    cri = sum(_CRI.match(line, found[2]) is not None for line in lines if (found := stamps.read(line)))
    if cri * 2 > len(lines):
        return CriReader(stamps)
    pairs = sum(len(_LOGFMT_PAIR.findall(line)) >= 3 for line in lines)
    colours = any(b"\x1b[" in line for line in lines)
    return TextReader(stamps, name, logfmt=pairs * 2 > len(lines), syslog=name == "syslog", colours=colours)


def json_object(line: bytes) -> dict[str, Any] | None:
    if line.lstrip()[:1] != b"{":
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# ---------------------------------------------------------------- text


@dataclass
class TextReader:
    """Lines with a stamp: logfmt, syslog, klog, access logs and everything that logging libraries print."""

    stamps: StampReader
    name: str
    logfmt: bool = False
    syslog: bool = False
    colours: bool = False
    multiline: bool = True

    def moment(self, line: bytes) -> float | None:
        found = self.stamps.read(_ANSI.sub(b"", line) if self.colours else line)
        return found[0] if found else None

    def parse(self, line: bytes) -> Parsed | None:
        if self.colours:
            line = _ANSI.sub(b"", line)
        found = self.stamps.read(line)
        if found is None:
            return None
        moment, start, end = found
        service = self._service(line, end)
        level = _KLOG.get(line[0]) if self.name == "klog" else None
        # What stands before the stamp belongs to the template (a level, a key), but not an access log's client.
        text = line[end:] if start < 4 or self.name == "clf" else line[:start] + line[end:]
        return moment, service, level, text.decode("utf-8", "replace")

    def _service(self, line: bytes, end: int) -> str | None:
        if self.logfmt:
            match = _LOGFMT_SERVICE.search(line, 0, 4096)
        elif self.syslog:
            match = _SYSLOG_PROGRAM.match(line, end)
        else:
            return None
        return match.group(1).decode("utf-8", "replace") if match else None


@dataclass
class CriReader:
    """`2026-11-30T08:43:12Z stdout F …` as container runtimes write it; what is inside may be JSON again."""

    stamps: StampReader
    name: str = "cri"
    multiline: bool = True
    inner: JsonReader | None = None

    def moment(self, line: bytes) -> float | None:
        found = self.stamps.read(line)
        return found[0] if found else None

    def parse(self, line: bytes) -> Parsed | None:
        found = self.stamps.read(line)
        if found is None:
            return None
        prefix = _CRI.match(line, found[2])
        rest = line[prefix.end() :] if prefix else line[found[2] :]
        if rest[:1] in (b" ", b"\t") or not rest.strip():
            return None  # an indented line of a stack trace: each line of a container's output has its own stamp
        record = json_object(rest) if rest[:1] == b"{" else None
        if record is None:
            level = _KLOG.get(rest[0]) if _KLOG_HEAD.match(rest) else None
            return found[0], None, level, rest.decode("utf-8", "replace")
        if self.inner is None:
            self.inner = JsonReader.learn([record], self.stamps.clock)
        return found[0], *self.inner.fields(record)


# ---------------------------------------------------------------- JSON lines


@dataclass
class JsonReader:
    """JSON lines. The keys are learnt from the sample and looked up anew for a record that lacks them."""

    time_keys: list[str]
    level_keys: list[str]
    text_keys: list[str]
    service_keys: list[str]
    stamps: StampReader
    name: str = "json"
    multiline: bool = False

    @classmethod
    def learn(cls, records: Sequence[dict[str, Any]], clock: Clock) -> JsonReader:
        def seen(names: Sequence[str], kinds_of_value: tuple[type, ...] = (str, int, float)) -> list[str]:
            return [name for name in names if any(isinstance(lookup(one, name), kinds_of_value) for one in records)]

        stamps = StampReader(tuple(kind for kind in kinds() if kind.name in ("iso", "iso_inside", "ctime")), clock)
        return cls(seen(TIME_KEYS), seen(LEVEL_KEYS), seen(TEXT_KEYS, (str,)),
                   seen(SERVICE_KEYS, (str,)) or seen(LOGGER_KEYS, (str,)), stamps)

    def moment(self, line: bytes) -> float | None:
        record = json_object(line)
        return self._moment(record) if record is not None else None

    def parse(self, line: bytes) -> Parsed | None:
        record = json_object(line)
        moment = self._moment(record) if record is not None else None
        if record is None or moment is None:
            return None
        return moment, *self.fields(record)

    def fields(self, record: dict[str, Any]) -> tuple[str | None, str | None, str]:
        """Service, level and text of a record; a thrown error's own words belong to the text."""
        level = _first(record, self.level_keys)
        service = _first(record, self.service_keys)
        text = _first(record, self.text_keys)
        if text is None:
            text = " ".join(f"{key}={value}" for key, value in record.items()
                            if isinstance(value, str) and key not in self.time_keys)
        elif isinstance(text, str) and text[:1] == "{":
            inner = json_object(text.encode("utf-8", "replace"))
            if inner is not None:
                return self._wrapped(inner, service, level)
        thrown = _thrown(record)
        return _text(service), canonical(level), f"{text} {thrown}" if thrown else str(text)

    def _wrapped(self, inner: dict[str, Any], service: object, level: object) -> tuple[str | None, str | None, str]:
        """Docker's json-file around an application's own JSON line."""
        learnt = JsonReader.learn([inner], self.stamps.clock)
        own_service, own_level, text = learnt.fields(inner) if learnt.text_keys else (None, None, json.dumps(inner))
        return own_service or _text(service), own_level or canonical(level), text

    def _moment(self, record: dict[str, Any]) -> float | None:
        for key in self.time_keys:
            value = lookup(record, key)
            if value is not None:
                moment = read_value(value, self.stamps)
                if moment is not None:
                    return moment
        return None


def lookup(record: dict[str, Any], path: str) -> Any:
    """`service.name` as a key of that very name, else as a path."""
    value = record.get(path)
    if value is not None or "." not in path:
        return value
    head, _, rest = path.partition(".")
    inner = record.get(head)
    return lookup(inner, rest) if isinstance(inner, dict) else None


def _first(record: dict[str, Any], keys: Sequence[str]) -> Any:
    for key in keys:
        value = lookup(record, key)
        if value is not None and not isinstance(value, dict | list):
            return value
    return None


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def _thrown(record: dict[str, Any]) -> str | None:
    for key in THROWN_KEYS:
        value = lookup(record, key)
        if isinstance(value, str) and value:
            return value[:300]
    return None
