"""The scan on larger files: bytes left unread, out-of-order lines, growth, cancellation."""

import asyncio
import json
import random
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_questions import ask

from tools.clients.log_files import LogFiles, LogSettings
from tools.logs.find import find_logs
from tools.logs.request import ScanRequest, report_from
from tools.logs.scan import scan

START = datetime(2026, 11, 30, tzinfo=UTC)
LINES = 200_000  # about 15 MB, a line each 400 ms over 22 hours


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file sorted but for half a second here and there, as threads write it."""
    chance = random.Random(3)
    folder = tmp_path_factory.mktemp("big")
    with (folder / "shop.log").open("w") as out:
        for number in range(LINES):
            moment = START + timedelta(milliseconds=400 * number - chance.randint(0, 500))
            level = "ERROR" if number % 1000 == 7 else "INFO "
            text = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z {level} request {number} took {number % 97}ms"
            out.write(text + "\n")
    return folder


def request(folder: Path, since: float, until: float, **asked: object) -> ScanRequest:
    """Hours after START."""
    first, last = START.timestamp() + since * 3600, START.timestamp() + until * 3600
    values = {"files": tuple(find_logs([folder], None, 10).files), "since": first, "until": last,
              "before_from": 2 * first - last, **asked}
    return ScanRequest(**values)  # type: ignore[arg-type]


def expected(folder: Path, since: float, until: float, word: str = "") -> int:
    first, last = ((START + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.000Z") for hours in (since, until))
    lines = (folder / "shop.log").read_text().splitlines()
    return sum(first <= line[:24] < last and word in line for line in lines)


@pytest.mark.parametrize(("since", "until"), [(0, 0.5), (3, 4), (10.25, 10.5), (21.5, 30)])
def test_a_window_is_cut_out_of_a_sorted_file_without_losing_a_line(big: Path, since: float, until: float) -> None:
    report = scan(request(big, since, until))
    assert report.matched == expected(big, since, until)
    assert report.matched_before == expected(big, 2 * since - until, since)


def test_a_narrow_window_reads_a_small_part(big: Path) -> None:
    report = scan(request(big, 10, 10.1))
    assert report.files[0].bytes_read < (big / "shop.log").stat().st_size / 5


@pytest.mark.parametrize("asked", [{"text": "took 13ms"}, {"level": "ERROR"}, {"text": "request 7 "}])
def test_the_search_by_bytes_finds_what_a_reading_of_all_lines_finds(big: Path, asked: dict[str, str]) -> None:
    word = asked.get("text") or asked["level"]
    assert scan(request(big, 0, 23, **asked)).matched == expected(big, 0, 23, word)


def test_an_unsorted_file_is_read_whole(tmp_path: Path) -> None:
    lines = [f"{START + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S}Z INFO tick {second} {'x' * 100}\n" for second in range(40_000)]
    random.Random(1).shuffle(lines)
    (tmp_path / "mixed.log").write_text("".join(lines))
    assert scan(request(tmp_path, 2, 3)).matched == 3600


def test_time_spent_gives_what_was_read_and_says_so(big: Path) -> None:
    ticks = iter(range(10_000))
    report = scan(request(big, 0, 23, seconds=5.0), clock=lambda: float(next(ticks)))
    assert 0 < report.matched < LINES
    assert "5 s were spent before all was read (in shop.log): narrow the window" in (report.incomplete or "")
    assert {one.status for one in report.templates} == {"not_compared"}


def test_a_stopped_scan_ends_at_the_next_block(big: Path) -> None:
    asked = iter([False, False, False])
    report = scan(request(big, 0, 23), stopped=lambda: next(asked, True))
    assert report.matched < LINES
    assert "stopped before" in (report.incomplete or "")


def test_a_file_cut_short_after_it_was_found_is_noted(big: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.log"
    path.write_bytes((big / "shop.log").read_bytes()[:1_000_000])
    asked = request(tmp_path, 0, 23)
    path.write_bytes(path.read_bytes()[:500_000])
    report = scan(asked)
    assert report.matched > 1000
    assert "the file became shorter while it was read" in report.files[0].notes


def test_lines_written_after_the_file_was_found_wait_for_the_next_scan(big: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.log"
    path.write_bytes((big / "shop.log").read_bytes()[:1_000_000])
    asked = request(tmp_path, 0, 23)
    before = scan(asked).matched
    with path.open("a") as out:
        out.write("\n2026-11-30T12:00:00.000Z INFO late\n" * 10)
    assert abs(scan(asked).matched - before) <= 1


def test_a_vanished_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("2026-11-30T00:00:00Z INFO x\n")
    asked = request(tmp_path, 0, 1)
    (tmp_path / "a.log").unlink()
    assert scan(asked).skipped == (("a.log", "No such file or directory"),)


def test_a_rotated_pair_is_counted_together(tmp_path: Path) -> None:
    (tmp_path / "a.log.1").write_text("2026-11-30T00:10:00Z ERROR boom 1\n")
    (tmp_path / "a.log").write_text("2026-11-30T00:20:00Z ERROR boom 2\n")
    (template,) = scan(request(tmp_path, 0, 1)).templates
    assert (template.count, template.line) == (2, "2026-11-30T00:10:00Z ERROR boom 1")
    assert template.first < template.last


async def test_a_scan_in_a_process_answers_as_one_in_a_thread(big: Path) -> None:
    window = {"since": "2026-11-30T10:00:00Z", "until": "2026-11-30T10:30:00Z"}
    thread = await ask(big, **window, settings=LogSettings(small_bytes=10**9))
    process = await ask(big, **window, settings=LogSettings(small_bytes=0))
    assert process.payload == thread.payload
    assert process.evidence_refs == thread.evidence_refs


async def test_a_cancelled_scan_ends_its_process(big: Path) -> None:
    logs = LogFiles([big], LogSettings(small_bytes=0))
    task = asyncio.create_task(logs.scan(request(big, 0, 23)))
    while not _children():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _children()


def _children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "tools.logs.worker" in " ".join(one.cmdline())]


async def test_the_event_loop_goes_on_while_a_process_scans(big: Path) -> None:
    logs = LogFiles([big], LogSettings(small_bytes=0))
    task = asyncio.create_task(logs.scan(request(big, 0, 23)))
    longest, last = 0.0, time.monotonic()
    while not task.done():
        await asyncio.sleep(0.005)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert (await task).matched > 1000
    assert longest < 0.5


_PIECES = st.one_of(
    st.sampled_from(
        [
            b"2026-11-30T00:10:00Z ", b"2026-11-30 00:20:00,5 ", b"Nov 30 00:30:00 web sshd[1]: ", b"1796000000 ",
            b'{"ts":"2026-11-30T00:10:00Z","msg":', b'"x"}', b'{"ts":1e999,"level":1e999}', b'{"time":NaN,"msg":[]}', b"\n",
            b"E1130 00:10:00.1 ", b"\tat a.b(C.java:1)", b"ERROR ", b"level=error ", b"\x1b[31m", b"\xff\xfe", b"\\ud800", b"[" * 50,
        ]
    ),
    st.binary(max_size=20).map(lambda data: data.replace(b"\0", b"")),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_PIECES, min_size=1, max_size=40), st.sampled_from([{}, {"text": "x"}, {"level": "ERROR"}, {"service": "a"}]))
def test_no_content_of_a_file_breaks_a_scan(pieces: list[bytes], asked: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.log").write_bytes(b"".join(pieces))
        report = scan(request(Path(folder), 0, 1, **asked))
    assert report.matched <= 40
    assert report_from(json.loads(json.dumps(asdict(report)))) == report
