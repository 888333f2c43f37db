"""What one cold start costs: CPU seconds (user + system) and the largest resident size of whole processes.

Run: python benchmarks/cold_start.py [repetitions]. Byte code is compiled first; the data folder is a new one, so the
first question also makes the database and indexes the sample's runbooks. Medians are printed as a Markdown table.
"""

from __future__ import annotations

import compileall
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

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
    """`limit` is in CPU seconds; `fresh` gives each repetition an empty data folder."""

    name: str
    arguments: list[str]
    limit: float
    fresh: bool = False


CASES = (
    Case("proofthread --help", ["--help"], 0.5),
    Case("ask on log files and changes alone, no knowledge base", NO_KNOWLEDGE, 3.0),
    Case("ask --sample", SAMPLE, 3.0),
    Case("ask --sample, first time (database and runbooks are made)", SAMPLE, 8.0, fresh=True),
    Case("kb sync of the sample's runbooks, milvus-lite opened", ["kb", "sync", "KNOWLEDGE", "--rebuild", "--json"], 8.0),
)


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for package in PACKAGES:
        compileall.compile_dir(ROOT / package, quiet=2)
    print("| command | CPU s | limit | RSS MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as warm:
        for case in CASES:
            if not case.fresh:
                run(case.arguments, Path(warm))
            costs = [once(case, Path(warm)) for _ in range(repetitions)]
            cpu = statistics.median(cost.cpu_seconds for cost in costs)
            print(f"| {case.name} | {cpu:.2f} | {case.limit} | {max(cost.megabytes for cost in costs):.0f} |", flush=True)


def once(case: Case, warm: Path) -> Cost:
    if not case.fresh:
        return run(case.arguments, warm)
    with tempfile.TemporaryDirectory() as fresh:
        return run(case.arguments, Path(fresh))


def run(arguments: list[str], data: Path) -> Cost:
    """The child's own use, with that of the children it waited for."""
    sample = ROOT / "bot" / "emulator" / "scenarios" / "checkout-slow"
    named = [str(sample / "knowledge") if part == "KNOWLEDGE" else part for part in arguments]
    environment = os.environ | {
        "PROOFTHREAD_DATA_DIR": str(data),
        "PROOFTHREAD_LOGS_ROOTS": str(sample / "logs"),
        "PROOFTHREAD_CHANGES_FILE": str(sample / "changes.jsonl"),
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
