"""A loopback OpenAI-compatible server that gives the answers it is told to give, in order, over real HTTP.

It stands in for a paid model at its address: broken gateways, rate limits, hangs and cut streams included.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `hang` keeps the connection open without a word until the server closes."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    hang: bool = False
    cut: bool = False


@dataclass
class ChatServer:
    """`requests` holds the JSON bodies received, in order; the last answer repeats when the list is spent."""

    url: str
    answers: list[Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def says(text: str, *, usage: dict[str, Any] | None = None, finish_reason: str = "stop", **message: Any) -> Answer:
    """A chat completion with `text` as its content; `message` adds fields (tool_calls, refusal, reasoning_content)."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "loopback",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text, **message}}
        ],
    }
    if usage is not None:
        body["usage"] = usage
    return Answer(json.dumps(body).encode())


def calls(*named: tuple[str, str], content: str | None = None) -> Answer:
    """An answer that calls tools: pairs of name and raw JSON arguments."""
    wire = [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(named)
    ]
    return says(content or "", finish_reason="tool_calls", tool_calls=wire)


def refuses(status: int, message: str, *, headers: Sequence[tuple[str, str]] = (), **error: Any) -> Answer:
    """An error in the API's own form."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error", **error}}).encode()
    return Answer(body, status, (("Content-Type", "application/json"), *headers))


def streams(deltas: Sequence[dict[str, Any]], *, finish: str | None = "stop", cut: bool = False) -> Answer:
    """Server-sent events, one a delta; without `finish` the stream just ends."""
    events = [_event({"delta": delta, "index": 0, "finish_reason": None}) for delta in deltas]
    if finish is not None:
        events += [_event({"delta": {}, "index": 0, "finish_reason": finish}), b"data: [DONE]\n\n"]
    return Answer(b"".join(events), headers=(("Content-Type", "text/event-stream"),), cut=cut)


def _event(choice: dict[str, Any]) -> bytes:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "loopback", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@contextmanager
def chat_server(*answers: Answer) -> Iterator[ChatServer]:
    """Serves on a free loopback port until the block ends."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    http.daemon_threads = True
    server = ChatServer(f"http://127.0.0.1:{http.server_port}/v1", list(answers))
    http.RequestHandlerClass = _listener(server)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join(5)


def _listener(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            server.requests.append(json.loads(self.rfile.read(length)))
            answer = server.next_answer()
            if answer.hang:
                server.released.wait(30)
                return
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + (64 if answer.cut else 0)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            return None

    return Listener
