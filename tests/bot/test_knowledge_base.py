"""The small base of a sample or scenario: whoever finds it held waits, since a killed sync lets go of it soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app import open_app, prepare
from bot.knowledge import sync_quietly
from bot.settings import load_settings
from storage.knowledge import KnowledgeStore

RUNBOOK = "# Pool\n\nORD-5031 means that the pool is empty. Set it back to its last good size.\n"


async def test_a_base_that_a_killed_sync_still_holds_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "pool.md").write_text(RUNBOOK, encoding="utf-8")
    async with open_app(load_settings(folder=tmp_path)) as app:
        await prepare(app)
        assert await app.knowledge.call(KnowledgeStore(app.knowledge).claim, "a sync that was killed", 1)
        report = await sync_quietly(app, tmp_path / "kb", lambda *_: None)
    assert (report.indexed, report.failure) == (("pool.md",), None)
