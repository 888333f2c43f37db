"""What each role reads. The words are in prompts/*.txt; this file fills them in.

A prompt file has two parts: the fixed one (contract, rules) is the same bytes in every run, so that servers can cache
it; the other holds this run's values, untrusted text between fences.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from pydantic import BaseModel

from agents.contracts import (
    AiopsDraft,
    AiopsPlan,
    ComposerDraft,
    ExecutorDraft,
    HistoryTurn,
    PlannerPlan,
    VerifierDraft,
    schema_of,
)
from agents.fences import fenced, visible
from agents.llm.base import Message
from tools.contracts import Contract
from tools.redaction import MASKING_NOTE

DIVIDER = "\n=== this run ===\n"
CONTRACTS: dict[str, type[Contract]] = {
    "planner": PlannerPlan,
    "executor": ExecutorDraft,
    "verifier": VerifierDraft,
    "composer": ComposerDraft,
    "aiops_planner": AiopsPlan,
    "aiops_executor": AiopsDraft,
}


@dataclass(frozen=True)
class Prompt:
    fixed: str
    run: Template

    def messages(self, values: Mapping[str, str]) -> tuple[Message, Message]:
        return Message("system", self.fixed), Message("user", self.run.substitute(values))


@dataclass(frozen=True)
class Prompts:
    """The prompts by role, and the short notes that code sends between turns (prompts/notes.toml)."""

    by_role: Mapping[str, Prompt]
    notes: Mapping[str, Template]

    @classmethod
    def load(cls, folder: Path) -> Prompts:
        """Raises OSError, ValueError or KeyError where a prompt is missing or names an unknown value."""
        notes = tomllib.loads((folder / "notes.toml").read_text(encoding="utf-8"))
        return cls(
            by_role={role: _prompt(folder / f"{role}.txt", contract) for role, contract in CONTRACTS.items()},
            notes={name: Template(text.strip()) for name, text in notes.items()},
        )

    def messages(self, role: str, **values: str) -> tuple[Message, ...]:
        return self.by_role[role].messages(values)

    def note(self, name: str, **values: str) -> str:
        return self.notes[name].substitute(values)


def as_json(value: Any) -> str:
    """A contract or a list of them as one compact JSON text."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))


def block(label: str, text: str, mark: str) -> str:
    """Untrusted text between fences; "none" where there is none."""
    return fenced(label, visible(text), mark) if text not in ("", "null", "[]") else "none"


def history_block(history: Sequence[HistoryTurn], mark: str) -> str:
    return block("history", "\n".join(f"{turn.role}: {turn.text}" for turn in history), mark)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _prompt(path: Path, contract: type[Contract]) -> Prompt:
    fixed, divider, run = path.read_text(encoding="utf-8").partition(DIVIDER)
    if not divider:
        raise ValueError(f"{path.name} has no line {DIVIDER.strip()!r} between its fixed part and the run's")
    schema = json.dumps(_lean(schema_of(contract)), ensure_ascii=False, separators=(",", ":"))
    return Prompt(Template(fixed.strip()).substitute(schema=schema, masking_note=MASKING_NOTE), Template(run.strip()))


def _lean(node: Any, *, names: bool = False) -> Any:
    """The schema without titles, which repeat the names, and descriptions, which are notes to our readers. `names`: the
    keys are property names, not schema words."""
    if isinstance(node, list):
        return [_lean(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if names or key not in ("title", "description")}
    return {key: _lean(value, names=key in ("properties", "$defs") and not names) for key, value in kept.items()}
