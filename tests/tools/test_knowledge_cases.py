"""Cases are found as leads: by whom they may be, as long as they stand, and never as evidence."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from knowledge_base import MeaningEmbedder, milvus_folder, store_in, write
from slack_jobs import THREAD, new_job

from storage.audience import Audience
from storage.cases import Case, CaseStore, CaseText, NewCase
from storage.engine import Database
from storage.feedback import FeedbackStore
from storage.jobs import JobStore
from storage.knowledge import KnowledgeStore
from tools.builtin.lookup_knowledge import TOOL, LookupKnowledge
from tools.case_index import forget_cases, index_case
from tools.contracts import CallContext, EvidenceStatus, ToolDeps
from tools.ingest import SyncDeps, sync_folder
from tools.retrieval import Lookup, Retriever
from tools.skills import SkillRegistry

TEXT = CaseText(
    "Why is checkout slow?", "HikariPool-1 of order-service ran dry after rev 41", "Set maximum-pool-size to 30", "POOL"
)
NEW = NewCase("case-1", "run-1", TEXT, "active", "PASS", "en", "T1", "C1", THREAD.ts, is_private=False)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
QUERY = "HikariPool-1 ran dry, order-service"
HERE, ELSEWHERE = Audience("T1", "C1"), Audience("T1", "C2")


def deps_of(db: Database) -> SyncDeps:
    return SyncDeps(db, str, "test")


async def kept(db: Database, **changes: object) -> Case:
    JobStore(db).add(new_job(1))
    case = CaseStore(db).save(replace(NEW, **changes))
    await index_case(case, deps_of(db))
    return case


async def found(db: Database, audience: Audience = HERE, domains: tuple[str, ...] = ()) -> list[str]:
    return ids(await Retriever(db, cases=CaseStore(db)).lookup(QUERY, domains, audience=audience))


def ids(lookup: Lookup) -> list[str]:
    return [block.chunk.doc_id for block in lookup.blocks]


async def test_a_case_is_found_by_its_words_and_its_domain(database: Database) -> None:
    await kept(database)
    assert await found(database) == await found(database, domains=("cases",)) == ["case-case-1"]
    [domain] = KnowledgeStore(database).domains()
    assert (domain.domain_id, domain.document_count) == ("cases", 1)
    assert "checkout" not in domain.description


async def test_a_lookup_gives_a_case_under_its_own_domain(sqlite_database: Database) -> None:
    await kept(sqlite_database, is_private=True)
    deps = ToolDeps(skills=SkillRegistry(), retriever=Retriever(sqlite_database, cases=CaseStore(sqlite_database)))
    context = CallContext("run-2", NOON, ZoneInfo("UTC"), audience=HERE)
    result = await TOOL.run(LookupKnowledge(query=QUERY), deps, context)
    assert result.evidence_status is EvidenceStatus.SUPPORTED
    assert result.evidence_refs[0].scope["domain"] == "cases"
    assert "HikariPool-1" in result.evidence_refs[0].text
    elsewhere = await TOOL.run(LookupKnowledge(query=QUERY), deps, replace(context, audience=ELSEWHERE))
    assert elsewhere.evidence_status is EvidenceStatus.NO_EVIDENCE


async def test_cases_take_no_runbooks_place(sqlite_database: Database, tmp_path: Path) -> None:
    write(tmp_path, "pool.md", "HikariPool-1 ran dry: order-service has too few connections.")
    await sync_folder(tmp_path, deps_of(sqlite_database))
    for number in range(3):
        JobStore(sqlite_database).add(new_job(number))
        text = replace(TEXT, title=f"Why is checkout slow, day {number}?", solution=f"Set it to {number}")
        new = replace(NEW, case_id=f"case-{number}", run_id=f"run-{number}", text=text)
        await index_case(CaseStore(sqlite_database).save(new), deps_of(sqlite_database))
    lookup = await Retriever(sqlite_database, cases=CaseStore(sqlite_database)).lookup(QUERY, limit=1, audience=HERE)
    assert sorted(block.chunk.category == "cases" for block in lookup.blocks) == [False, True, True]
    cases = await Retriever(sqlite_database, cases=CaseStore(sqlite_database)).lookup(QUERY, ["cases"], 1, audience=HERE)
    assert len(cases.blocks) == 1


@pytest.mark.parametrize("domains", [(), ("cases",)])
async def test_a_private_channels_case_is_found_there_alone(
    sqlite_database: Database, domains: tuple[str, ...]
) -> None:
    await kept(sqlite_database, is_private=True)
    assert await found(sqlite_database, HERE, domains)
    assert not await found(sqlite_database, ELSEWHERE, domains)
    assert not await found(sqlite_database, Audience(), domains)


async def test_a_case_that_no_longer_stands_is_hidden_before_it_leaves_the_index(sqlite_database: Database) -> None:
    await kept(sqlite_database)
    FeedbackStore(sqlite_database).vote("run-1", "U2", "not_useful", "button", NOON)
    assert not await found(sqlite_database)
    FeedbackStore(sqlite_database).retract("run-1", "U2", "not_useful", "button", NOON)
    assert await found(sqlite_database)
    CaseStore(sqlite_database).retract("case-1", "U1")
    assert not await found(sqlite_database)


async def test_a_retracted_case_leaves_the_index_and_the_map(database: Database) -> None:
    await kept(database)
    await index_case(CaseStore(database).retract("case-1", "U1"), deps_of(database))
    store = KnowledgeStore(database)
    assert (store.chunk_count(), store.documents(), store.domains()) == (0, [], [])
    await forget_cases(["case-1"], deps_of(database))


async def test_a_case_may_be_indexed_by_many_at_once(database: Database) -> None:
    case = await kept(database)
    await index_case(CaseStore(database).retract("case-1", "U1"), deps_of(database))
    await asyncio.gather(*(index_case(case, deps_of(database)) for _ in range(4)))
    assert KnowledgeStore(database).chunk_count() == 1


async def test_an_edited_case_is_found_by_its_new_words(sqlite_database: Database) -> None:
    await kept(sqlite_database)
    edited = CaseStore(sqlite_database).edit("case-1", replace(TEXT, root_cause="ERR_DISK_FULL on db-2"), "U1")
    await index_case(edited, deps_of(sqlite_database))
    retriever = Retriever(sqlite_database, cases=CaseStore(sqlite_database))
    assert ids(await retriever.lookup("ERR_DISK_FULL", audience=HERE)) == ["case-case-1"]
    assert not await found(sqlite_database)


async def test_a_sync_of_documents_leaves_the_cases_alone(sqlite_database: Database, tmp_path: Path) -> None:
    await kept(sqlite_database)
    write(tmp_path / "kb", "tls.md", "# Certificates\nRenew them before notAfter.")
    report = await sync_folder(tmp_path / "kb", deps_of(sqlite_database), rebuild=True)
    assert report.domains[0] == "cases"
    assert await found(sqlite_database) == ["case-case-1"]


async def test_a_base_without_its_case_library_shows_no_case(sqlite_database: Database) -> None:
    await kept(sqlite_database)
    assert not (await Retriever(sqlite_database).lookup(QUERY)).blocks


async def test_nearness_does_not_open_a_private_case(sqlite_database: Database, tmp_path: Path) -> None:
    with milvus_folder(tmp_path / "milvus") as folder, store_in(folder) as vectors:
        deps = SyncDeps(sqlite_database, str, "test", vectors, MeaningEmbedder())
        write(tmp_path / "kb", "tls.md", "# Certificates\nA tls certificate expired.")
        await sync_folder(tmp_path / "kb", deps)
        JobStore(sqlite_database).add(new_job(1))
        text = CaseText("Slow", "the connection pool is empty", "a larger pool")
        await index_case(CaseStore(sqlite_database).save(replace(NEW, text=text, is_private=True)), deps)
        retriever = Retriever(
            sqlite_database, vectors=vectors, embedder=MeaningEmbedder(), cases=CaseStore(sqlite_database)
        )
        asked = "连接"
        assert "case-case-1" in ids(await retriever.lookup(asked, audience=HERE))
        assert "case-case-1" not in ids(await retriever.lookup(asked, audience=ELSEWHERE))
        await index_case(CaseStore(sqlite_database).retract("case-1", "U1"), deps)
        assert vectors.count() == 1


async def test_without_vectors_a_case_is_found_by_its_words(sqlite_database: Database, tmp_path: Path) -> None:
    with milvus_folder(tmp_path / "milvus") as folder, store_in(folder) as vectors:
        deps = SyncDeps(sqlite_database, str, "test", vectors, MeaningEmbedder())
        JobStore(sqlite_database).add(new_job(1))
        await index_case(CaseStore(sqlite_database).save(NEW), deps)
        assert await found(sqlite_database)
        write(tmp_path / "kb", "tls.md", "# Certificates\nA tls certificate expired.")
        await sync_folder(tmp_path / "kb", deps)
        assert vectors.count() == 2
