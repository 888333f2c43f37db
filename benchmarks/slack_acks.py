"""How fast the bot acknowledges, what an event costs, and when a person sees the first sign of life.

Run: python benchmarks/slack_acks.py [seconds, default 60] [megabytes of log, default 1000]

1. CPU an event, three processes in turn and twice each, over the same stream: bare Bolt with one committed insert, our way in
   (messages that start nothing; then mentions, each an app_mention and a message), and the whole bot on the same messages.
2. Acknowledgements at 50 events a second over 50 channels, while 50 diagnoses of a model with a fixed latency run and
   query_logs scans a large log over and over in the same process tree; before it, bare Bolt beside the same scan. The loopback
   Slack and the load share the machine.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support"), str(ROOT / "benchmarks")]

from logs import _write  # noqa: E402
from slack_load import share  # noqa: E402
from slack_measures import CostOfEvents, Report, cost_of_events, loaded  # noqa: E402


async def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        costs = [await cost_of_events(Path(folder) / str(turn), round(20 * seconds), 50.0) for turn in range(2)]
        cost = CostOfEvents(*(min(values) for values in zip(*costs, strict=True)))
        print("| CPU an event | ms | by bare Bolt + insert |\n|---|---|---|")
        for name, value in cost._asdict().items():
            print(f"| {name} | {value * 1000:.2f} | {value / cost.bare:.2f} |", flush=True)
        path = Path(folder) / "shop.log"
        _write(path, megabytes * 1_000_000)
        bare = await loaded(Path(folder) / "bare", seconds, 50.0, diagnoses=0, latency=0.0, log=path, kind="bare")
        print(f"bare Bolt, same scan, no diagnoses: {_told(bare)}", flush=True)
        report = await loaded(Path(folder) / "load", seconds, 50.0, diagnoses=50, latency=seconds / 5, log=path)
        print(f"the bot, 50 diagnoses: {_told(report)}", flush=True)
        print(f"first sign of life: {len(report.life)}, p50 {share(report.life, 0.5) * 1000:.0f} ms, "
              f"p95 {share(report.life, 0.95) * 1000:.0f} ms; runs at once {report.running}, "
              f"scans' and bot's CPU {report.cpu:.1f} s in {seconds:.0f} s")  # fmt: skip


def _told(report: Report) -> str:
    p50, p99 = (share(report.acks, part) * 1000 for part in (0.5, 0.99))
    times = f"acks {len(report.acks)}, p50 {p50:.1f} ms, p99 {p99:.1f} ms, most {report.acks[-1] * 1000:.1f} ms"
    return f"{times}; given up {report.given_up}, sent again {report.again}"


if __name__ == "__main__":
    asyncio.run(main())
