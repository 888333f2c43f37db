"""Recorded calls as a tool of another server: the nearest recorded arguments answer, never somebody else's data."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from bot.evaluation.scenarios import RecordedCall, RecordedTool, Scenario
from tools.contracts import CallContext, ToolDeps, ToolResult, ToolSpec, nothing_found
from tools.errors import ToolFailed
from tools.external import wrap_text
from tools.registry import ToolRegistry

# Words of an argument's name that say whose data is asked for. A recorded call about another one does not answer.
_IDENTIFIER = re.compile(
    r"(?:^|_)(?:name|namespace|id|pod|service|host|node|cluster|app|keyword|url|resource|kind|type|container"
    r"|deployment|job|workload|instance|db|database|topic|queue|region)s?(?:_|$)"
)
_ANY = "*"
_SHORT_KINDS = {
    "po": "pod", "deploy": "deployment", "sts": "statefulset", "ds": "daemonset", "rs": "replicaset", "svc": "service",
    "cm": "configmap", "ns": "namespace", "no": "node", "ing": "ingress", "cj": "cronjob", "pv": "persistentvolume",
    "pvc": "persistentvolumeclaim", "hpa": "horizontalpodautoscaler", "sa": "serviceaccount", "ingresse": "ingress",
}  # fmt: skip


@dataclass(frozen=True)
class _Recording:
    """A call with its output already read."""

    args: dict[str, Any] | None
    status: str
    output: str
    error: str | None
    result: ToolResult | None = None


def recorded_tools(scenario: Scenario, builtin: ToolRegistry) -> list[ToolSpec]:
    """A tool of ours that was recorded whole stays what it is, only its answers are the recorded ones."""
    return [
        _spec(tool, [_recording(scenario, call) for call in tool.calls], builtin.get(tool.name))
        for tool in scenario.file.world.tools
    ]


def _recording(scenario: Scenario, call: RecordedCall) -> _Recording:
    return _Recording(call.args, call.status, scenario.output_of(call), call.error, call.result)


def _spec(tool: RecordedTool, recordings: list[_Recording], ours: ToolSpec | None) -> ToolSpec:
    async def run(asked: BaseModel, _: ToolDeps, __: CallContext) -> ToolResult:
        return _answer(tool.name, recordings, asked.model_dump(mode="json", exclude_none=True, exclude_unset=True))

    if ours is not None and any(recording.result for recording in recordings):
        return replace(ours, run=run, unavailable=lambda _: None)
    return ToolSpec(
        name=tool.name,
        description=tool.description or tool.name,
        input_model=input_model(tool.name, [recording.args for recording in recordings]),
        run=run,
        evidence_level="direct",
        origin="external",
    )


# ---------------------------------------------------------------- the input


def input_model(name: str, recorded: Sequence[dict[str, Any] | None]) -> type[BaseModel]:
    """Fields and types from the recorded arguments. An identifier that every call gave is required; a call recorded
    without arguments makes a tool that takes any."""
    known = [args for args in recorded if args is not None]
    fields: dict[str, Any] = {}
    for field in dict.fromkeys(key for args in known for key in args):
        values = [args[field] for args in known if field in args]
        fields[field] = _field(field, values, required=is_identifier(field) and len(values) == len(known))
    closed = bool(known) and len(known) == len(recorded)
    config = ConfigDict(extra="forbid" if closed else "allow", coerce_numbers_to_str=True)
    return cast("type[BaseModel]", create_model(f"{name}_input", __config__=config, **fields))


def is_identifier(field: str) -> bool:
    return _IDENTIFIER.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field).lower()) is not None


def _field(name: str, values: list[Any], *, required: bool) -> tuple[Any, Any]:
    """Values of a kind (pod, job …) are shown as examples, since any such tool's manual lists them; names are not."""
    kinds = {type(value) for value in values if value is not None}
    kind: Any = kinds.pop() if len(kinds) == 1 else Any
    shown = sorted({str(value) for value in values}) if name in ("kind", "resource_type") else None
    if required:
        return kind, Field(examples=shown)
    return kind | None if kind is not Any else Any, Field(None, examples=shown)


# ---------------------------------------------------------------- the answer


def _answer(name: str, recordings: list[_Recording], asked: dict[str, Any]) -> ToolResult:
    """Raises ToolFailed where the recorded call failed."""
    scope = {"source": name} | {key: str(value) for key, value in asked.items()}
    arguments = json.dumps(asked, ensure_ascii=False, sort_keys=True)
    found = _nearest(recordings, asked)
    if found is not None and found.status == "error":
        raise ToolFailed(found.error or found.output or f"{name} {arguments} failed")
    if found is not None and found.result is not None:
        return found.result
    if found is not None and found.status == "success" and found.output.strip():
        return wrap_text(found.output, scope)
    said = f": {found.output.strip()[:500]}" if found is not None and found.output.strip() else ""
    return nothing_found(f"{name} {arguments} returned no data{said}", scope=scope)


def _nearest(recordings: list[_Recording], asked: dict[str, Any]) -> _Recording | None:
    scored = [(_distance(recording.args, asked), index) for index, recording in enumerate(recordings)]
    allowed = [(distance, index) for distance, index in scored if distance is not None]
    return recordings[min(allowed)[1]] if allowed else None


def _distance(recorded: dict[str, Any] | None, asked: dict[str, Any]) -> int | None:
    """How many arguments differ; None where one of them says whose data it is."""
    if recorded is None:
        return 0
    distance = 0
    for key in {*recorded, *asked}:
        if _same(recorded.get(key), asked.get(key)):
            continue
        if is_identifier(key) and key in recorded and key in asked:
            return None
        distance += 1
    return distance


def _same(recorded: Any, asked: Any) -> bool:
    if recorded in (asked, _ANY):
        return True
    return recorded is not None and asked is not None and _plain(recorded) == _plain(asked)


def _plain(value: Any) -> str:
    """`Pods` and `po` ask for what was recorded as `pod`, as they do in kubectl."""
    text = str(value).strip().casefold()
    text = text[:-1] if len(text) > 3 and text.endswith("s") and not text.endswith("ss") else text
    return _SHORT_KINDS.get(text, text)
