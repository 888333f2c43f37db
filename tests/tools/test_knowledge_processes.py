"""`kb sync` in one process while another searches the same files."""

import asyncio
import sys
from pathlib import Path

from knowledge_base import MeaningEmbedder, milvus_folder, store_in, write

from storage.engine import Database
from storage.knowledge import KnowledgeStore
from tools.ingest import SyncDeps, sync_folder
from tools.redaction import Redactor
from tools.retrieval import Lookup, Retriever

DOCUMENTS = 40
SYNC = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from knowledge_base import MeaningEmbedder
from storage.engine import Database
from storage.vectors import VectorStore
from tools.ingest import SyncDeps, sync_folder
from tools.redaction import Redactor

async def main():
    db, vectors = Database(sys.argv[2]), VectorStore(sys.argv[3], idle_seconds=0.1)
    report = await sync_folder(Path(sys.argv[4]), SyncDeps(db, Redactor().text, "child", vectors, MeaningEmbedder()))
    vectors.close()
    db.close()
    print(len(report.indexed), report.failure)

asyncio.run(main())
"""


def write_all(folder: Path, version: int) -> None:
    for number in range(DOCUMENTS):
        text = f"# Document {number}\nThe pool connection code is CODE_{number}_V{version}.\n"
        write(folder, f"d{number}.md", text)


async def test_a_search_goes_on_while_another_process_syncs(database_url: str, tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    write_all(kb, 1)
    db = Database(database_url)
    with milvus_folder(tmp_path / "chunks.milvus") as milvus, store_in(milvus, collection="proofthread_chunks") as vectors:
        retriever = Retriever(db, vectors=vectors, embedder=MeaningEmbedder())
        await sync_folder(kb, SyncDeps(db, Redactor().text, "parent", vectors, MeaningEmbedder()))
        write_all(kb, 2)
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SYNC, str(Path(__file__).parent.parent / "support"), database_url, str(milvus), str(kb),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        said = asyncio.create_task(child.communicate())
        searches = []
        while not said.done():
            searches.append(await retriever.lookup("CODE_7_V1 CODE_7_V2 pool connection", limit=3))
        out, err = await said
        assert (out.decode().strip(), child.returncode) == (f"{DOCUMENTS} None", 0), err.decode()
        # Never a hole and never a mixture: each search found one version of the document, whole.
        assert all(versions(found) in ([1], [2]) for found in searches)
        assert versions(searches[0]) == [1]
        assert all(found.notes == () for found in searches)
        assert versions(await retriever.lookup("CODE_7_V1 CODE_7_V2")) == [2]
        assert vectors.count() == KnowledgeStore(db).chunk_count() == DOCUMENTS
    db.close()


def versions(found: Lookup) -> list[int]:
    text = next(block.chunk.content for block in found.blocks if block.matched)
    return [version for version in (1, 2) if f"CODE_7_V{version}" in text]
