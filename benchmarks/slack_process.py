"""One process of the bot over time: its start, its growth over many runs, and how soon it is back after a lost connection.

Run: python benchmarks/slack_process.py [runs, default 2000]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from slack_measures import growth, reconnected, started  # noqa: E402

# What is lost, how many addresses are refused then, and the seconds that Bolt alone needed.
LOSSES = [("warning", 0, 0.5), ("close", 0, 0.5), ("abort", 0, 10.0), ("close", 3, 30.0), ("abort", 3, 40.0)]


async def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        starts = [await started(_new(folder, f"start{turn}")) for turn in range(5)]
        cpu, size = statistics.median(each.cpu for each in starts), max(each.megabytes for each in starts)
        print(f"start to ready: {cpu:.2f} CPU s, {size:.0f} MB", flush=True)
        for number, (how, refusals, bolt) in enumerate(LOSSES):
            seconds = await reconnected(_new(folder, f"lost{number}"), how, refusals)
            print(f"{how}, {refusals} refused: back after {seconds:.1f} s (Bolt alone {bolt})", flush=True)
        batches = [runs // 10] * 10
        sizes = await growth(_new(folder, "growth"), batches, 10.0)
        print("MB after each tenth of the runs:", " ".join(f"{each:.1f}" for each in sizes), flush=True)


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


if __name__ == "__main__":
    asyncio.run(main())
