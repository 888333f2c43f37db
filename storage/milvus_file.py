"""Finds the server of a milvus-lite folder, or starts it."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from storage import milvus_child
from storage.errors import StorageUnavailable
from storage.milvus_child import take


class MilvusFile:
    """A user of one milvus-lite folder. `open` gives the address of its server, starting one if none serves;
    until `close` (or the end of this process) that server stays.

    `idle_seconds` is how long a server started here waits for another user after the last has gone.
    """

    def __init__(self, folder: Path, *, idle_seconds: float, start_seconds: float = 30.0) -> None:
        self._folder = folder.absolute()
        self._idle_seconds, self._start_seconds = idle_seconds, start_seconds
        self._address_file = _beside(self._folder, ".server")
        self._users_file = _beside(self._folder, ".users")
        self._users: IO[str] | None = None

    def open(self) -> str:
        """The server's address, `http://127.0.0.1:PORT`. Blocks up to `start_seconds`; raises StorageUnavailable."""
        deadline = time.monotonic() + self._start_seconds
        try:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._join(deadline)
            port = self._served(deadline)
        except OSError as error:
            raise StorageUnavailable(f"The vector store {self._folder}: {error}. Make its folder writable.") from error
        return f"http://127.0.0.1:{port}"

    def is_served(self) -> bool:
        """Whether a server holds the folder now."""
        with self._address_file.open("a+") as address:
            return not take(address, fcntl.LOCK_SH)

    def close(self) -> None:
        if self._users:
            self._users.close()
            self._users = None

    def _join(self, deadline: float) -> None:
        """Become a user, so that no server shuts down under us."""
        if self._users:
            return
        users = self._users_file.open("a+")
        if not _until(deadline, lambda: take(users, fcntl.LOCK_SH) or None):
            users.close()
            raise StorageUnavailable(f"The server of {self._folder} does not finish shutting down: stop it and try again.")
        self._users = users

    def _served(self, deadline: float) -> int:
        with self._address_file.open("a+") as address:
            if take(address, fcntl.LOCK_SH):
                # Nobody serves: what the file says is of a server that is gone.
                fcntl.flock(address, fcntl.LOCK_UN)
                self._start()
            port = _until(deadline, lambda: self._port(address))
        if port is None:
            raise StorageUnavailable(f"The server of {self._folder} did not start within {self._start_seconds:g} s.")
        return port

    def _port(self, address: IO[str]) -> int | None:
        address.seek(0)
        said = address.read()
        value = json.loads(said) if said.endswith("}") else {}
        if "port" in value:
            return int(value["port"])
        if take(address, fcntl.LOCK_SH):
            fcntl.flock(address, fcntl.LOCK_UN)
            reason = value.get("error", "its server ended while starting")
            raise StorageUnavailable(f"Cannot open the vector store {self._folder}: {reason}")
        return None

    def _start(self) -> None:
        """Returns once a server holds the lock: ours, or that of somebody who was faster."""
        arguments = {
            "--data-dir": self._folder,
            "--address-file": self._address_file,
            "--users-file": self._users_file,
            "--idle-seconds": self._idle_seconds,
        }
        # -P: the script's own folder must not come before the standard library (storage/types.py).
        command = [sys.executable, "-P", milvus_child.__file__]
        command += [str(word) for pair in arguments.items() for word in pair]
        quiet = subprocess.DEVNULL
        started = subprocess.run(
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, check=False, cwd="/"
        )
        if started.returncode not in (0, milvus_child.ANOTHER_SERVES):
            raise StorageUnavailable(f"Cannot start a server for the vector store {self._folder} ({started.returncode}).")


def _beside(folder: Path, ending: str) -> Path:
    return folder.with_name(folder.name + ending)


def _until(deadline: float, found: Callable[[], int | None]) -> int | None:
    """What `found` gives, asked every 20 ms; None when time is up."""
    while True:
        value = found()
        if value is not None:
            return value
        if time.monotonic() > deadline:
            return None
        time.sleep(0.02)
