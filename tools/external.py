"""Output of tools that know nothing of evidence refs (a recorded scenario, MCP), made quotable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from tools.contracts import EvidenceRef, EvidenceStatus, ToolResult
from tools.redaction import Redactor
from tools.series import Point, summarise, summary_text
from tools.text_layout import Line, laid_out

Record = tuple[str, str, dict[str, str]]

MAX_REFS = 60
MAX_RAW_CHARS = 80_000
MAX_JSON_CHARS = 1_000
_MAX_DEPTH = 12
_MAX_LEVELS = 60
_TROUBLE = re.compile(
    r"error|fail|fatal|panic|exception|denied|refused|time[d -]?out|timeout|oom|kill|evict|crash|back-?off|exhaust|"
    r"unhealthy|warn|critical|invalid|violat|duplicate|missing|not found|undefined|unable|cannot|rejected|错误|失败|超时|异常|拒绝",
    re.I,
)
_VARYING = re.compile(r"(?<=id)[\"']?\s?[:=]\s?[\"']?[\w-]+|(?<![\w.:-])(?=[\w.:-]{0,40}\d)[\w.:-]+", re.I)
_TIMES = ("timestamps", "times")
_VALUES = ("values", "data")


def wrap_text(output: str, scope: dict[str, str]) -> ToolResult:
    """One ref a line (`$.lines[3]`), with the section or table header it stands under in its scope (`section`,
    `columns`). Text that is JSON or JSON lines is wrapped as such. An empty output is NO_EVIDENCE without refs: whether
    that means "nothing found" is the caller's to say."""
    parsed = _json_in(output)
    if parsed is not None:
        return wrap_json(parsed, scope)
    lines = laid_out(_masked_lines(output))
    refs = [_line_ref(line, scope) for line in lines if line.quotable]
    result = _result({"lines": [line.text for line in lines]}, refs)
    return _thinned(result) if len(output) > MAX_RAW_CHARS else result


def wrap_json(value: Any, scope: dict[str, str]) -> ToolResult:
    """One ref a record: an item of an array, or the plain fields of an object, as `key=value` text of at most about
    1000 characters; what is longer is split deeper, and a pair of `timestamps` and `values` is summed up. raw_paths
    lead into the payload (a value that is no object stands under `items` or `value`)."""
    rooted = value if isinstance(value, dict) else {"items" if isinstance(value, list) else "value": value}
    payload = _with_lines(rooted)
    refs = [
        EvidenceRef(raw_path=path, text=text, scope={**scope, **labels})
        for path, text, labels in _records(payload, "$", {})
    ]
    return _result(payload, refs)


def _result(payload: dict[str, Any], refs: list[EvidenceRef]) -> ToolResult:
    kept = _telling(refs, MAX_REFS)
    left_out = len(refs) - len(kept)
    return ToolResult(
        payload=payload,
        evidence_status=EvidenceStatus.SUPPORTED if refs else EvidenceStatus.NO_EVIDENCE,
        evidence_refs=tuple(kept),
        retrieval_details={"truncation": f"{left_out} of {len(refs)} lines are not shown"} if left_out else {},
        truncated=left_out > 0,
    )


def _thinned(result: ToolResult) -> ToolResult:
    """Of an output too long to keep, the shown lines alone, each at its own number."""
    shown = {ref.raw_path for ref in result.evidence_refs}
    lines = [text if f"$.lines[{n}]" in shown else "" for n, text in enumerate(result.payload["lines"])]
    return result.model_copy(update={"payload": {"lines": lines}})


def _telling(refs: list[EvidenceRef], limit: int) -> list[EvidenceRef]:
    """The refs worth a model's attention where there are too many, in their order: of lines that differ in ids and
    numbers alone the first and the last, with how many there are in their scope; shapes that speak of trouble first."""
    if len(refs) <= limit:
        return refs
    alike: dict[str, list[int]] = {}
    for index, ref in enumerate(refs):
        alike.setdefault(_VARYING.sub("#", ref.text[:400]), []).append(index)
    ranked = sorted(alike.values(), key=lambda places: (_TROUBLE.search(refs[places[0]].text) is None, len(places)))
    chosen = {place: len(places) for places in ranked[:limit] for place in (places[-1], places[0])}
    kept = sorted(list(chosen)[:limit])
    return [_counted(refs[place], chosen[place]) for place in kept]


def _counted(ref: EvidenceRef, similar: int) -> EvidenceRef:
    return ref.model_copy(update={"scope": {**ref.scope, "similar_lines": str(similar)}}) if similar > 1 else ref


def _masked_lines(output: str) -> list[str]:
    """Keys that run over many lines are masked while they still stand together; the door masks the rest."""
    lines = output.replace("\r\n", "\n").split("\n")
    return Redactor().lines(lines) if "-----BEGIN" in output else lines


def _line_ref(line: Line, scope: dict[str, str]) -> EvidenceRef:
    labels = {"section": line.section} if line.section else {}
    if line.columns:
        labels["columns"] = line.columns
    return EvidenceRef(raw_path=f"$.lines[{line.number}]", text=line.text.strip(), scope={**scope, **labels})


# ---------------------------------------------------------------- JSON


def _json_in(output: str) -> Any:
    """The value where the text is JSON or JSON lines (at least two, all of them objects), else None."""
    text = output.strip()
    if not text.startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        value = _json_lines(text)
    except RecursionError:
        return None
    return value if isinstance(value, dict | list) and not _deeper(value, _MAX_LEVELS) else None


def _json_lines(text: str) -> list[Any] | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
        return None
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def _deeper(value: Any, levels: int) -> bool:
    """Nested beyond what anybody writes: such a text stays text."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(_deeper(item, levels - 1) for item in inner)


def _records(value: Any, path: str, labels: dict[str, str], depth: int = 0) -> Iterator[Record]:
    """(raw_path, text, labels) of each record, in document order."""
    series = _series_in(value, path, labels)
    if series is not None:
        yield series
        return
    text = "" if _holds_records(value) else compact_text(value)
    if text and (len(text) <= MAX_JSON_CHARS or depth >= _MAX_DEPTH):
        yield path, text, labels
    elif isinstance(value, dict):
        yield from _fields(value, path, labels, depth)
    elif isinstance(value, _Lines):
        yield from ((f"{path}[{line.number}]", line.text.strip(), labels) for line in laid_out(value) if line.quotable)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _records(item, f"{path}[{index}]", labels, depth + 1)
    elif text:
        yield path, text, labels


def _fields(value: dict[str, Any], path: str, labels: dict[str, str], depth: int) -> Iterator[Record]:
    """The plain fields together as one record, each nested one by itself, labelled with what names the object."""
    plain = {key: item for key, item in value.items() if not _nested(item) and _short(item)}
    inner = {
        **labels,
        **{key: str(item) for key, item in plain.items() if _names_things(key) and isinstance(item, str)},
    }
    if plain:
        yield path, compact_text(plain)[:MAX_JSON_CHARS], labels
    for key, item in value.items():
        if key not in plain:
            yield from _records(item, f"{path}{_step(key)}", {**inner, "field": key}, depth + 1)


def _short(item: Any) -> bool:
    return not isinstance(item, str) or len(item) <= MAX_JSON_CHARS // 4


def _series_in(value: Any, path: str, labels: dict[str, str]) -> Record | None:
    """An object with times and numbers of equal count, summed up in one line."""
    if not isinstance(value, dict):
        return None
    times = next((value[key] for key in _TIMES if key in value), None)
    field = next((key for key in _VALUES if key in value), None)
    points = _points(times, value[field]) if field else None
    summary = summarise(points) if points else None
    if summary is None or field is None:
        return None
    words = {key: item for key, item in value.items() if not _nested(item)}
    name = " ".join([compact_text(words), *_dimensions(value)]).strip() or labels.get("field", "series")
    return f"{path}{_step(field)}", summary_text(name, summary, unit="" if "unit" in value else None), labels


def _points(times: Any, values: Any) -> list[Point] | None:
    if not isinstance(times, list) or not isinstance(values, list) or len(times) != len(values) or not times:
        return None
    try:
        pairs = ((_seconds(at), float(value)) for at, value in zip(times, values, strict=True))
        return sorted(pairs)
    except (TypeError, ValueError):
        return None


def _seconds(at: Any) -> float:
    if isinstance(at, str):
        moment = datetime.fromisoformat(at)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(at) / 1000 if at > 1e12 else float(at)


def _dimensions(value: dict[str, Any]) -> list[str]:
    found = value.get("dimensions")
    pairs = found if isinstance(found, list) else []
    return [
        f"{pair['Name']}={pair['Value']}"
        for pair in pairs
        if isinstance(pair, dict) and {"Name", "Value"} <= pair.keys()
    ]


class _Lines(list[str]):
    """The lines of what was one text, so that each has a raw_path of its own."""


def _with_lines(value: Any) -> Any:
    if isinstance(value, str):
        return _Lines(_masked_lines(value.strip("\n"))) if "\n" in value.strip() else value
    if isinstance(value, dict):
        return {str(key): _with_lines(item) for key, item in value.items()}
    return [_with_lines(item) for item in value] if isinstance(value, list) else value


def _holds_records(value: Any) -> bool:
    """Several things that can be quoted apart: a list of objects, or a text of many lines."""
    if isinstance(value, _Lines):
        return True
    if isinstance(value, dict):
        return any(_holds_records(item) for item in value.values())
    return isinstance(value, list) and any(isinstance(item, dict) or _holds_records(item) for item in value)


def _nested(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _names_things(key: str) -> bool:
    named = ("name", "id", "label", "namespace", "service", "kind", "metric_name", "pod", "pod_name")
    return key.lower() in named or key.lower().endswith("identifier")


def _step(key: str) -> str:
    plain = key.replace("_", "").replace("-", "").isalnum() and key.isascii() and not key[0].isdigit()
    return f".{key}" if plain else f"[{json.dumps(key, ensure_ascii=False)}]"


def compact_text(value: Any) -> str:
    """`a=1 b="two words" c=[…]`: an object on one line; other values as JSON."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else _json(value)
    return " ".join(f"{key}={_plain(item)}" for key, item in value.items())


def _plain(item: Any) -> str:
    bare = isinstance(item, str) and item and not any(c.isspace() or c in '"={}[]' for c in item)
    return str(item) if bare else _json(item)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
