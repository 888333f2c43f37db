"""Ranking on public question sets (xquad and cmrc2018, CC BY-SA 4.0), held to the BM25 rows that were measured."""

import json
import math
from pathlib import Path

import pytest

from storage.engine import Database
from tools.ingest import SyncDeps, sync_folder
from tools.retrieval import Retriever

IR = Path(__file__).resolve().parents[3] / "shared" / "ir"
QUESTIONS = 300


@pytest.mark.skipif(not IR.is_dir(), reason="the question sets are not beside the repository (../shared/ir)")
@pytest.mark.parametrize(
    ("name", "ndcg", "as_evidence"),
    [("xquad/en", 0.959, 0.96), ("xquad/zh", 0.967, 0.92), ("cmrc2018", 0.977, 0.97)],
)
async def test_words_alone_rank_as_well_as_bm25_can(
    name: str, ndcg: float, as_evidence: float, sqlite_database: Database, tmp_path: Path
) -> None:
    for doc in lines(IR / name / "docs.jsonl"):
        (tmp_path / f"{doc['id']}.md").write_text(f"---\ntitle: x\n---\n{doc['text']}\n", encoding="utf-8")
    await sync_folder(tmp_path, SyncDeps(sqlite_database, str, "test"))
    retriever = Retriever(sqlite_database)
    assert await mean_ndcg(retriever, IR / name, with_floor=False) >= ndcg
    assert await mean_ndcg(retriever, IR / name, with_floor=True) >= as_evidence


async def mean_ndcg(retriever: Retriever, questions: Path, *, with_floor: bool) -> float:
    """nDCG@10 with one relevant document a question; a document counts by its best chunk."""
    rows = (questions / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    wanted = dict(row.split("\t")[:2] for row in rows)
    total = 0.0
    for question in lines(questions / "queries.jsonl")[:QUESTIONS]:
        found = await retriever.lookup(question["text"], limit=30, with_floor=with_floor)
        documents = list(dict.fromkeys(Path(block.chunk.source).stem for block in found.blocks))[:10]
        right = wanted[question["id"]]
        total += 1 / math.log2(documents.index(right) + 2) if right in documents else 0.0
    return total / QUESTIONS


def lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
