"""A record as it is shown: verbatim text, with what a JSON line says besides its message as `key=value`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.logs import formats
from tools.logs.cut import cut_text
from tools.logs.formats import CriReader, JsonReader, Reader

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PREFIX = re.compile(rb"^(\S+) (?:stdout|stderr) [FP] ")
_MAX_EXTRA = 200
_DEPTH = 6


@dataclass(frozen=True)
class Shown:
    """`labels` describe where the record came from, `extras` its other fields; both may be common to many records."""

    text: str
    labels: dict[str, str]
    extras: dict[str, str]
    cut: bool


def show(raw: bytes, reader: Reader, max_chars: int) -> Shown:
    """The record's own words. A JSON record becomes `time level message`; each value stands as it was written."""
    line, _, more = raw.partition(b"\n")
    stamp, record = "", formats.json_object(line) if isinstance(reader, JsonReader) else None
    if isinstance(reader, CriReader) and (prefix := _PREFIX.match(line)):
        stamp, record = prefix[1].decode(), formats.json_object(line[prefix.end() :])
    if record is None:
        text = _ANSI.sub("", raw.decode("utf-8", "replace")).rstrip()
        return Shown(cut_text(text, max_chars), {}, {}, len(text) > max_chars)
    keys = reader.inner if isinstance(reader, CriReader) else reader
    shown = _show_record(record, keys if isinstance(keys, JsonReader) else None, stamp, max_chars)
    return shown if not more else Shown(shown.text, shown.labels, shown.extras, cut=True)


def _show_record(record: dict[str, Any], keys: JsonReader | None, stamp: str, max_chars: int) -> Shown:
    inner = formats.json_object(str(record.get("log", "")).encode("utf-8", "replace"))
    flat = dict(_flat({**record, "log": inner} if inner is not None else record))
    time_keys = keys.time_keys if keys else formats.TIME_KEYS
    stamp = stamp or next((flat.pop(key) for key in time_keys if key in flat), "")
    level = _pop(flat, formats.LEVEL_KEYS)
    text = _pop(flat, keys.text_keys if keys else formats.TEXT_KEYS) or _pop(flat, formats.TEXT_KEYS)
    _pop(flat, formats.SERVICE_KEYS)
    labels = {key.rsplit(".", 1)[-1]: flat.pop(key) for key in formats.LABEL_KEYS if key in flat}
    words = " ".join(part.rstrip() for part in (stamp, level, text) if part)
    extras = {key: value[:_MAX_EXTRA] for key, value in flat.items() if value and key not in formats.TIME_KEYS}
    return Shown(cut_text(words, max_chars), labels, extras, len(words) > max_chars)


def _pop(flat: dict[str, str], names: Any) -> str:
    for name in names:
        if name in flat:
            return flat.pop(name)
    return ""


def _flat(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in record.items():
        if isinstance(value, dict) and prefix.count(".") < _DEPTH:
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, str):
            yield f"{prefix}{key}".removeprefix("log.") if prefix == "log." else f"{prefix}{key}", value
        elif value is not None:
            yield f"{prefix}{key}", _compact(value)


def _compact(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply)"


def with_extras(text: str, extras: dict[str, str]) -> str:
    """`text key=value …`; a value with white space is quoted."""
    pairs = (f'{key}="{value}"' if re.search(r"\s", value) else f"{key}={value}" for key, value in extras.items())
    return " ".join([text, *pairs])
