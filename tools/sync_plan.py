"""What a sync has to do: which files changed, which documents are gone, and what each readable file holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from storage.knowledge import Chunk, Document, DocumentStatus
from tools.chunking import chunk_markdown
from tools.documents import BrokenDocument, ReadDocument, SourceFile, read_document
from tools.lexical import pack_terms
from tools.tokens import term_counts

# Goes up when chunks of an unchanged file would come out differently.
INDEX_VERSION = 1
BATCH_CHUNKS = 256


@dataclass(frozen=True)
class SyncProblem:
    """A document that was not loaded: `line` counts from 1, None where no line is to blame."""

    document: str
    line: int | None
    message: str

    def __str__(self) -> str:
        place = f"{self.document}:{self.line}" if self.line else self.document
        return f"{place}: {self.message}"


@dataclass(frozen=True)
class Chosen:
    """A file that stands for its content, and the files that hold the same."""

    file: SourceFile
    aliases: list[str]


@dataclass(frozen=True)
class Plan:
    """`gone` are the rows of this folder that no file stands for."""

    changed: list[Chosen]
    unchanged: int
    gone: list[Document]
    aliases: dict[str, str]


@dataclass(frozen=True)
class Piece:
    """A readable document on its way into the stores."""

    row: Document
    chunks: list[Chunk]
    terms: list[bytes]

    @property
    def chunk_count(self) -> int:
        return len(self.chunks)


@dataclass(frozen=True)
class Broken:
    problem: SyncProblem
    row: Document


def planned(
    files: list[SourceFile],
    rows: dict[str, Document],
    root: Path,
    model: str,
    unopened: dict[str, str],
    *,
    rebuild: bool,
    alone: bool = False,
) -> Plan:
    """`alone`: documents of other folders go too. They also go where their file is gone and its content is here: the
    folder was moved.

    `rows` are all documents by doc_id, `model` what their vectors must come from; documents of files that cannot be
    opened at the moment stay. With `rebuild` every file counts as changed."""
    chosen = _one_per_content(files, rows)
    changed = [one for one in chosen if rebuild or not _is_indexed(one, rows.get(one.file.doc_id), model)]
    kept = {one.file.doc_id for one in chosen}
    contents = {file.content_hash for file in files}
    ours = (row for row in rows.values() if alone or Path(row.file_path).is_relative_to(root) or _moved(row, contents))
    gone = [row for row in ours if row.doc_id not in kept and row.metadata.get("source") not in unopened]
    aliases = {alias: one.file.source for one in chosen for alias in one.aliases}
    return Plan(changed, len(chosen) - len(changed), gone, aliases)


def read_all(
    changed: list[Chosen], rows: dict[str, Document], model: str, redact: Callable[[str], str]
) -> tuple[list[Piece], list[Broken]]:
    """The readable ones, cut into chunks, and the broken ones."""
    pieces: list[Piece] = []
    broken: list[Broken] = []
    for one in changed:
        file = one.file
        metadata = {"source": file.source, "aliases": one.aliases, "index_version": INDEX_VERSION, "embedding": model}
        try:
            document = read_document(file, redact)
        except BrokenDocument as error:
            problem = SyncProblem(file.source, error.line, str(error))
            broken.append(Broken(problem, _row(file, DocumentStatus.FAILED, 0, {**metadata, "error": str(problem)})))
            continue
        before = rows.get(file.doc_id)
        pieces.append(_piece(file, document, metadata, before.chunk_count if before else 0))
    return pieces, broken


class _Sized(Protocol):
    @property
    def chunk_count(self) -> int: ...


T = TypeVar("T", bound=_Sized)


def batches(items: Sequence[T]) -> Iterator[list[T]]:
    """Documents in groups of about BATCH_CHUNKS chunks."""
    batch: list[T] = []
    size = 0
    for item in items:
        batch.append(item)
        size += max(1, item.chunk_count)
        if size >= BATCH_CHUNKS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _one_per_content(files: list[SourceFile], rows: dict[str, Document]) -> list[Chosen]:
    """One file for each content; one that is indexed already stays."""
    groups: defaultdict[str, list[SourceFile]] = defaultdict(list)
    for file in files:
        groups[file.content_hash].append(file)
    chosen: list[Chosen] = []
    for group in groups.values():
        known = (file for file in group if file.doc_id in rows and rows[file.doc_id].file_hash == file.content_hash)
        stands = next(known, group[0])
        chosen.append(Chosen(stands, sorted(file.source for file in group if file is not stands)))
    return chosen


def _moved(row: Document, contents: set[str]) -> bool:
    return row.file_hash in contents and not Path(row.file_path).exists()


def _is_indexed(one: Chosen, row: Document | None, model: str) -> bool:
    if row is None or row.status is not DocumentStatus.INDEXED or row.file_hash != one.file.content_hash:
        return False
    expected = {"index_version": INDEX_VERSION, "embedding": model, "aliases": one.aliases}
    return all(row.metadata.get(name) == value for name, value in expected.items())


def _row(file: SourceFile, status: DocumentStatus, chunk_count: int, metadata: dict[str, Any]) -> Document:
    path = str(file.path).encode("utf-8", "replace").decode()
    return Document(file.doc_id, file.path.name[:255], path, file.content_hash, status, chunk_count, metadata)


def _piece(file: SourceFile, document: ReadDocument, metadata: dict[str, Any], chunk_count: int) -> Piece:
    metadata = {
        **metadata,
        "title": document.title,
        "category": document.category,
        "front_matter": document.front_matter,
    }
    texts = chunk_markdown(document.body)
    chunks = [
        Chunk(
            chunk_id=f"{file.doc_id}.{file.content_hash[:16]}.{INDEX_VERSION}.{index}",
            doc_id=file.doc_id,
            chunk_index=index,
            total_chunks=len(texts),
            source=file.source,
            title=document.title,
            breadcrumb=text.breadcrumb,
            category=document.category,
            content=text.text,
        )
        for index, text in enumerate(texts)
    ]
    # The author's own hints lead to the document's beginning.
    hints = [f"{document.text('description')}\n{document.text('when_to_retrieve')}", *[""] * (len(chunks) - 1)]
    terms = [
        pack_terms(term_counts(f"{chunk.title}\n{chunk.breadcrumb}\n{hint}\n{chunk.content}"))
        for hint, chunk in zip(hints, chunks, strict=True)
    ]
    return Piece(_row(file, DocumentStatus.PENDING, chunk_count, metadata), chunks, terms)
