"""`kb sync` and `kb search`, and what they show."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from bot.app import App, open_app, prepare
from bot.errors import ConfigError
from bot.settings import Loaded
from bot.terminal.lines import Line, show
from tools.ingest import SHORT_LEASE_SECONDS, OnProgress, SyncDeps, SyncReport, sync_folder
from tools.retrieval import Lookup

_SHOWN = 600


async def sync(loaded: Loaded, folder: Path | None, *, rebuild: bool, console: Console) -> SyncReport:
    """Raises ConfigError where no folder is named."""
    chosen = folder or loaded.settings.knowledge_dir
    if chosen is None:
        raise ConfigError("Which folder? Write proofthread kb sync DIR, or set knowledge_dir.")

    def on_progress(done: int, total: int, document: str) -> None:
        show(console, [Line(document, lead=f"{done}/{total} ", style="dim")])

    async with open_app(loaded) as app:
        await prepare(app)
        return await sync_folder(chosen, sync_deps(app, with_vectors=True), rebuild=rebuild, on_progress=on_progress)


async def sync_quietly(app: App, folder: Path, on_progress: OnProgress) -> SyncReport:
    """A scenario's own small base, kept in SQL alone. Waits for a sync of another process, or for a killed one's lease."""
    for _ in range(SHORT_LEASE_SECONDS + 2):
        report = await sync_folder(folder, sync_deps(app, with_vectors=False), alone=True, on_progress=on_progress)
        if not report.is_busy:
            return report
        await asyncio.sleep(1)
    return report


def sync_deps(app: App, *, with_vectors: bool) -> SyncDeps:
    return SyncDeps(
        db=app.knowledge,
        redact=app.work.redactor.text,
        owner=app.work.owner,
        vectors=app.vectors if with_vectors else None,
        embedder=app.embedder if with_vectors else None,
    )


async def search(loaded: Loaded, query: str, domains: list[str], limit: int) -> Lookup:
    """The best there is, relevant or not: a person browses. Raises ToolFailed for a domain that does not exist."""
    async with open_app(loaded) as app:
        await prepare(app)
        if app.tools.retriever is None:
            raise ConfigError("No knowledge base is configured.")
        return await app.tools.retriever.lookup(query, domains, limit, with_floor=False)


# ---------------------------------------------------------------- what is shown


def report_json(report: SyncReport) -> dict[str, Any]:
    return asdict(report)


def report_lines(report: SyncReport) -> list[Line]:
    counts = (
        f"{len(report.indexed)} indexed, {report.unchanged} unchanged, {len(report.removed)} removed, "
        f"{len(report.problems)} broken; {report.chunks} chunks in {len(report.domains)} domains"
    )
    lines = [Line(counts, lead=f"{report.folder}: ")]
    lines += [Line(f"{name} has the same content as {other}", lead="  = ") for name, other in report.aliases.items()]
    lines += [Line(str(problem), lead="  ✗ ", style="red") for problem in report.problems]
    lines += [Line(note, lead="  ! ", style="yellow") for note in report.notes]
    return lines + ([Line(report.failure, lead="  ✗ ", style="red")] if report.failure else [])


def lookup_json(found: Lookup) -> dict[str, Any]:
    return asdict(found)


def lookup_lines(found: Lookup) -> list[Line]:
    if not found.blocks:
        return [Line("Nothing found. Is the knowledge base filled? proofthread kb sync DIR"), *_notes(found)]
    lines: list[Line] = []
    for number, block in enumerate(found.blocks, 1):
        chunk = block.chunk
        matched = f" · matches {', '.join(block.matched)}" if block.matched else ""
        lines.append(Line(chunk.breadcrumb or chunk.title, lead=f"[{number}] ", style="bold"))
        where = f"{chunk.category} · {chunk.source} · {block.layer} · {block.relevance}{matched}"
        lines += [Line(where, lead="    ", style="dim"), Line(_start(chunk.content), lead="    │ ", hang="    │ "), Line()]
    return lines + _notes(found)


def _notes(found: Lookup) -> list[Line]:
    return [Line(note, lead="! ", style="yellow") for note in found.notes]


def _start(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: text.rfind(" ", 0, _SHOWN)] + " …"
