"""A storm: 10,000 alert posts of 40 incidents at two processes of `proofthread serve` with one database.

Run: python benchmarks/alert_storm.py [posts, default 10000] [posts a second, default 16.7] [sqlite | mariadb | both]

16.7 a second are 10,000 in ten minutes. The rate holds where nothing is lost, nothing is sent twice for a late
acknowledgement, and each incident has one run.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from binaries import find_binary  # noqa: E402
from private_mariadb import MariaDB, new_schema  # noqa: E402
from slack_load import prepared  # noqa: E402
from storm import Storm, Stormed, stormed  # noqa: E402

from storage.engine import Database, upgrade  # noqa: E402


async def main() -> None:
    posts = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 10_000 / 600
    kinds = sys.argv[3] if len(sys.argv) > 3 else "both"
    for kind in ("sqlite", "mariadb") if kinds == "both" else (kinds,):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, database(kind, Path(name)) as url:
            found = await stormed(Path(name), url, Storm(posts, incidents=40, a_second=rate))
            print(told(kind, rate, found), flush=True)


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield prepared(folder / "storm.db")
        return
    binary = find_binary("mariadbd")
    assert binary is not None, "apt-get install mariadb-server"
    server = MariaDB.start(folder / "mariadb", binary, os.getpid())
    url = new_schema(server.url("proofthread"), "storm")
    ours = Database(url)
    upgrade(ours)
    ours.close()
    try:
        yield url
    finally:
        server.stop()


def told(kind: str, rate: float, found: Stormed) -> str:
    sizes = ["/".join(f"{size:.0f}" for size in pair) for pair in found.megabytes]
    return (
        f"{kind}, {rate:.1f} a second asked, {found.sent_a_second:.1f} sent: {found.posts} posts, {found.lost} lost, "
        f"{found.late} late, {found.given_up} given up, {found.again} sent again; {found.incidents} incidents, "
        f"{found.closed} closed, {found.runs} runs (at most {found.most_runs_an_incident} an incident), {found.reports} "
        f"reports (at most {found.most_reports_a_thread} a thread); ack p50 {found.ack(0.5) * 1000:.0f} ms, "
        f"p99 {found.ack(0.99) * 1000:.0f} ms; a fourth post of ours in a channel {found.closest:.1f} s after the first or "
        f"later; settled after {found.settled_seconds:.0f} s; refused: {', '.join(found.refused) or 'nothing'}; "
        f"MB {' '.join(sizes)}"
    )


if __name__ == "__main__":
    asyncio.run(main())
