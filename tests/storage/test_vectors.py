"""Vectors in milvus-lite over the same wire as a server: rows, filters, models, and a server that comes and goes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from knowledge_base import eventually, milvus_folder, store_in

from storage.errors import StorageUnavailable
from storage.knowledge import Chunk
from storage.milvus_file import MilvusFile
from storage.vectors import (
    LEXICAL,
    LEXICAL_VECTOR,
    Embedding,
    EmbeddingMismatch,
    VectorStore,
    VectorsUnavailable,
    capacity_note,
)

MODEL = Embedding("test-model", 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with milvus_folder(tmp_path_factory.mktemp("vectors") / "chunks.milvus") as path:
        yield path


@pytest.fixture
def store(folder: Path) -> Iterator[VectorStore]:
    with store_in(folder) as opened:
        yield opened


def chunk(name: str, category: str = "runbooks", content: str = "text") -> Chunk:
    doc_id, index = name.split(".")
    return Chunk(name, doc_id, int(index), 2, "a/b.md", "Title", "Title > Part", category, content)


def found(store: VectorStore, *categories: str) -> list[str]:
    return [hit.chunk_id for hit in store.search([1.0, 0.0, 0.0], MODEL, categories, 10)]


def test_the_nearest_chunk_comes_first(store: VectorStore) -> None:
    store.prepare(MODEL)
    store.put([(chunk("a.0"), [0.0, 1.0, 0.0]), (chunk("a.1"), [1.0, 0.2, 0.0]), (chunk("b.0"), [1.0, 0.0, 0.0])])
    hits = store.search([2.0, 0.0, 0.0], MODEL, (), 2)
    assert [hit.chunk_id for hit in hits] == ["b.0", "a.1"]
    assert hits[0].similarity == pytest.approx(1.0)


def test_a_category_with_quotes_and_backslashes_filters_exactly(store: VectorStore) -> None:
    odd = 'run"books\\ or category != ""'
    store.prepare(MODEL)
    store.put([(chunk("a.0"), [1.0, 0.0, 0.0]), (chunk("b.0", odd), [1.0, 0.0, 0.0])])
    assert found(store, odd) == ["b.0"]
    assert found(store, "runbooks") == ["a.0"]
    assert found(store, "none") == []


def test_a_chunk_put_twice_is_one_chunk(store: VectorStore) -> None:
    store.prepare(MODEL)
    for _ in range(2):
        store.put([(chunk("a.0"), [1.0, 0.0, 0.0])])
    assert store.count() == 1


def test_forgetting_a_document_keeps_the_chunks_named(store: VectorStore) -> None:
    store.prepare(MODEL)
    store.put([(chunk(name), [1.0, 0.0, 0.0]) for name in ("a.0", "a.1", "b.0")])
    store.forget(["a"], but=["a.1"])
    assert sorted(found(store)) == ["a.1", "b.0"]
    store.forget(["a", "b"])
    assert store.count() == 0


def test_a_chunk_carries_the_seven_metadata_fields(store: VectorStore, folder: Path) -> None:
    store.prepare(MODEL)
    store.put([(chunk("a.1", content="連接池 😀"), [1.0, 0.0, 0.0])])
    client = store._opened()
    row = client.query(store._collection, filter='docId == "a"', output_fields=["*"], timeout=5)[0]
    del row["vector"]
    assert row == {
        "chunkId": "a.1",
        "docId": "a",
        "_source": "a/b.md",
        "chunkIndex": 1,
        "totalChunks": 2,
        "title": "Title",
        "breadcrumb": "Title > Part",
        "category": "runbooks",
        "content": "連接池 😀",
    }


def test_a_text_longer_than_milvus_takes_is_cut_there(store: VectorStore) -> None:
    store.prepare(MODEL)
    store.put([(chunk("a.0", content="磁" * 40_000), [1.0, 0.0, 0.0])])
    assert found(store) == ["a.0"]


def test_vectors_of_another_model_are_refused_until_a_rebuild(store: VectorStore) -> None:
    other = Embedding("other-model", 2)
    assert store.prepare(MODEL)
    assert not store.prepare(MODEL)
    with pytest.raises(EmbeddingMismatch, match=r"test-model \(3 numbers\).*--rebuild"):
        store.prepare(other)
    with pytest.raises(EmbeddingMismatch, match="other-model"):
        store.search([1.0, 0.0], other, (), 5)
    assert store.prepare(other, rebuild=True)
    assert store.embedding() == other


def test_a_store_without_vectors_gives_way_to_a_model(store: VectorStore) -> None:
    store.prepare(LEXICAL)
    store.put([(chunk("a.0"), LEXICAL_VECTOR)])
    with pytest.raises(EmbeddingMismatch, match="kb sync"):
        store.search([1.0, 0.0, 0.0], MODEL, (), 5)
    assert store.prepare(MODEL)
    assert store.count() == 0


def test_a_collection_of_somebody_else_is_left_alone(store: VectorStore) -> None:
    store._opened().create_collection(store._collection, dimension=3, timeout=10)
    with pytest.raises(EmbeddingMismatch, match="another collection"):
        store.prepare(MODEL, rebuild=True)


# ---------------------------------------------------------------- the server of a file


@pytest.fixture
def own_folder(tmp_path: Path) -> Iterator[Path]:
    with milvus_folder(tmp_path / "own.milvus") as path:
        yield path


def server_of(folder: Path) -> psutil.Process:
    return psutil.Process(json.loads(folder.with_name(folder.name + ".server").read_text())["pid"])


def kill(folder: Path) -> None:
    """Kill the folder's server and wait until the system has taken its lock away: that is when it is gone."""
    server_of(folder).send_signal(signal.SIGKILL)
    user = MilvusFile(folder, idle_seconds=0.1)
    eventually(lambda: not user.is_served())


def test_a_killed_server_is_started_again_with_its_data(own_folder: Path) -> None:
    with store_in(own_folder) as store:
        store.prepare(MODEL)
        store.put([(chunk("a.0"), [1.0, 0.0, 0.0])])
        kill(own_folder)
        assert found(store) == ["a.0"]


def test_a_frozen_server_costs_the_timeout_and_no_more(own_folder: Path) -> None:
    store = VectorStore(str(own_folder), timeout_seconds=0.5, idle_seconds=0.1)
    store.prepare(MODEL)
    server = server_of(own_folder)
    server.suspend()
    try:
        with pytest.raises(VectorsUnavailable, match="check that it runs"):
            store.count()
    finally:
        server.resume()
        store.close()


OPEN_AND_WAIT = """
import sys
from pathlib import Path
from storage.milvus_file import MilvusFile
user = MilvusFile(Path(sys.argv[1]), idle_seconds=0.1)
print(user.open(), flush=True)
sys.stdin.read()
"""


def opener(folder: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", OPEN_AND_WAIT, str(folder)], stdin=pipe, stdout=pipe, text=True)


def test_processes_that_start_at_once_share_one_server(tmp_path: Path) -> None:
    folder = tmp_path / "raced.milvus"
    processes = [opener(folder) for _ in range(3)]
    addresses = [process.stdout.readline() for process in processes if process.stdout]
    server = server_of(folder)
    for process in processes:
        process.communicate()
    assert len(set(addresses)) == 1
    assert addresses[0].startswith("http://127.0.0.1:")
    eventually(lambda: not server.is_running())


def test_a_server_stays_while_one_user_is_left_and_outlives_who_started_it(tmp_path: Path) -> None:
    folder = tmp_path / "shared.milvus"
    first = opener(folder)
    assert first.stdout
    address = first.stdout.readline().strip()
    second = MilvusFile(folder, idle_seconds=0.1)
    assert second.open() == address
    first.kill()
    first.communicate()
    assert second.open() == address
    server = server_of(folder)
    second.close()
    eventually(lambda: not server.is_running())


def test_an_address_left_by_a_dead_server_is_not_believed(tmp_path: Path) -> None:
    folder = tmp_path / "stale.milvus"
    folder.with_name(folder.name + ".server").write_text(json.dumps({"pid": os.getpid(), "port": 1}))
    with milvus_folder(folder), store_in(folder) as store:
        assert store.count() == 0


def test_a_folder_that_cannot_be_served_says_why(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a folder")
    store = VectorStore(str(file))
    with pytest.raises(StorageUnavailable, match="Cannot open the vector store"):
        store.count()
    store.close()


# ---------------------------------------------------------------- a server by address


def test_a_server_that_is_away_is_said_at_once_and_without_its_password() -> None:
    store = VectorStore("http://root:hunter2@127.0.0.1:1", timeout_seconds=2)
    with pytest.raises(VectorsUnavailable, match="check that it runs and that milvus_uri is right") as caught:
        store.count()
    store.close()
    assert "hunter2" not in str(caught.value)


def test_making_a_store_opens_nothing(tmp_path: Path) -> None:
    VectorStore(str(tmp_path / "none.milvus")).close()
    assert list(tmp_path.iterdir()) == []


def test_only_a_file_with_too_many_chunks_gets_a_note() -> None:
    assert capacity_note(10_000, "data/chunks.milvus") is None
    assert capacity_note(1_000_000, "http://milvus:19530") is None
    assert "run a Milvus server" in (capacity_note(10_001, "data/chunks.milvus") or "")
