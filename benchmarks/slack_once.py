"""Nothing lost and nothing twice: many deliveries at two processes, and replies of Slack that never arrive.

Run: python benchmarks/slack_once.py [events, default 10000] [questions, default 1000] [database url, default an SQLite file]

The database of another server must be upgraded and empty. 200 questions with one lost reply in ten follow.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from slack_load import prepared  # noqa: E402
from slack_measures import exactly_once, with_lost_replies  # noqa: E402


async def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    questions = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        url = sys.argv[3] if len(sys.argv) > 3 else prepared(Path(folder) / "once.db")
        print(await exactly_once(Path(folder), url, events=events, questions=questions, a_second=50.0), flush=True)
        print(await with_lost_replies(Path(folder) / "lost", max(10, questions // 5)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
