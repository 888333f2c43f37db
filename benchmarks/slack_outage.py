"""Slack says "too often" for a minute, then is away for ten: what runs meanwhile is answered afterwards, once.

Run: python benchmarks/slack_outage.py [seconds of 429, default 60] [seconds away, default 600]

The answers to a question that ran into it, the seconds from Slack's return to the last of them, and how many posts there are.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from served import Served, serving  # noqa: E402
from slack_load import prepared  # noqa: E402
from slack_worker import Incident  # noqa: E402

from bot.emulator.slack import SlackEmulator  # noqa: E402

QUESTIONS = 10


async def main() -> None:
    limited = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    away = float(sys.argv[2]) if len(sys.argv) > 2 else 600.0
    modes: tuple[Literal["socket", "http"], ...] = ("socket", "http")
    await asyncio.gather(*(_one(mode, limited, away) for mode in modes))


async def _one(mode: Literal["socket", "http"], limited: float, away: float) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, SlackEmulator() as slack:
        prepared(Path(folder) / "proofthread.db")
        async with serving(slack, Path(folder), mode, model=Incident(seconds=1.0), max_runs=QUESTIONS) as served:
            for method in ("chat.postMessage", "chat.update", "chat.startStream", "chat.appendStream", "chat.stopStream"):
                slack.fail(method, retry_after=5, times=None)
            await _asked(served, f"{mode}, {limited:.0f} s of 429", limited)
            await _asked(served, f"{mode}, away for {away:.0f} s", away, is_away=True)


async def _asked(served: Served, name: str, seconds: float, *, is_away: bool = False) -> None:
    slack = served.slack
    threads = [served.ask(f"why is shop {number} slow?") for number in range(QUESTIONS)]
    await slack.wait_for(lambda: len(served.runs) % QUESTIONS == 0 and served.runs, 60)
    if is_away:
        slack.away(seconds)
    await asyncio.sleep(seconds)
    if not is_away:
        slack.clear_faults()
    back = time.monotonic()
    await slack.wait_for(lambda: all(served.answers("incidents", ts) for ts in threads), 300)
    took = time.monotonic() - back
    await slack.wait_for(lambda: served.bot.queue.idle, 60)
    answers = [len(served.answers("incidents", ts)) for ts in threads]
    posts = sum(len(served.ours("incidents", ts)) for ts in threads)
    print(f"{name}: {sum(answers)} answers to {len(threads)} questions, at most {max(answers)} each, {posts} posts, "
          f"the last {took:.1f} s after its end", flush=True)  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main())
