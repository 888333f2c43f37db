"""`proofthread demo` as a process of its own, for a browser to look at."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

START_SECONDS = 60.0


@contextmanager
def demo(folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The command as the README has it; gives the address that it prints, ends it as Ctrl-C does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PROOFTHREAD_", "SLACK_"))}
    variables = {**kept, "PYTHONUNBUFFERED": "1", **(environment or {})}
    command = [sys.executable, "-m", "bot", "demo", *options]
    errors = (folder / "errors").open("wb")
    process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=errors, text=True)
    watch = threading.Timer(START_SECONDS, process.kill)
    watch.start()
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        watch.cancel()
        assert "http://127.0.0.1:" in said, said + (folder / "errors").read_text()
        yield said.split()[-1]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0, (folder / "errors").read_text()
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        errors.close()


def act(address: str, name: str, **fields: Any) -> dict[str, Any]:
    """What a person or another app does in the demo's Slack, without the page."""
    body = json.dumps({"act": name, **fields}).encode()
    asked = urllib.request.Request(f"{address}page/act", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        told: dict[str, Any] = json.load(answer)
    assert told["ok"], told
    return told
