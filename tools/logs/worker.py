"""The child that scans: a ScanRequest as JSON on stdin, a ScanReport as JSON on stdout.

A process of its own for each scan, not a member of a pool: a scan can be ended at any moment by ending its process, a
regular expression that never comes back included, and what it held in memory is gone with it. Starting one costs about
50 ms, since only the standard library is imported here.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import asdict
from types import FrameType

from tools.logs.request import request_from
from tools.logs.scan import ScanTimedOut, scan

# How far it stands back where processors are short: Slack waits for the bot, and nobody for the last bytes of a log.
NICENESS = 10


def main() -> None:
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    request = request_from(json.load(sys.stdin))
    if request.regex is not None and hasattr(signal, "setitimer"):
        # The regular expression engine looks for signals while it backtracks; nothing else can interrupt it.
        signal.signal(signal.SIGALRM, _time_out)
        signal.setitimer(signal.ITIMER_REAL, request.seconds)
    report = scan(request, disarm=_disarm)
    json.dump(asdict(report), sys.stdout)


def _time_out(_: int, __: FrameType | None) -> None:
    raise ScanTimedOut


def _disarm() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
