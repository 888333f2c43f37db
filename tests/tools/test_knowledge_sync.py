"""`kb sync` makes the base equal to a folder, says what it could not load, and repairs what a crash left."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from knowledge_base import MeaningEmbedder, milvus_folder, store_in, write

from storage.engine import Database
from storage.knowledge import KnowledgeStore
from storage.vectors import VectorStore
from tools.errors import ToolConfigError
from tools.ingest import SyncDeps, SyncReport, sync_folder
from tools.redaction import Redactor
from tools.retrieval import Retriever

POOL = """---
title: Connection pool exhausted
category: runbooks
description: When the pool runs out
when_to_retrieve: checkout slow
---
# Connection pool exhausted
Every connection is checked out: see ERR_POOL_42.
"""
DISK = "# 磁盘写满\n\n当磁盘使用率超过 90% 时清理旧日志。\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "kb"
    write(root, "pool.md", POOL)
    write(root, "zh/disk.md", DISK)
    return root


@pytest.fixture
def deps(sqlite_database: Database) -> SyncDeps:
    return SyncDeps(sqlite_database, Redactor().text, "test")


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[VectorStore]:
    with milvus_folder(tmp_path / "chunks.milvus") as milvus, store_in(milvus) as store:
        yield store


def statuses(db: Database) -> dict[str, str]:
    return {row.file_name: row.status.value for row in KnowledgeStore(db).documents()}


async def titles(db: Database, query: str) -> list[str]:
    found = await Retriever(db).lookup(query)
    return [block.chunk.title for block in found.blocks]


async def test_a_folder_becomes_documents_domains_and_chunks(database: Database, folder: Path) -> None:
    report = await sync_folder(folder, SyncDeps(database, Redactor().text, "test"))
    store = KnowledgeStore(database)
    assert report.indexed == ("pool.md", "zh/disk.md")
    assert report.exit_code == 0
    assert report.chunks == 2
    assert statuses(database) == {"pool.md": "INDEXED", "disk.md": "INDEXED"}
    runbooks, zh = store.domains()
    assert (runbooks.description, runbooks.when_to_retrieve, runbooks.document_count) == (
        "When the pool runs out",
        "checkout slow",
        1,
    )
    assert (zh.domain_id, zh.description) == ("zh", "磁盘写满")
    assert await titles(database, "ERR_POOL_42") == ["Connection pool exhausted"]
    assert await titles(database, "磁盘使用率") == ["磁盘写满"]


async def test_front_matter_is_kept_with_the_document(deps: SyncDeps, folder: Path) -> None:
    await sync_folder(folder, deps)
    row = next(row for row in KnowledgeStore(deps.db).documents() if row.file_name == "pool.md")
    assert row.metadata["front_matter"]["when_to_retrieve"] == "checkout slow"
    assert row.metadata["source"] == "pool.md"
    assert row.chunk_count == 1


async def test_a_second_sync_does_nothing_and_opens_no_milvus(deps: SyncDeps, folder: Path) -> None:
    await sync_folder(folder, deps)
    away = SyncDeps(deps.db, deps.redact, "test", VectorStore("http://127.0.0.1:1", timeout_seconds=1))
    before = KnowledgeStore(deps.db).revision()
    report = await sync_folder(folder, away)
    assert (report.indexed, report.unchanged, report.failure) == ((), 2, None)
    assert KnowledgeStore(deps.db).revision() == before


async def test_a_changed_document_replaces_its_chunks(deps: SyncDeps, folder: Path) -> None:
    await sync_folder(folder, deps)
    write(folder, "pool.md", POOL.replace("ERR_POOL_42", "ERR_POOL_43"))
    report = await sync_folder(folder, deps)
    assert (report.indexed, report.unchanged) == (("pool.md",), 1)
    assert await titles(deps.db, "ERR_POOL_42 ERR_POOL_43") == ["Connection pool exhausted"]
    content = [chunk.content for chunk in KnowledgeStore(deps.db).chunks(KnowledgeStore(deps.db).chunk_ids()).values()]
    assert not any("ERR_POOL_42" in text for text in content)


async def test_a_deleted_document_disappears_with_its_domain(deps: SyncDeps, folder: Path) -> None:
    await sync_folder(folder, deps)
    (folder / "pool.md").unlink()
    report = await sync_folder(folder, deps)
    assert report.removed == ("pool.md",)
    assert report.domains == ("zh",)
    assert await titles(deps.db, "ERR_POOL_42") == []


async def test_documents_of_another_folder_stay(deps: SyncDeps, folder: Path, tmp_path: Path) -> None:
    await sync_folder(folder, deps)
    write(tmp_path / "other", "tls.md", "# TLS\nThe certificate expired.\n")
    await sync_folder(tmp_path / "other", deps)
    assert set(statuses(deps.db)) == {"pool.md", "disk.md", "tls.md"}


async def test_a_base_of_one_folder_drops_what_another_left(deps: SyncDeps, folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", "a.md", "# A\n\nold")
    await sync_folder(tmp_path / "other", deps, alone=True)
    assert (await sync_folder(folder, deps, alone=True)).removed == ("a.md",)
    assert set(statuses(deps.db)) == {"pool.md", "disk.md"}


async def test_a_folder_that_was_moved_is_not_there_twice(deps: SyncDeps, folder: Path, tmp_path: Path) -> None:
    await sync_folder(folder, deps)
    folder.rename(tmp_path / "moved")
    await sync_folder(tmp_path / "moved", deps)
    assert sorted(row.file_path for row in KnowledgeStore(deps.db).documents()) == sorted(
        str(tmp_path / "moved" / name) for name in ("pool.md", "zh/disk.md")
    )


async def test_the_same_content_under_two_names_is_indexed_once(deps: SyncDeps, folder: Path) -> None:
    write(folder, "a-copy.md", POOL)
    report = await sync_folder(folder, deps)
    assert report.aliases == {"pool.md": "a-copy.md"}
    assert report.chunks == 2
    row = next(row for row in KnowledgeStore(deps.db).documents() if row.file_name == "a-copy.md")
    assert row.metadata["aliases"] == ["pool.md"]


async def test_an_indexed_document_stays_when_a_copy_comes_and_the_copy_takes_over_when_it_goes(
    deps: SyncDeps, folder: Path
) -> None:
    await sync_folder(folder, deps)
    write(folder, "a-copy.md", POOL)
    assert (await sync_folder(folder, deps)).aliases == {"a-copy.md": "pool.md"}
    (folder / "pool.md").unlink()
    assert (await sync_folder(folder, deps)).indexed == ("a-copy.md",)
    assert await titles(deps.db, "ERR_POOL_42") == ["Connection pool exhausted"]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"---\ntitle: x\nwhen: [a\n---\ntext", 4, "not YAML"),
        (b"---\ntitle: x\ntext without an end", 1, "never closed"),
        (b"---\n- a\n- b\n---\ntext", 2, "name: value"),
        (b"fine\nsecond \xff line", 2, "not UTF-8"),
        (b"# a\n\x00\x01binary", 2, "binary"),
        (b"", None, "no text"),
        (b"---\ntitle: x\n---\n\n", None, "no text"),
        (b"x" * 2_000_001, None, "split it"),
    ],
)
async def test_a_broken_document_is_named_with_its_line_and_the_others_load(
    deps: SyncDeps, folder: Path, content: bytes, line: int | None, message: str
) -> None:
    (folder / "broken.md").write_bytes(content)
    report = await sync_folder(folder, deps)
    (problem,) = report.problems
    assert (problem.document, problem.line) == ("broken.md", line)
    assert message in problem.message
    assert str(problem).startswith(f"broken.md:{line}: " if line else "broken.md: ")
    assert report.exit_code == 2
    assert statuses(deps.db) == {"broken.md": "FAILED", "pool.md": "INDEXED", "disk.md": "INDEXED"}


async def test_a_document_that_breaks_is_no_longer_found_and_comes_back_when_mended(
    deps: SyncDeps, folder: Path
) -> None:
    await sync_folder(folder, deps)
    write(folder, "pool.md", "---\ntitle: [\n---\nERR_POOL_42")
    assert (await sync_folder(folder, deps)).exit_code == 2
    assert await titles(deps.db, "ERR_POOL_42") == []
    assert (await sync_folder(folder, deps)).exit_code == 2
    write(folder, "pool.md", POOL)
    assert (await sync_folder(folder, deps)).exit_code == 0
    assert await titles(deps.db, "ERR_POOL_42") == ["Connection pool exhausted"]


async def test_a_yaml_bomb_costs_nothing(deps: SyncDeps, folder: Path) -> None:
    steps = zip("abcdefgh", "bcdefghi", strict=True)
    levels = "\n".join(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in steps)
    write(folder, "bomb.md", f"---\na: &a [x, x, x]\n{levels}\n---\nThe bomb did not go off.\n")
    assert (await sync_folder(folder, deps)).exit_code == 0
    assert len(str(KnowledgeStore(deps.db).documents())) < 10_000


async def test_secrets_are_masked_on_the_way_in(deps: SyncDeps, folder: Path) -> None:
    write(folder, "db.md", "---\ntitle: Database\n---\nConnect with password=Sup3rSecretValue1 to orders-db.\n")
    await sync_folder(folder, deps)
    (block,) = (await Retriever(deps.db).lookup("connect orders-db")).blocks
    assert "Sup3rSecretValue1" not in block.chunk.content
    assert "[REDACTED:password:" in block.chunk.content


async def test_a_link_that_leads_out_of_the_folder_is_refused(deps: SyncDeps, folder: Path, tmp_path: Path) -> None:
    (folder / "passwd.md").symlink_to(write(tmp_path, "outside.md", "# Outside\nsecret"))
    report = await sync_folder(folder, deps)
    assert [problem.document for problem in report.problems] == ["passwd.md"]
    assert await titles(deps.db, "outside secret") == []


async def test_hidden_folders_and_other_files_are_left_out(deps: SyncDeps, folder: Path) -> None:
    write(folder, ".git/notes.md", "# Hidden\ntext")
    write(folder, "notes.txt", "not Markdown")
    assert (await sync_folder(folder, deps)).indexed == ("pool.md", "zh/disk.md")


async def test_a_path_that_is_no_folder_is_refused(deps: SyncDeps, tmp_path: Path) -> None:
    with pytest.raises(ToolConfigError, match="is not a folder"):
        await sync_folder(tmp_path / "missing", deps)


async def test_an_empty_folder_makes_an_empty_base(deps: SyncDeps, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    report = await sync_folder(tmp_path / "none", deps)
    assert (report.chunks, report.domains, report.exit_code) == (0, (), 0)


async def test_a_second_sync_at_the_same_time_is_turned_away(deps: SyncDeps, folder: Path) -> None:
    KnowledgeStore(deps.db).claim("another", 60)
    report = await sync_folder(folder, deps)
    assert "Another sync is running" in (report.failure or "")
    assert report.exit_code == 2
    assert statuses(deps.db) == {}


# ---------------------------------------------------------------- with Milvus


def synced_with(deps: SyncDeps, vectors: VectorStore, embedder: MeaningEmbedder | None = None) -> SyncDeps:
    return SyncDeps(deps.db, deps.redact, "test", vectors, embedder)


async def test_milvus_holds_what_the_base_holds(deps: SyncDeps, folder: Path, vectors: VectorStore) -> None:
    both = synced_with(deps, vectors)
    await sync_folder(folder, both)
    assert vectors.count() == 2
    write(folder, "pool.md", POOL + "\n## More\n" + "Another sentence about it. " * 30)
    report = await sync_folder(folder, both)
    assert vectors.count() == report.chunks == 4
    (folder / "zh" / "disk.md").unlink()
    write(folder, "pool.md", "---\nbroken: [\n---\n")
    await sync_folder(folder, both)
    assert vectors.count() == 0


async def test_milvus_away_is_said_and_the_next_sync_finishes(
    deps: SyncDeps, folder: Path, vectors: VectorStore
) -> None:
    away = VectorStore("http://127.0.0.1:1", timeout_seconds=1)
    report = await sync_folder(folder, synced_with(deps, away))
    away.close()
    assert "check that it runs" in (report.failure or "")
    assert report.exit_code == 2
    assert set(statuses(deps.db).values()) == {"PENDING"}
    report = await sync_folder(folder, synced_with(deps, vectors))
    assert len(report.indexed) == 2
    assert set(statuses(deps.db).values()) == {"INDEXED"}


async def test_a_changed_document_is_found_by_its_old_text_while_milvus_is_away(deps: SyncDeps, folder: Path) -> None:
    await sync_folder(folder, deps)
    write(folder, "pool.md", POOL.replace("ERR_POOL_42", "ERR_POOL_43"))
    away = VectorStore("http://127.0.0.1:1", timeout_seconds=1)
    await sync_folder(folder, synced_with(deps, away))
    away.close()
    assert await titles(deps.db, "ERR_POOL_42") == ["Connection pool exhausted"]


class DiesAfterThePut(VectorStore):
    """A process that is killed between the two stores."""

    def put(self, chunks: object) -> None:
        super().put(chunks)  # type: ignore[arg-type]
        raise KeyboardInterrupt


async def test_a_sync_killed_between_the_two_stores_is_repaired_by_the_next(
    deps: SyncDeps, folder: Path, tmp_path: Path
) -> None:
    with milvus_folder(tmp_path / "crash.milvus") as milvus:
        dying = DiesAfterThePut(str(milvus), idle_seconds=0.1)
        with pytest.raises(KeyboardInterrupt):
            await sync_folder(folder, synced_with(deps, dying))
        dying.close()
        assert set(statuses(deps.db).values()) == {"PENDING"}
        with store_in(milvus, collection="proofthread_chunks") as vectors:
            report = await sync_folder(folder, synced_with(deps, vectors))
            assert len(report.indexed) == 2
            assert vectors.count() == report.chunks


async def test_an_embedder_added_later_gives_every_document_its_vectors(
    deps: SyncDeps, folder: Path, vectors: VectorStore
) -> None:
    await sync_folder(folder, synced_with(deps, vectors))
    embedder = MeaningEmbedder()
    report = await sync_folder(folder, synced_with(deps, vectors, embedder))
    assert len(report.indexed) == 2
    retriever = Retriever(deps.db, vectors=vectors, embedder=embedder)
    found = await retriever.lookup("disk full")
    assert [block.chunk.title for block in found.blocks] == ["磁盘写满"]


async def test_a_text_is_embedded_once(deps: SyncDeps, folder: Path, vectors: VectorStore) -> None:
    embedder = MeaningEmbedder()
    await sync_folder(folder, synced_with(deps, vectors, embedder))
    first = embedder.texts_embedded
    await sync_folder(folder, synced_with(deps, vectors, embedder), rebuild=True)
    assert embedder.texts_embedded == first


async def test_another_model_is_refused_until_a_rebuild_and_then_all_folders_follow(
    deps: SyncDeps, folder: Path, tmp_path: Path, vectors: VectorStore
) -> None:
    write(tmp_path / "other", "tls.md", "# TLS\nThe certificate expired.\n")
    for root in (folder, tmp_path / "other"):
        await sync_folder(root, synced_with(deps, vectors, MeaningEmbedder()))
    new = synced_with(deps, vectors, MeaningEmbedder("meanings-2"))
    refused = await sync_folder(folder, new)
    assert "--rebuild" in (refused.failure or "")
    report: SyncReport = await sync_folder(folder, new, rebuild=True)
    assert report.failure is None
    assert vectors.count() == report.chunks == 3
    assert (await sync_folder(tmp_path / "other", new)).unchanged == 1


async def test_progress_counts_chunks_to_the_end(deps: SyncDeps, folder: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    await sync_folder(folder, deps, on_progress=lambda done, total, name: seen.append((done, total, name)))
    assert seen[-1] == (2, 2, "zh/disk.md")


async def test_a_rebuild_reads_every_document_again_and_drops_the_deleted(deps: SyncDeps, folder: Path) -> None:
    await sync_folder(folder, deps)
    (folder / "pool.md").unlink()
    report = await sync_folder(folder, deps, rebuild=True)
    assert (report.indexed, report.removed, report.chunks) == (("zh/disk.md",), ("pool.md",), 1)


async def test_a_lost_milvus_is_filled_again_by_a_rebuild_of_any_folder(
    deps: SyncDeps, folder: Path, tmp_path: Path
) -> None:
    write(tmp_path / "other", "tls.md", "# TLS\nThe certificate expired.\n")
    with milvus_folder(tmp_path / "lost.milvus") as milvus:
        for root in (folder, tmp_path / "other"):
            with store_in(milvus, collection="first") as vectors:
                await sync_folder(root, synced_with(deps, vectors))
        with store_in(milvus, collection="second") as vectors:
            await sync_folder(folder, synced_with(deps, vectors), rebuild=True)
            assert vectors.count() == 3
