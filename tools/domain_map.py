"""The knowledge-domain map that planner and executor see: documents grouped by category."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from storage.knowledge import Document, Domain

_TEXT_LIMIT = 600


def domain_map(documents: Iterable[Document]) -> list[Domain]:
    """One domain per category of searchable documents, by name. Its description joins its documents' descriptions
    (titles where a document has none), its when_to_retrieve theirs."""
    groups: defaultdict[str, list[Document]] = defaultdict(list)
    for document in documents:
        if document.chunk_count:
            groups[document.metadata["category"]].append(document)
    return [_domain(name, groups[name]) for name in sorted(groups)]


def _domain(name: str, documents: list[Document]) -> Domain:
    ordered = sorted(documents, key=lambda document: str(document.metadata["source"]))
    front = [document.metadata.get("front_matter", {}) for document in ordered]
    about = [matter.get("description") or document.metadata["title"] for matter, document in zip(front, ordered, strict=True)]
    return Domain(name, _joined(about), _joined(matter.get("when_to_retrieve") for matter in front), len(ordered))


def _joined(texts: Iterable[object]) -> str:
    """Distinct texts in order, whole ones as long as they fit."""
    kept: list[str] = []
    for text in dict.fromkeys(_sentence(text) for text in texts):
        if text and sum(map(len, kept)) + len(text) <= _TEXT_LIMIT:
            kept.append(text)
    return "; ".join(kept)


def _sentence(text: object) -> str:
    parts = text if isinstance(text, list) else [text]
    return ", ".join(" ".join(str(part).split()) for part in parts if part)
