"""A process that fires a job each second, for tests that kill it: `python schedule_process.py URL NAME`. It ends with its
parent."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from apscheduler.triggers.cron import CronTrigger

from bot.schedule import Planned, Schedule, ScheduleTimes
from storage.engine import Database

TIMES = ScheduleTimes(lease=1.5, beat=0.2, grace=10, stop=1.0)


async def work(_: datetime) -> str:
    return "done"


async def run(url: str, name: str) -> None:
    db = Database(url)
    schedule = Schedule(db, name, [Planned("tick", CronTrigger(second="*", timezone=UTC), work)], times=TIMES)
    await schedule.start()
    sys.stdout.write("started\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)  # until the parent closes it
    await schedule.stop()
    db.close()


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1:]))
