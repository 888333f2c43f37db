"""A process of the bot that a test may kill: works the line of one database against one loopback Slack.

python slack_process.py API_URL TOKEN TEAM DATABASE_URL WAITS_IN LEASE: runs wait for ever in the role WAITS_IN ("" = they
do not wait) and are ready for others LEASE seconds after a process died.
"""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any, cast

from slack_worker import Incident, bench

from storage.engine import Database


async def work(api_url: str, token: str, team: str, database_url: str, waits_in: str, lease: str) -> None:
    slack: Any = SimpleNamespace(api_url=api_url, bot_token=token, team_id=team)
    database = Database(database_url)
    async with bench(cast("Any", slack), database, Incident(waits_in=waits_in), lease_seconds=int(lease)):
        print("ready", flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:7]))
