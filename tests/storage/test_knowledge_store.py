"""The knowledge tables on SQLite and MariaDB."""

from dataclasses import replace

from storage.database import Database
from storage.knowledge import Chunk, Document, DocumentStatus, Domain, IndexRow, KnowledgeStore


def document(doc_id: str, **changes: object) -> Document:
    made = Document(doc_id, f"{doc_id}.md", f"/kb/{doc_id}.md", "h1", DocumentStatus.PENDING, 0, {"title": "标题 😀"})
    return replace(made, **changes)  # type: ignore[arg-type]


def chunk(chunk_id: str, content: str = "text") -> Chunk:
    doc_id, index = chunk_id.split(".")
    return Chunk(chunk_id, doc_id, int(index), 1, "a.md", "Title", "Title > Part", "runbooks", content)


def test_documents_are_written_and_rewritten(database: Database) -> None:
    store = KnowledgeStore(database)
    store.put_documents([document("a"), document("b")])
    indexed = document("b", status=DocumentStatus.INDEXED, chunk_count=3, file_hash="h2")
    store.put_documents([indexed, document("c")])
    assert store.documents() == [document("a"), indexed, document("c")]


def test_chunks_are_replaced_whole_and_the_revision_goes_up(database: Database) -> None:
    store = KnowledgeStore(database)
    store.replace_chunks(["a"], [(chunk("a.0"), b"one"), (chunk("a.1"), b"two")])
    store.replace_chunks(["b"], [(chunk("b.0"), b"three")])
    before = store.revision()
    store.replace_chunks(["a"], [(chunk("a.2", "new 连接池 😀"), b"four")])
    assert store.revision() == before + 1
    assert store.chunk_ids() == {"a.2", "b.0"}
    assert store.chunks(["a.0", "a.2"]) == {"a.2": chunk("a.2", "new 连接池 😀")}
    assert store.index_rows(["a.2"]) == [IndexRow("a.2", "a", "Title", "runbooks", b"four")]
    assert store.chunks_of(["b"]) == [chunk("b.0")]


def test_term_vectors_longer_than_a_blob_are_kept_whole(database: Database) -> None:
    store = KnowledgeStore(database)
    long = bytes(range(256)) * 1000
    store.replace_chunks(["a"], [(chunk("a.0"), long)])
    assert store.index_rows()[0].terms == long


def test_removing_a_document_removes_its_chunks(database: Database) -> None:
    store = KnowledgeStore(database)
    store.put_documents([document("a"), document("b")])
    store.replace_chunks(["a", "b"], [(chunk("a.0"), b""), (chunk("b.0"), b"")])
    store.remove(["a"])
    assert [row.doc_id for row in store.documents()] == ["b"]
    assert store.chunk_count() == 1


def test_one_sync_at_a_time_may_write(database: Database) -> None:
    store = KnowledgeStore(database)
    assert store.claim("first", 60)
    assert store.claim("first", 60)
    assert not store.claim("second", 60)
    store.release("second")
    assert not store.claim("second", 60)
    store.release("first")
    assert store.claim("second", 60)


def test_the_claim_of_a_dead_sync_runs_out(database: Database) -> None:
    store = KnowledgeStore(database)
    assert store.claim("dead", -1)
    assert store.claim("second", 60)


def test_claiming_leaves_the_revision_alone(database: Database) -> None:
    store = KnowledgeStore(database)
    store.replace_chunks(["a"], [(chunk("a.0"), b"")])
    before = store.revision()
    store.claim("me", 60)
    store.release("me")
    assert store.revision() == before


def test_domains_are_replaced_whole(database: Database) -> None:
    store = KnowledgeStore(database)
    store.put_domains([Domain("runbooks", "How to", "when slow", 2), Domain("数据库", "DB", "", 1)])
    assert [domain.domain_id for domain in store.domains()] == ["runbooks", "数据库"]
    store.put_domains([Domain("runbooks", "How to", "when slow", 3)])
    assert store.domains() == [Domain("runbooks", "How to", "when slow", 3)]
    store.put_domains([])
    assert store.domains() == []


def test_vectors_are_cached_once(database: Database) -> None:
    store = KnowledgeStore(database)
    store.cache_vectors({"k1": b"\x00\x01"})
    store.cache_vectors({"k1": b"other", "k2": b"\xff"})
    assert store.vectors(["k1", "k2", "k3"]) == {"k1": b"\x00\x01", "k2": b"\xff"}
