"""A milvus-lite folder with an end, a small embedder, and documents on disk."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from storage.milvus_file import MilvusFile
from storage.vectors import VectorStore

_collections = count()


@contextmanager
def milvus_folder(folder: Path) -> Iterator[Path]:
    """A folder whose server stays for the block and is gone after it."""
    user = MilvusFile(folder, idle_seconds=0.1)
    user.open()
    try:
        yield folder
    finally:
        user.close()
        eventually(lambda: not user.is_served())


@contextmanager
def store_in(folder: Path, *, collection: str | None = None) -> Iterator[VectorStore]:
    """A store on a collection of its own."""
    name = collection or f"test_{os.getpid()}_{next(_collections)}"
    store = VectorStore(str(folder), collection=name, timeout_seconds=10, idle_seconds=0.1)
    try:
        yield store
    finally:
        store.close()


def eventually(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Return as soon as it is true; fail when it does not become so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not true within {seconds:g} s"
        time.sleep(0.02)


class MeaningEmbedder:
    """Vectors by hand: one dimension per word list, so that two languages meet in one place."""

    batch = 4
    MEANINGS = (("pool", "connection", "连接"), ("disk", "full", "磁盘"), ("certificate", "tls", "证书"))

    def __init__(self, model: str = "meanings") -> None:
        self.model = model
        self.texts_embedded = 0

    def cut(self, text: str) -> str:
        return text

    async def documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts_embedded += len(texts)
        return [await self.query(text) for text in texts]

    async def query(self, text: str) -> list[float]:
        lower = text.casefold()
        return [float(sum(word in lower for word in words)) for words in self.MEANINGS] + [0.3]

    async def close(self) -> None:
        return None


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
