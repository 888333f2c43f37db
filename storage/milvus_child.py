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
from pathlib import Path
from typing import IO

ANOTHER_SERVES = 3


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
    from milvus_lite.adapter.grpc.server import start_server_in_thread

    server, data, port = start_server_in_thread(str(options.data_dir), host="127.0.0.1", port=0)
    _write(address, {"pid": os.getpid(), "port": port})
    with options.users_file.open("a+") as users:
        _wait_until_idle(users, options.idle_seconds, ended)
        _write(address, {})
        server.stop(grace=2).wait()
        data.close()


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
