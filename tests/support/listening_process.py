"""A real server on a port of its own choice."""

import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PATIENCE_SECONDS = 60.0


def until(what: str, holds: Callable[[], bool]) -> None:
    end, pause = time.monotonic() + PATIENCE_SECONDS, threading.Event()
    while not holds():
        assert time.monotonic() < end, f"waited {PATIENCE_SECONDS} s for {what}"
        pause.wait(0.1)


@contextmanager
def listening(command: Sequence[str], folder: Path, *, ready: bytes, address: str) -> Iterator[str]:
    """What the first group of `address` finds in its log, once `ready` stands there. It ends with the context."""
    name = Path(command[0]).name
    log = folder / f"{name}.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output, cwd=folder) as process:
        try:
            until(f"{name} to be ready", lambda: process.poll() is not None or ready in log.read_bytes())
            found = re.search(address, log.read_text())
            assert found, log.read_text()
            yield found[1]
        finally:
            process.terminate()
            process.wait(timeout=20)
