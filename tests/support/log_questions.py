"""Asking query_logs about a folder, for tests."""

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tools.builtin.query_logs import TOOL, QueryLogs
from tools.clients.log_files import LogFiles, LogSettings
from tools.contracts import CallContext, EvidenceRef, ToolDeps, ToolResult
from tools.skills import SkillRegistry

NOON = "2026-11-30T12:00:00Z"


async def ask(*roots: Path, now: str = NOON, zone: str = "UTC", settings: LogSettings | None = None, **asked: Any) -> ToolResult:
    deps = ToolDeps(skills=SkillRegistry.load(), logs=LogFiles(list(roots), settings))
    context = CallContext("run-1", datetime.fromisoformat(now), ZoneInfo(zone))
    return await TOOL.run(QueryLogs.model_validate(asked), deps, context)


def refs(result: ToolResult, kind: str) -> list[EvidenceRef]:
    """The refs of one kind: templates, services or logs."""
    return [ref for ref in result.evidence_refs if ref.raw_path.startswith(f"$.{kind}[")]


def skipped(result: ToolResult) -> dict[str, str]:
    return {one["name"]: one["reason"] for one in result.retrieval_details["skipped"]}
