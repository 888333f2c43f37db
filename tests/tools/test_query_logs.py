"""query_logs on small folders: what it answers, and what bad input gets."""

import gzip
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from log_questions import ask, refs, skipped
from pydantic import ValidationError

from tools.builtin.query_logs import QueryLogs, compiled
from tools.clients.log_files import LogFiles, LogSettings
from tools.contracts import NO_EVIDENCE_PATH, CallContext, EvidenceStatus
from tools.errors import ToolConfigError, ToolFailed

START = datetime(2026, 11, 30, 11, 30, tzinfo=UTC)
WINDOW = {"since": "2026-11-30T11:30:00Z", "until": "2026-11-30T12:00:00Z"}


def stamp(minute: float) -> str:
    return f"{START + timedelta(minutes=minute):%Y-%m-%dT%H:%M:%SZ}"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two services over an hour: at 11:30 order-service begins to fail and cart falls silent."""
    orders = [f"{stamp(minute)} INFO  order {minute + 100} placed in 12ms" for minute in range(-30, 30)]
    orders += [f"{stamp(minute)} ERROR pool exhausted: active=20 waiting={minute}" for minute in range(2, 21)]
    cart = [{"ts": stamp(minute), "level": "info", "service": "cart", "pod": "cart-1", "msg": f"synced {minute * 7}"}
            for minute in range(-30, 0)]
    (tmp_path / "order-service.log").write_text("\n".join(sorted(orders)) + "\n")
    (tmp_path / "cart.jsonl").write_text("\n".join(map(json.dumps, cart)) + "\n")
    return tmp_path


async def test_a_new_error_comes_with_its_counts_and_a_verbatim_line(shop: Path) -> None:
    result = await ask(shop, **WINDOW)
    first = next(ref for ref in refs(result, "templates") if "ERROR" in ref.text)
    assert first.text == (
        "service=order-service level=ERROR count=19 before=0 status=new first=2026-11-30T11:32:00Z "
        'last=2026-11-30T11:50:00Z line="2026-11-30T11:32:00Z ERROR pool exhausted: active=20 waiting=2"'
    )
    assert first.scope == {
        "source": "order-service.log",
        "service": "order-service",
        "window_from": "2026-11-30T11:30:00Z",
        "window_to": "2026-11-30T12:00:00Z",
        "before_from": "2026-11-30T11:00:00Z",
    }


async def test_what_vanished_is_quotable_with_a_count_of_zero(shop: Path) -> None:
    result = await ask(shop, **WINDOW)
    gone = next(one for one in result.payload["templates"] if one["service"] == "cart")
    assert (gone["count"], gone["before"], gone["status"], gone["last"]) == (0, 30, "gone", "2026-11-30T11:29:00Z")
    assert any("service=cart level=INFO count=0 before=30 status=gone" in ref.text for ref in refs(result, "templates"))


async def test_the_services_that_changed_most_are_summed(shop: Path) -> None:
    result = await ask(shop, **WINDOW)
    texts = [ref.text for ref in refs(result, "services")]
    assert "service=cart lines=0 before=30 errors=0 errors_before=0" in texts
    assert "service=order-service lines=49 before=30 errors=19 errors_before=0" in texts


async def test_every_ref_leads_into_the_payload(shop: Path) -> None:
    result = await ask(shop, **WINDOW, text="pool")
    for kind in ("templates", "services", "logs"):
        assert len(refs(result, kind)) == len(result.payload[kind])
    assert [ref.text for ref in refs(result, "logs")] == [one["text"] for one in result.payload["logs"]]


async def test_few_matches_are_all_shown_verbatim_in_order_of_time(shop: Path) -> None:
    result = await ask(shop, **WINDOW, text="waiting=1")
    lines = [one["text"] for one in result.payload["logs"]]
    assert len(lines) == 10  # waiting=10 to waiting=19
    assert lines == sorted(lines)
    assert lines[0] == "2026-11-30T11:40:00Z ERROR pool exhausted: active=20 waiting=10"


@pytest.mark.parametrize(
    ("asked", "matched"),
    [
        ({"service": "order-service"}, 49),
        ({"service": "order*"}, 49),
        ({"level": "ERROR"}, 19),
        ({"level": "warning"}, 19),
        ({"text": "pool exhausted"}, 19),
        ({"regex": r"waiting=(2|4)$"}, 2),
        ({"text": "order 1", "regex": "order 10[0-9] "}, 10),
        ({"glob": "cart*"}, 0),
        ({"service": "order-service", "level": "ERROR", "text": "active=20"}, 19),
    ],
)
async def test_filters_narrow(shop: Path, asked: dict[str, str], matched: int) -> None:
    result = await ask(shop, **WINDOW, **asked)
    assert result.payload["matched"] == matched


async def test_what_is_common_to_all_lines_is_said_once(shop: Path) -> None:
    result = await ask(shop, since="2026-11-30T11:00:00Z", until="2026-11-30T11:10:00Z", service="cart", text="synced -1")
    assert result.payload["common"] == {"pod": "cart-1"}
    assert all("pod" not in ref.text for ref in refs(result, "logs"))
    assert all(ref.scope["pod"] == "cart-1" for ref in refs(result, "logs"))


async def test_other_fields_of_a_json_line_stand_behind_its_message(tmp_path: Path) -> None:
    lines = [{"ts": stamp(1), "level": "error", "service": "pay", "msg": "declined", "code": "E1042", "took": {"ms": 31}},
             {"ts": stamp(2), "level": "error", "service": "pay", "msg": "declined", "code": "E2001", "took": {"ms": 32}}]
    (tmp_path / "pay.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = await ask(tmp_path, **WINDOW)
    assert refs(result, "logs")[0].text == f"{stamp(1)} error declined code=E1042 took.ms=31"


async def test_without_comparison_nothing_is_said_of_before(shop: Path) -> None:
    result = await ask(shop, **WINDOW, compare=False)
    assert result.payload["before_window"] is None
    assert {one["status"] for one in result.payload["templates"]} == {"not_compared"}
    assert all("before=" not in ref.text for ref in result.evidence_refs)


async def test_with_no_lines_of_the_time_before_nothing_is_called_new(shop: Path) -> None:
    result = await ask(shop, since="2026-11-30T11:00:00Z", until="2026-11-30T12:00:00Z")
    assert {one["status"] for one in result.payload["templates"]} == {"not_compared"}
    assert "The files hold no lines of the time before, so nothing can be called new or gone" in result.payload["notes"]


async def test_an_empty_window_says_what_the_files_do_cover(shop: Path) -> None:
    result = await ask(shop, now="2026-11-30T20:00:00Z")
    assert result.evidence_status is EvidenceStatus.NO_EVIDENCE
    (ref,) = result.evidence_refs
    assert ref.raw_path == NO_EVIDENCE_PATH
    assert "from 2026-11-30T19:00:00Z to 2026-11-30T20:00:00Z in 2 files (cart.jsonl, order-service.log)" in ref.text
    assert "The newest line seen in them is of 2026-11-30T11:59:00Z" in ref.text


async def test_an_unknown_service_is_answered_with_the_known_ones(shop: Path) -> None:
    result = await ask(shop, **WINDOW, service="orders")
    assert "Services in these files: cart, order-service" in result.payload["no_evidence"]


async def test_a_stack_trace_is_one_record_with_its_line(tmp_path: Path) -> None:
    trace = "\n".join(["java.lang.IllegalStateException: pool is closed", "\tat org.acme.Pool.take(Pool.java:77)",
                       "Caused by: java.net.ConnectException: Connection refused", "\t... 12 more"])
    text = f"{stamp(1)} ERROR checkout failed\n{trace}\n{stamp(2)} INFO ok\n"
    (tmp_path / "a.log").write_text(text)
    for asked in ({}, {"text": "ConnectException"}, {"level": "ERROR"}):
        result = await ask(tmp_path, **WINDOW, **asked)
        (ref,) = [ref for ref in refs(result, "logs") if "ERROR" in ref.text]
        assert ref.text == f"{stamp(1)} ERROR checkout failed\n{trace}"


async def test_two_exceptions_under_one_message_are_two_templates(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(
        f"{stamp(1)} ERROR failed\njava.io.IOException: disk\n{stamp(2)} ERROR failed\njava.lang.Error: bad\n"
    )
    assert (await ask(tmp_path, **WINDOW)).payload["template_count"] == 2


async def test_a_workload_is_found_by_its_pods_name(tmp_path: Path) -> None:
    folder = tmp_path / "shop_checkout-7d97b69596-lmsfv_0f2c7a51-9a0e-4a1b-8c44-0a1b2c3d4e5f" / "web"
    folder.mkdir(parents=True)
    (folder / "0.log").write_text("2026-11-30T11:31:00.1Z stderr F E1130 11:31:00.100000 1 x.go:7] boom\n")
    result = await ask(tmp_path, **WINDOW, service="checkout", level="ERROR")
    (ref,) = refs(result, "logs")
    assert ref.scope["pod"] == "checkout-7d97b69596-lmsfv"
    assert ref.scope["service"] == "web"


async def test_a_file_that_begins_in_the_window_is_named(shop: Path) -> None:
    (shop / "fresh.log").write_text(f"{stamp(3)} INFO started\n")
    notes = (await ask(shop, **WINDOW)).payload["notes"]
    assert any(note.startswith("fresh.log begins only at 2026-11-30T11:33:00Z") for note in notes)


async def test_a_pipe_named_like_a_log_does_not_hang(shop: Path) -> None:
    os.mkfifo(shop / "pipe.log")
    assert skipped(await ask(shop, **WINDOW))["pipe.log"] == "not a regular file"


async def test_a_call_with_the_same_window_said_otherwise_is_the_same_call() -> None:
    context = CallContext("r", datetime(2026, 11, 30, 12, tzinfo=UTC), ZoneInfo("UTC"))
    said = [{"since": "2026-11-30T11:00:00Z"}, {"window_minutes": 60}, {"since": "11:00"}, {"level": "error"}]
    forms = [compiled(QueryLogs.model_validate(one), context) for one in said]
    assert forms[0] == forms[1] == forms[2] != forms[3]


async def test_a_zone_that_is_not_stated_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("2026-11-30 19:40:00,123 ERROR boom\n")
    result = await ask(tmp_path, **WINDOW, settings=LogSettings(time_zone="Asia/Shanghai"))
    assert result.evidence_refs[0].scope["zone"] == "time zone not stated; read as Asia/Shanghai"
    assert "first=2026-11-30T11:40:00.123Z" in result.evidence_refs[0].text
    utc = await ask(tmp_path, since="2026-11-30T19:30:00Z", until="2026-11-30T20:00:00Z", now="2026-12-01T00:00:00Z")
    assert "Time zone not stated; read as UTC" in utc.payload["notes"]


async def test_a_time_without_zone_is_the_askers(shop: Path) -> None:
    result = await ask(shop, zone="Asia/Shanghai", since="2026-11-30T19:30", until="2026-11-30T20:00", text="pool")
    assert result.payload["matched"] == 19


async def test_gzip_is_read_also_where_it_ends_in_the_middle(tmp_path: Path) -> None:
    lines = "".join(f"{stamp(0)} ERROR boom {number} {number * 7919 % 10007}\n" for number in range(20_000))
    packed = gzip.compress(lines.encode())
    (tmp_path / "whole.log.gz").write_bytes(packed)
    (tmp_path / "half.log.gz").write_bytes(packed[: len(packed) // 2])
    whole = await ask(tmp_path, **WINDOW, glob="whole*")
    assert whole.payload["matched"] == 20_000
    half = await ask(tmp_path, **WINDOW, glob="half*")
    assert 1_000 < half.payload["matched"] < 20_000
    assert any("gzip file ends in the middle" in note for note in half.payload["notes"])


async def test_unreadable_files_are_named_with_the_reason_and_the_others_answer(shop: Path) -> None:
    (shop / "core.log").write_bytes(b"\x7fELF\0\0\0" * 100)
    (shop / "wide.log").write_bytes("2026-11-30 hello".encode("utf-16"))
    (shop / "empty.log").touch()
    (shop / "broken.log.gz").write_bytes(b"\x1f\x8bnonsense")
    (shop / "prose.txt").write_text("Once upon a time\nthere was a pod.\n")
    result = await ask(shop, **WINDOW, text="pool")
    assert result.payload["matched"] == 19
    reasons = skipped(result)
    assert reasons["core.log"] == "binary, not text"
    assert reasons["wide.log"] == "UTF-16 text: convert it to UTF-8"
    assert reasons["empty.log"] == "empty"
    assert reasons["prose.txt"] == "no line with a time stamp of a known form"
    assert "broken.log.gz" in reasons


async def test_a_line_of_ten_megabytes_is_cut_and_the_lines_around_it_are_read(tmp_path: Path) -> None:
    with (tmp_path / "a.log").open("w") as out:
        out.write(f"{stamp(1)} INFO before\n{stamp(2)} ERROR {'x' * 10_000_000}\n{stamp(3)} INFO after\n")
    result = await ask(tmp_path, **WINDOW)
    assert result.payload["matched"] == 3
    assert any("over 1 MB: only its first 64 kB were read" in note for note in result.payload["notes"])
    assert max(len(ref.text) for ref in result.evidence_refs) < 2_000


async def test_bytes_that_are_no_utf8_do_not_hide_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(f"{stamp(1)} ERROR caf".encode() + b"\xe9 closed\n")
    result = await ask(tmp_path, **WINDOW, text="closed")
    assert refs(result, "logs")[0].text.endswith("caf\ufffd closed")


async def test_text_finds_what_json_escapes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"ts": stamp(1), "msg": '订单 "17" 失败'}) + "\n")
    assert (await ask(tmp_path, **WINDOW, text='订单 "17"')).payload["matched"] == 1
    assert (await ask(tmp_path, **WINDOW, regex='订单 "\\d+"')).payload["matched"] == 1


async def test_a_regex_that_never_comes_back_is_ended(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(f"{stamp(1)} INFO {'a' * 60}!\n" for _ in range(50)))
    with pytest.raises(ToolFailed, match="the regex ran longer than 1 s: simplify it"):
        await ask(tmp_path, **WINDOW, regex="(a+)+$", settings=LogSettings(scan_seconds=1.0))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"since": "yesterday-ish"}, "is not a time"),
        ({"since": "2026-11-30T11:00:00Z", "until": "2026-11-30T10:00:00Z"}, "the window is empty"),
        ({"since": "2027-01-01T00:00:00Z", "until": "2027-01-02T00:00:00Z"}, "lies in the future: now is 2026-11-30T12:00:00Z"),
        ({"glob": "../../etc/*"}, "must stay inside the log folders"),
        ({"glob": "/etc/passwd"}, "must stay inside the log folders"),
        ({"glob": "nothing-*.log"}, "no log file fits glob 'nothing-*.log'"),
    ],
)
async def test_a_wrong_question_is_told_what_to_change(shop: Path, asked: dict[str, str], message: str) -> None:
    with pytest.raises(ToolFailed, match=message.replace("*", r"\*")):
        await ask(shop, **asked)


@pytest.mark.parametrize("asked", [{"regex": "(("}, {"level": "LOUD"}, {"limit": 0}, {"servcie": "x"}, {"text": ""}])
async def test_a_malformed_question_does_not_run(shop: Path, asked: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        await ask(shop, **asked)


async def test_an_empty_folder_and_a_missing_one_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="no log file is in the configured folders"):
        await ask(tmp_path)
    with pytest.raises(ToolFailed, match="does not exist"):
        await ask(tmp_path / "gone")


def test_an_unknown_zone_in_the_settings_is_the_operators_error(tmp_path: Path) -> None:
    with pytest.raises(ToolConfigError, match="Mars/Olympus"):
        LogFiles([tmp_path], LogSettings(time_zone="Mars/Olympus"))


def test_the_operator_hears_why_no_log_can_be_read(shop: Path, tmp_path: Path) -> None:
    assert LogFiles([shop]).problem() is None
    assert "no log folder" in (LogFiles([]).problem() or "")
    assert "does not exist" in (LogFiles([tmp_path / "gone"]).problem() or "")


async def test_a_log_with_some_nuls_in_it_is_read(tmp_path: Path) -> None:
    lines = [f"{stamp(minute)} ERROR boom \0 {minute}" for minute in range(20)]
    (tmp_path / "torn.log").write_bytes(b"\0" * 3_000 + "\n".join(["", *lines, ""]).encode())
    result = await ask(tmp_path, **WINDOW)
    assert result.payload["matched"] == 20
    assert not skipped(result)


async def test_nuls_alone_are_no_log(tmp_path: Path) -> None:
    (tmp_path / "sparse.log").write_bytes(b"\0" * 100_000)
    (tmp_path / "a.log").write_text(f"{stamp(1)} ERROR boom\n")
    assert skipped(await ask(tmp_path, **WINDOW))["sparse.log"] == "binary, not text"
