"""What a model sent as arguments: checked against the tool's input model, and compared with earlier calls."""

from __future__ import annotations

import difflib
import json
import re
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from tools.contracts import CallContext, ToolSpec
from tools.errors import ToolFailed
from tools.invocation import canonical

_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?")


def validated(spec: ToolSpec, arguments: dict[str, Any] | None, raw_arguments: str) -> BaseModel:
    """The tool's input. Raises ToolFailed with all that the model must change."""
    if not isinstance(arguments, dict):
        raise ToolFailed(f"{spec.name} was not run: {_unreadable(raw_arguments)}. {_fields_of(spec)}")
    try:
        return spec.input_model.model_validate(arguments)
    except ValidationError as error:
        faults = "; ".join(_fault(spec, fault) for fault in error.errors(include_url=False, include_context=False)[:8])
        raise ToolFailed(f"{spec.name} was not run: {faults}. {_fields_of(spec)}") from error


def compiled_call(spec: ToolSpec, arguments: BaseModel, context: CallContext) -> str:
    """One text for all calls that ask the same: the tool's own form, or the arguments with defaults filled in, white
    space collapsed, names in lower case and times at the minute in UTC."""
    if spec.compiled is not None:
        return f"{spec.name}\n{' '.join(spec.compiled(arguments, context).split())}"
    return f"{spec.name}\n{canonical(_normalised(arguments.model_dump(), context))}"


def _normalised(value: Any, context: CallContext) -> Any:
    if isinstance(value, dict):
        members = ((" ".join(str(key).split()).lower(), _normalised(item, context)) for key, item in value.items())
        return {key: item for key, item in members if item is not None}
    if isinstance(value, list | tuple):
        return [_normalised(item, context) for item in value]
    if isinstance(value, str):
        text = " ".join(value.split())
        return _minute(datetime.fromisoformat(text), context) if _is_stamp(text) else text
    return _minute(value, context) if isinstance(value, datetime) else value


def _is_stamp(text: str) -> bool:
    if not _STAMP.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _minute(moment: datetime, context: CallContext) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=context.zone)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")


def _unreadable(raw: str) -> str:
    try:
        found = json.loads(raw or "null")
    except json.JSONDecodeError as error:
        return f"its arguments are not readable JSON ({error.msg} at character {error.pos} of {len(raw)})"
    return f"its arguments must be one JSON object, not {'nothing' if found is None else type(found).__name__}"


def _fault(spec: ToolSpec, fault: Any) -> str:
    place = ".".join(str(part) for part in fault["loc"]) or "arguments"
    if fault["type"] == "extra_forbidden":
        near = difflib.get_close_matches(place, spec.input_model.model_fields, n=1)
        return f"unknown field {place!r}" + (f", did you mean {near[0]!r}?" if near else "")
    if fault["type"] == "missing":
        return f"field {place!r} is required"
    return f"field {place!r}: {fault['msg']}, got {_shown(fault['input'])}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _fields_of(spec: ToolSpec) -> str:
    fields = spec.input_model.model_fields
    if not fields:
        return (
            "Send {}: it takes no fields"
            if spec.input_model.model_config.get("extra") == "forbid"
            else "Send one JSON object"
        )
    required = [name for name, info in fields.items() if info.is_required()]
    return f"Fields: {', '.join(fields)}; required: {', '.join(required) or 'none'}. Correct it and call again"
