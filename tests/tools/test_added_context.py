"""What a person added to a run: offered in that run alone, line by line, with whose words they are."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tools.builtin.added_context import TOOL, AddedContextInput
from tools.contracts import Addition, CallContext, ToolDeps
from tools.errors import ToolFailed
from tools.registry import ToolRegistry
from tools.skills import SkillRegistry

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONTEXT = CallContext("run-1", NOON, ZoneInfo("UTC"))


def deps(*texts: str) -> ToolDeps:
    additions = tuple(Addition(text=text, by="Ana Ruiz", at=NOON) for text in texts)
    return ToolDeps(skills=SkillRegistry([]), additions=additions)


def test_it_is_offered_only_where_something_was_added() -> None:
    registry = ToolRegistry([TOOL])
    assert registry.offered(deps()) == []
    (offered,) = registry.offered(deps("the proxy was restarted at 08:40"))
    assert "Ana Ruiz" in offered.description


async def test_every_line_is_a_ref_with_whose_words_they_are() -> None:
    answer = await TOOL.run(AddedContextInput(), deps("first line of a log\nsecond line of it", '{"reason": "OOMKilled"}'), CONTEXT)
    assert [(ref.raw_path, ref.text) for ref in answer.evidence_refs] == [
        ("$.additions[0].lines[0]", "first line of a log"),
        ("$.additions[0].lines[1]", "second line of it"),
        ("$.additions[1]", "reason=OOMKilled"),
    ]
    assert {ref.scope["source"] for ref in answer.evidence_refs} == {"added by Ana Ruiz"}
    assert answer.payload["additions"][0]["lines"] == ["first line of a log", "second line of it"]


async def test_what_holds_nothing_to_quote_says_so() -> None:
    with pytest.raises(ToolFailed, match="no line that could be quoted"):
        await TOOL.run(AddedContextInput(), deps("\n\n"), CONTEXT)
