"""Serves one milvus-lite folder to every process of this machine. Started by storage/vectors.py, as a script.

milvus-lite lets one process open a folder. This child opens it, serves it on loopback and writes its port into the
address file beside the data. It ends by itself: users hold a shared lock on the users file (the system drops it when
they die), and a child that has had none for `--idle-seconds` closes the data and goes. It belongs to no terminal and
to no parent, so it outlives whoever started it and is never left behind for good.

Locks, both flock: address file, exclusive, held by the child while it lives (a lock that is free means a stale file);
users file, shared by each user, exclusive by the child while it shuts down, so that a new user waits and starts another.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import grpc
    from milvus_lite.db import MilvusLite

ANOTHER_SERVES = 3
_WORKERS = 10
_MAX_MESSAGE = 256 * 1024 * 1024


def main() -> int:
    options = _options()
    address = options.address_file.open("a+")
    if not take(address, fcntl.LOCK_EX):
        return ANOTHER_SERVES
    _write(address, {})
    # The lock is held from here on; the first process returns to the starter, the second serves.
    if os.fork():
        os._exit(0)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        _serve(options, address, ended)
    except Exception as error:  # noqa: BLE001 - a process border: the starter reads this line and reports it
        _write(address, {"error": f"{type(error).__name__}: {error}"})
        return 1
    return 0


def take(file: IO[str], kind: int) -> bool:
    """Take a lock without waiting; False where somebody holds it against us."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _serve(options: argparse.Namespace, address: IO[str], ended: threading.Event) -> None:
    from milvus_lite.db import MilvusLite

    data = MilvusLite(str(options.data_dir))
    server = _server(data)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    _write(address, {"pid": os.getpid(), "port": port})
    with options.users_file.open("a+") as users:
        _wait_until_idle(users, options.idle_seconds, ended)
        _write(address, {})
        server.stop(grace=2).wait()
        data.close()


def _server(data: MilvusLite) -> grpc.Server:
    """milvus-lite's own server, but one that bears the client's pings: its default hangs up on them ("too_many_pings")
    and makes gRPC write to the terminal of whoever searches."""
    import grpc
    from milvus_lite.adapter.grpc import MilvusServicer
    from pymilvus.grpc_gen import milvus_pb2_grpc

    server = grpc.server(
        ThreadPoolExecutor(_WORKERS),
        options=[
            ("grpc.max_receive_message_length", _MAX_MESSAGE),
            ("grpc.max_send_message_length", _MAX_MESSAGE),
            ("grpc.http2.max_ping_strikes", 0),
            ("grpc.keepalive_permit_without_calls", 1),
        ],
    )
    milvus_pb2_grpc.add_MilvusServiceServicer_to_server(MilvusServicer(data), server)
    return server


def _wait_until_idle(users: IO[str], seconds: float, ended: threading.Event) -> None:
    """Return with the users file locked against new users (or at once on SIGTERM)."""
    tick = min(1.0, max(seconds / 4, 0.02))
    idle = 0.0
    while not ended.wait(tick):
        if not take(users, fcntl.LOCK_EX):
            idle = 0.0
            continue
        idle += tick
        if idle >= seconds:
            return
        fcntl.flock(users, fcntl.LOCK_UN)


def _write(file: IO[str], value: dict[str, object]) -> None:
    file.seek(0)
    file.truncate()
    file.write(json.dumps(value) if value else "")
    file.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--address-file", type=Path, required=True)
    parser.add_argument("--users-file", type=Path, required=True)
    parser.add_argument("--idle-seconds", type=float, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
