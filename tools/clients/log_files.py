"""Log files on disk, behind one call: find them, scan them where no event loop waits, answer with a report."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tools
from tools.errors import ToolConfigError, ToolFailed
from tools.logs.find import Found, find_logs
from tools.logs.read import BROKEN, NotALog, open_source
from tools.logs.request import LogFile, ScanReport, ScanRequest, report_from
from tools.logs.scan import scan

_TRIED = 200  # files of a root
_PACKED = 10  # log text shrinks about tenfold in gzip


@dataclass(frozen=True)
class LogSettings:
    """`time_zone` is that of stamps which name none (None: UTC). `globs` say which files are logs (none: the usual
    names). `scan_seconds` bounds one scan; a scan of at most
    `small_bytes` without a regex runs in a thread, any other in a process of its own, `processes` at a time."""

    time_zone: str | None = None
    globs: tuple[str, ...] = ()
    scan_seconds: float = 25.0
    small_bytes: int = 4_000_000
    max_files: int = 2_000
    processes: int = 2


class LogFiles:
    """The logs under `roots`: folders, files, or patterns with `*`. Raises ToolConfigError for an unknown time zone.

    Files are looked for at each scan, so that a rotated or new one is seen.
    """

    def __init__(self, roots: Sequence[Path], settings: LogSettings | None = None) -> None:
        self.roots = tuple(roots)
        self.settings = settings or LogSettings()
        if self.settings.time_zone is not None:
            try:
                ZoneInfo(self.settings.time_zone)
            except (ZoneInfoNotFoundError, ValueError) as error:
                raise ToolConfigError(
                    f"the logs' time zone {self.settings.time_zone!r} is unknown: use a name like Asia/Shanghai"
                ) from error
        self._places = asyncio.Semaphore(self.settings.processes)

    def problem(self) -> str | None:
        """Why no log can be read, for the operator; None where at least one root is there."""
        if not self.roots:
            return "no log folder is configured"
        found = find_logs(self.roots, None, 1, self.settings.globs)
        return None if found.files else f"no log file under {', '.join(map(str, self.roots))}: {_reasons(found)}"

    def blind_roots(self) -> list[tuple[str, str]]:
        """Roots of which no file can be read as a log, each with a reason; of many files the first are tried."""
        found = [(root, find_logs([root], None, _TRIED, self.settings.globs)) for root in self.roots]
        tried = [(root, [self._fault(file) for file in one.files] or [_reasons(one)]) for root, one in found]
        return [(str(root), next(filter(None, faults))) for root, faults in tried if all(faults)]

    def _fault(self, file: LogFile) -> str | None:
        zone = ZoneInfo(self.settings.time_zone or "UTC")
        try:
            open_source(file, zone)
        except (NotALog, *BROKEN) as error:
            return f"{file.name}: {error}"
        return None

    async def find(self, glob: str | None) -> Found:
        """The files that a scan with this glob would read. Raises ToolFailed for a glob that leads outside."""
        if glob is not None and (glob.startswith(("/", "~")) or ".." in PurePosixPath(glob).parts):
            raise ToolFailed(f"glob {glob!r} must stay inside the log folders: use a relative pattern like '**/order*.log'")
        return await asyncio.to_thread(find_logs, self.roots, glob, self.settings.max_files, self.settings.globs)

    async def scan(self, request: ScanRequest) -> ScanReport:
        """Raises ToolFailed where the scan had to be ended from outside."""
        request = replace(request, zone=self.settings.time_zone, seconds=self.settings.scan_seconds)
        weight = sum(file.size * (_PACKED if file.gzip else 1) for file in request.files)
        if request.regex is None and weight <= self.settings.small_bytes:
            return await _scan_in_thread(request)
        async with self._places:
            return await _scan_in_process(request)


async def _scan_in_thread(request: ScanRequest) -> ScanReport:
    stop = threading.Event()
    try:
        return await asyncio.to_thread(scan, request, stopped=stop.is_set)
    finally:
        stop.set()  # a cancelled caller does not wait, and the thread ends at its next block


async def _scan_in_process(request: ScanRequest) -> ScanReport:
    """One child for one scan; it is ended when the caller is cancelled or its time is well over."""
    home = Path(tools.__file__).resolve().parent.parent  # `python -m` looks for tools.logs in its working directory
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tools.logs.worker", cwd=home,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    try:
        async with asyncio.timeout(request.seconds + 5):
            out, err = await child.communicate(json.dumps(asdict(request)).encode())
    except TimeoutError as error:
        advice = "simplify the regex or use text" if request.regex else "narrow the window or the glob"
        raise ToolFailed(f"reading the logs took longer than {request.seconds:g} s and was ended: {advice}") from error
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode != 0:
        raise ToolFailed(f"the log scan ended with code {child.returncode}: {_last_line(err)}")
    return report_from(json.loads(out))


def _last_line(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return re.sub(r"\s+", " ", lines[-1])[:200] if lines else "it was ended from outside (out of memory?)"


def _reasons(found: Found) -> str:
    return "; ".join(f"{name}: {reason}" for name, reason in found.skipped[:3]) or "the folder is empty"
