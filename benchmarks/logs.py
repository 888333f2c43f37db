"""query_logs on a large file: CPU and memory of whole processes, beside `grep -c` on the same file.

    python benchmarks/logs.py [--mb 1000] [--dir FOLDER]

Writes the file into a temporary folder, asks four questions in a process each, and prints one JSON line. The CPU is that
of the process and all its children, interpreter start included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

START = datetime(2026, 11, 30, tzinfo=UTC)
ABSENT = "deadlock detected"
QUESTIONS = {
    "nothing_matches": {"text": ABSENT},
    "five_minutes": {"window_minutes": 5, "until": (START + timedelta(hours=1)).isoformat()},
    "errors_only": {"level": "ERROR"},
    "all_match": {},
}


def main() -> None:
    options = _options()
    if options.ask:
        asyncio.run(_ask(options.ask, Path(options.dir)))
        return
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        path = Path(folder) / "shop.log"
        size = _write(path, options.mb * 1_000_000)
        grep = _measured(["grep", "-c", ABSENT, str(path)])
        asked = {name: _measured([sys.executable, __file__, "--ask", name, "--dir", folder]) for name in QUESTIONS}
    print(json.dumps({"bytes": size, "grep": grep, **asked, "ratios": _ratios(size, grep, asked)}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--dir")
    parser.add_argument("--ask", choices=sorted(QUESTIONS))
    return parser.parse_args()


def _ratios(size: int, grep: dict[str, float], asked: dict[str, dict[str, float]]) -> dict[str, float]:
    return {
        "nothing_matches_cpu_by_grep": round(asked["nothing_matches"]["cpu_s"] / grep["cpu_s"], 2),
        "all_match_mb_per_cpu_s": round(size / 1e6 / asked["all_match"]["cpu_s"], 1),
        "max_rss_mb": max(one["rss_mb"] for one in asked.values()),
    }


def _measured(command: list[str]) -> dict[str, float]:
    """CPU seconds and peak memory of a process and its children. Read once before, so that the file is cached."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path(__file__).resolve().parent.parent)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # grep says 1 where nothing matched
        raise SystemExit(f"{command} ended with code {process.returncode}")
    return {"cpu_s": round(usage.ru_utime + usage.ru_stime, 2), "rss_mb": round(usage.ru_maxrss / 1024, 1)}


async def _ask(name: str, folder: Path) -> None:
    from tools.builtin.query_logs import TOOL, QueryLogs
    from tools.clients.log_files import LogFiles, LogSettings
    from tools.contracts import CallContext, ToolDeps
    from tools.skills import SkillRegistry

    deps = ToolDeps(skills=SkillRegistry.load(), logs=LogFiles([folder], LogSettings(scan_seconds=900)))
    context = CallContext("benchmark", START + timedelta(days=20), ZoneInfo("UTC"))
    whole = {"since": START.isoformat()} if "until" not in QUESTIONS[name] else {}
    result = await TOOL.run(QueryLogs.model_validate({**QUESTIONS[name], **whole}), deps, context)
    print(result.evidence_status, len(result.evidence_refs), result.retrieval_details["scan_seconds"])


def _write(path: Path, size: int) -> int:
    chance, moment, written = random.Random(7), START, 0
    with path.open("w") as out:
        for text in _lines(chance):
            moment += timedelta(milliseconds=chance.randint(0, 20))
            written += out.write(f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d} {text}\n")
            if written >= size:
                break
    return path.stat().st_size


def _lines(chance: random.Random) -> Iterator[str]:
    while True:
        number, thread = chance.randint(1, 10**7), chance.randint(1, 40)
        yield (
            f"INFO  [http-nio-{thread}] c.s.OrderController : GET /api/orders/{number} 200 {thread}ms trace={number:016x}",
            f"DEBUG [pool-{thread}] c.s.PoolStats : active={thread} idle={thread % 7} waiting={thread % 5}",
            f"INFO  [main] c.s.Auth : user {chance.choice(('ana', 'bo', 'chen'))}@example.com logged in from 10.0.0.{thread}",
            f"WARN  [http-nio-{thread}] c.s.Slow : slow query took {number % 4000} ms: select * from orders where id={number}",
            f"ERROR [kafka-{thread}] c.s.Consumer : commit of offset {number} failed: connection refused",
        )[min(chance.randint(0, 12) // 3, 4)]


if __name__ == "__main__":
    main()
