"""A lookup finds exact codes first, fuses words and meaning, and says when nothing is relevant."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from knowledge_base import MeaningEmbedder, milvus_folder, store_in, write

from storage.engine import Database
from storage.vectors import VectorStore
from tools.builtin.lookup_knowledge import TOOL, LookupKnowledge
from tools.contracts import NO_EVIDENCE_PATH, CallContext, EvidenceStatus, ToolDeps, ToolResult
from tools.errors import ToolFailed
from tools.ingest import SyncDeps, sync_folder
from tools.redaction import Redactor
from tools.retrieval import Lookup, Retriever
from tools.skills import SkillRegistry

CONTEXT = CallContext("run-1", datetime(2026, 11, 30, tzinfo=UTC), ZoneInfo("UTC"))
DOCUMENTS = {
    "runbooks/pool.md": "# Connection pool exhausted\nHikariPool-1 - Connection is not available: every connection of the"
    " pool is checked out. Look for slow queries and long transactions first.",
    "runbooks/timeout.md": "# Upstream timeouts\nThe gateway answers ERR_TIMEOUT when an upstream needs more than 30 s.",
    "runbooks/orders.md": "# Orders API\nGET /api/v1/orders/{id} reads one order; 404 means that it was archived.",
    "database/deadlock.md": "# Deadlocks\nORA-00060 and MySQL 1213 mean a deadlock: one transaction was rolled back.",
    "database/磁盘.md": "# 磁盘写满\n当磁盘使用率超过 90% 时,先清理过期的归档日志,再扩容数据盘。",
    "security/tls.md": "# 证书过期\nTLS 握手失败多半是证书过期:检查 notAfter 并重新签发证书。",
}


@pytest.fixture
async def retriever(sqlite_database: Database, tmp_path: Path) -> Retriever:
    for name, text in DOCUMENTS.items():
        write(tmp_path / "kb", name, text)
    await sync_folder(tmp_path / "kb", SyncDeps(sqlite_database, Redactor().text, "test"))
    return Retriever(sqlite_database)


def sources(found: Lookup) -> list[str]:
    return [block.chunk.source for block in found.blocks]


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("what does ERR_TIMEOUT mean", "runbooks/timeout.md"),
        ("err_timeout", "runbooks/timeout.md"),
        ("ORA-00060", "database/deadlock.md"),
        ("HikariPool-1 报错怎么处理", "runbooks/pool.md"),
        ("5xx from /api/v1/orders/4711", "runbooks/orders.md"),
        ("runbook Upstream Timeouts please", "runbooks/timeout.md"),
        ("磁盘写满 怎么办", "database/磁盘.md"),
    ],
)
async def test_a_code_a_path_or_a_title_is_found_exactly(retriever: Retriever, query: str, source: str) -> None:
    found = await retriever.lookup(query)
    assert sources(found)[0] == source
    assert found.blocks[0].layer == "L0"
    assert found.blocks[0].matched
    assert found.l0_match_count >= 1
    assert found.relevance_level == "high"


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("why are all connections of the pool checked out", "runbooks/pool.md"),
        ("磁盘使用率太高要先清理什么", "database/磁盘.md"),
        ("握手失败", "security/tls.md"),
        ("transaction rolled back", "database/deadlock.md"),
    ],
)
async def test_words_find_what_they_describe(retriever: Retriever, query: str, source: str) -> None:
    found = await retriever.lookup(query)
    assert sources(found)[0] == source
    assert found.retrieval_layer == "L1"
    assert found.l0_match_count == 0


async def test_exact_and_ranked_hits_are_told_apart(retriever: Retriever) -> None:
    found = await retriever.lookup("ERR_TIMEOUT while every connection of the pool is checked out by slow queries")
    assert sources(found)[:2] == ["runbooks/timeout.md", "runbooks/pool.md"]
    assert (found.retrieval_layer, found.l0_match_count, found.l1_match_count) == ("L0+L1", 1, 1)
    assert found.retrieved_domains == ("runbooks",)


@pytest.mark.parametrize("query", ["how do I bake bread", "ERR_UNKNOWN_77", "今天天气怎么样", "why is it", "😀", "???"])
async def test_what_is_not_there_is_not_found(retriever: Retriever, query: str) -> None:
    found = await retriever.lookup(query)
    assert found.blocks == ()
    assert (found.retrieval_layer, found.relevance_level) == (None, None)


async def test_a_code_that_many_documents_hold_is_found_beside_other_codes(
    retriever: Retriever, sqlite_database: Database, tmp_path: Path
) -> None:
    for number in range(8):
        write(tmp_path / "more", f"{number}.md", f"# Incident {number}\nORD-5031 again, solved by restart {number}.")
    await sync_folder(tmp_path / "more", SyncDeps(sqlite_database, Redactor().text, "test"))
    found = await retriever.lookup("ORD-5031 SQLTransientConnectionException CHK-5042", limit=3)
    assert len(found.blocks) == 3
    assert all("ORD-5031" in block.chunk.content for block in found.blocks)


async def test_a_person_browsing_sees_the_weak_hits_too(retriever: Retriever) -> None:
    query = "our quarterly compliance audit asks which transaction logs the vendor archived"
    assert (await retriever.lookup(query)).blocks == ()
    browsed = await retriever.lookup(query, with_floor=False)
    assert browsed.blocks
    assert browsed.relevance_level == "low"


async def test_only_the_asked_domains_are_searched(retriever: Retriever) -> None:
    assert sources(await retriever.lookup("ERR_TIMEOUT deadlock", ["database"])) == ["database/deadlock.md"]


async def test_an_unknown_domain_is_answered_with_the_known_ones(retriever: Retriever) -> None:
    with pytest.raises(ToolFailed, match="database, runbooks, security"):
        await retriever.lookup("ERR_TIMEOUT", ["runbook"])
    found = await retriever.lookup("ERR_TIMEOUT", ["runbook", "runbooks"])
    assert sources(found) == ["runbooks/timeout.md"]
    assert found.notes == ("no such domain: runbook",)


async def test_cases_may_be_asked_before_there_are_any(retriever: Retriever) -> None:
    assert (await retriever.lookup("ERR_TIMEOUT", ["cases"])).blocks == ()


async def test_the_same_text_in_two_folders_is_given_once(
    retriever: Retriever, sqlite_database: Database, tmp_path: Path
) -> None:
    write(tmp_path / "other", "copy.md", DOCUMENTS["runbooks/timeout.md"])
    await sync_folder(tmp_path / "other", SyncDeps(sqlite_database, Redactor().text, "test"))
    found = await retriever.lookup("ERR_TIMEOUT")
    assert len(found.blocks) == 1
    assert found.dedup_reason == "1 with the same text left out"


async def test_a_lookup_sees_the_next_sync(retriever: Retriever, sqlite_database: Database, tmp_path: Path) -> None:
    assert sources(await retriever.lookup("ERR_NEW_1")) == []
    write(tmp_path / "kb", "runbooks/new.md", "# New\nERR_NEW_1 is new.")
    (tmp_path / "kb" / "runbooks/timeout.md").unlink()
    await sync_folder(tmp_path / "kb", SyncDeps(sqlite_database, Redactor().text, "test"))
    assert sources(await retriever.lookup("ERR_NEW_1")) == ["runbooks/new.md"]
    assert sources(await retriever.lookup("ERR_TIMEOUT")) == []


async def test_both_databases_rank_alike(mariadb_url: str, retriever: Retriever, tmp_path: Path) -> None:
    other = Database(mariadb_url)
    await sync_folder(tmp_path / "kb", SyncDeps(other, Redactor().text, "test"))
    for query in ("pool connection transaction", "ERR_TIMEOUT deadlock", "证书 磁盘 清理"):
        ours = await retriever.lookup(query, with_floor=False)
        assert await Retriever(other).lookup(query, with_floor=False) == ours
        assert len(ours.blocks) > 1
    other.close()


async def test_the_domain_map_is_offered(retriever: Retriever) -> None:
    assert [domain.domain_id for domain in await retriever.domains()] == ["database", "runbooks", "security"]


# ---------------------------------------------------------------- the tool


async def call(retriever: Retriever | None, **arguments: object) -> ToolResult:
    deps = ToolDeps(skills=SkillRegistry.load(), retriever=retriever)
    result = await TOOL.run(LookupKnowledge.model_validate(arguments), deps, CONTEXT)
    assert isinstance(result, ToolResult)
    return result


async def test_each_block_is_a_ref_with_its_text_verbatim(retriever: Retriever) -> None:
    result = await call(retriever, query="ERR_TIMEOUT while every connection of the pool is checked out")
    assert result.evidence_status is EvidenceStatus.SUPPORTED
    for index, ref in enumerate(result.evidence_refs):
        assert ref.raw_path == f"$.evidence_blocks[{index}]"
        assert ref.text == result.payload["evidence_blocks"][index]
        assert ref.text in DOCUMENTS[ref.scope["document"]]
    assert result.evidence_refs[0].scope == {
        "domain": "runbooks",
        "document": "runbooks/timeout.md",
        "title": "Upstream timeouts",
        "breadcrumb": "Upstream timeouts",
        "source": "knowledge",
    }


async def test_the_trace_keeps_how_it_was_found(retriever: Retriever) -> None:
    details = (await call(retriever, query="ERR_TIMEOUT")).retrieval_details
    assert details == {
        "retrieval_layer": "L0",
        "l0_match_count": 1,
        "l1_match_count": 0,
        "relevance_level": "high",
        "retrieved_domains": ["runbooks"],
        "dedup_reason": None,
        "source_documents": ["runbooks/timeout.md"],
        "searched_domains": ["database", "runbooks", "security"],
        "notes": [],
    }


async def test_nothing_relevant_is_a_result_that_names_what_was_searched(retriever: Retriever) -> None:
    result = await call(retriever, query="how do I bake bread")
    assert result.evidence_status is EvidenceStatus.NO_EVIDENCE
    (ref,) = result.evidence_refs
    assert ref.raw_path == NO_EVIDENCE_PATH
    assert "database, runbooks, security" in ref.text
    assert "bake bread" in ref.text


async def test_an_empty_base_says_how_to_fill_it(sqlite_database: Database) -> None:
    result = await call(Retriever(sqlite_database), query="ERR_TIMEOUT")
    assert "kb sync" in result.payload["no_evidence"]


def test_without_a_base_the_tool_is_not_offered() -> None:
    assert TOOL.unavailable(ToolDeps(skills=SkillRegistry.load())) == "no knowledge base is configured"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("why is checkout slow", "checkout slow", True),
        ("checkout slow", "slow checkouts", True),
        ("checkout slow", "checkout down", False),
    ],
)
def test_questions_with_the_same_words_are_the_same_call(one: str, other: str, same: bool) -> None:
    assert TOOL.compiled
    compiled = [TOOL.compiled(LookupKnowledge(query=query), CONTEXT) for query in (one, other)]
    assert (compiled[0] == compiled[1]) is same


# ---------------------------------------------------------------- with vectors


@pytest.fixture(scope="module")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with milvus_folder(tmp_path_factory.mktemp("lookup") / "chunks.milvus") as folder:
        yield folder


@pytest.fixture
async def vectors(milvus: Path, retriever: Retriever, sqlite_database: Database, tmp_path: Path) -> AsyncIterator[VectorStore]:
    with store_in(milvus) as store:
        deps = SyncDeps(sqlite_database, Redactor().text, "test", store, MeaningEmbedder())
        assert (await sync_folder(tmp_path / "kb", deps)).failure is None
        yield store


async def test_an_english_question_finds_a_chinese_document_by_meaning(
    sqlite_database: Database, vectors: VectorStore
) -> None:
    found = await Retriever(sqlite_database, vectors=vectors, embedder=MeaningEmbedder()).lookup("certificate trouble")
    assert sources(found) == ["security/tls.md"]
    (block,) = found.blocks
    assert block.share is None or block.share < 0.25
    assert block.similarity is not None
    assert block.similarity > 0.9


async def test_meaning_keeps_to_the_asked_domains(sqlite_database: Database, vectors: VectorStore) -> None:
    retriever = Retriever(sqlite_database, vectors=vectors, embedder=MeaningEmbedder())
    assert sources(await retriever.lookup("certificate trouble", ["runbooks"])) == []


async def test_a_question_near_nothing_finds_nothing(sqlite_database: Database, vectors: VectorStore) -> None:
    retriever = Retriever(sqlite_database, vectors=vectors, embedder=MeaningEmbedder())
    assert sources(await retriever.lookup("how do I bake bread")) == []


async def test_vectors_of_deleted_documents_are_not_believed(
    sqlite_database: Database, vectors: VectorStore, tmp_path: Path
) -> None:
    (tmp_path / "kb" / "security/tls.md").unlink()
    await sync_folder(tmp_path / "kb", SyncDeps(sqlite_database, Redactor().text, "test"))
    retriever = Retriever(sqlite_database, vectors=vectors, embedder=MeaningEmbedder())
    assert "security/tls.md" not in sources(await retriever.lookup("certificate trouble", with_floor=False))


async def test_with_milvus_away_words_still_answer_and_the_answer_says_so(retriever: Retriever, sqlite_database: Database) -> None:
    away = VectorStore("http://127.0.0.1:1", timeout_seconds=1)
    found = await Retriever(sqlite_database, vectors=away, embedder=MeaningEmbedder()).lookup("ERR_TIMEOUT")
    away.close()
    assert sources(found) == ["runbooks/timeout.md"]
    assert found.notes[0].startswith("searched by words only: Milvus at http://127.0.0.1:1 cannot")


async def test_vectors_of_another_model_are_not_compared(sqlite_database: Database, vectors: VectorStore) -> None:
    retriever = Retriever(sqlite_database, vectors=vectors, embedder=MeaningEmbedder("other-model"))
    found = await retriever.lookup("ERR_TIMEOUT")
    assert sources(found) == ["runbooks/timeout.md"]
    assert "--rebuild" in found.notes[0]


async def test_without_an_embedder_milvus_is_never_opened(retriever: Retriever, sqlite_database: Database, tmp_path: Path) -> None:
    closed = VectorStore(str(tmp_path / "never.milvus"))
    await Retriever(sqlite_database, vectors=closed).lookup("ERR_TIMEOUT")
    closed.close()
    assert not list(tmp_path.glob("never.milvus*"))
