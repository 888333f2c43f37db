"""The calibration digest against a database made by hand: each number is one that a person can count below."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from slack_worker import SCHEMA, emulator
from sqlalchemy import text
from trace_rows import END, claimed, queued
from whole_bot import running

from agents.replies import Replies
from bot.blocks.reader import Reader
from bot.cli import run
from bot.data import data_folder
from bot.slack.validator import check
from bot.timetable.digest import NOTHING, POSTED, digest_blocks, digest_kinds, digest_of, digest_texts, post_digest
from bot.timetable.language import schedule_words
from storage.calibration import EndedRun, ended_runs
from storage.engine import Database
from storage.incidents import Incident, IncidentStore, StoredAlert

SINCE, UNTIL = datetime(2026, 11, 23, 9, 0, tzinfo=UTC), datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


def ended(number: int, verdict: str = "PASS", up: int = 0, down: int = 0, name: str | None = "CheckoutSlow", **more: Any) -> EndedRun:
    made = EndedRun(f"run-{number}", "AI_OPS", "SUCCESS", verdict, up, down, 1000, 0.25, 1000 * number, True, name)
    return replace(made, **more)


# 12 runs: 6 PASS (4 voted: 2 up, 1 down, 1 even), 3 LOW (1 up), 2 REJECT (1 down), 1 stopped.
RUNS = [
    ended(1, up=1),
    ended(2, up=2, down=1),
    ended(3, down=1),
    ended(4, up=1, down=1),
    ended(5),
    ended(6, name="DiskFull"),
    ended(7, "LOW_CONFID", up=1),
    ended(8, "LOW_CONFID", name="DiskFull"),
    ended(9, "LOW_CONFID", is_alert=False, name=None, agent_flow="CHAT"),
    ended(10, "REJECT", down=1, name=None),
    ended(11, "REJECT", is_alert=False, name=None, cost=None, status="FAILED"),
    ended(12, "REJECT", status="CANCELLED"),
]


def reader(language: str = "en") -> Reader:
    return Reader(schedule_words(Replies.load(data_folder("prompts") / "replies")), language, ZoneInfo("UTC"))


def test_verdicts_are_held_against_votes() -> None:
    digest = digest_of(RUNS, SINCE, UNTIL)
    assert (digest.whole.runs, digest.cancelled) == (11, 1)
    assert {name: (one.runs, one.voted, one.useful) for name, one in digest.whole.verdicts.items()} == {
        "PASS": (6, 4, 2),
        "LOW_CONFID": (3, 1, 1),
        "REJECT": (2, 1, 0),
    }
    assert digest.precision == 0.5
    assert digest.reject_share == 2 / 11


def test_cost_tokens_and_durations_are_sums_and_ranks() -> None:
    digest = digest_of(RUNS, SINCE, UNTIL)
    assert (digest.tokens, digest.cost) == (12_000, 2.75)
    assert (digest.p50_ms, digest.p95_ms) == (6_000, 11_000)
    assert digest_of([ended(1, cost=None)], SINCE, UNTIL).cost is None
    hundred = [ended(number) for number in range(1, 101)]
    assert (digest_of(hundred, SINCE, UNTIL).p50_ms, digest_of(hundred, SINCE, UNTIL).p95_ms) == (50_000, 95_000)


def test_each_kind_of_alert_is_counted_on_its_own() -> None:
    kinds = {kind.name: (kind.runs, kind.useful, kind.not_useful) for kind in digest_of(RUNS, SINCE, UNTIL).kinds}
    assert kinds == {
        "CheckoutSlow": (6, 3, 2),
        "DiskFull": (2, 0, 0),
        "#questions": (1, 0, 0),
        "#patrols": (1, 0, 0),
        "#unnamed": (1, 0, 1),
    }


def test_a_triage_by_command_is_no_patrol() -> None:
    by_hand = ended(1, "REJECT", is_alert=False, name=None, from_slack=False)
    assert digest_kinds(digest_of([by_hand], SINCE, UNTIL), reader())[0].startswith("proofthread triage: 1 runs")


def test_it_reads_in_english() -> None:
    digest = digest_of(RUNS, SINCE, UNTIL)
    assert digest_texts(digest, reader()) == [
        "Calibration digest, 2026-11-23 to 2026-11-30",
        "11 runs: 6 PASS, 3 LOW_CONFID, 2 REJECT (18%).",
        "1 were stopped.",
        "Of the 4 PASS answers with a vote, 2 were found useful: precision 50%.",
        "LOW_CONFID: 1 of 1 useful; REJECT: 0 of 1 useful.",
        "Spent: 12,000 tokens, cost 2.75. Duration: half within 6.0 s, 95% within 11.0 s.",
    ]
    assert digest_kinds(digest, reader())[0] == (
        "CheckoutSlow: 6 runs, 5 PASS, 1 LOW_CONFID, 0 REJECT; votes 3 useful, 2 not"
    )


def test_it_reads_in_chinese() -> None:
    texts = digest_texts(digest_of(RUNS, SINCE, UNTIL), reader("zh"))
    assert texts[0] == "校准周报，2026-11-23 至 2026-11-30"
    assert texts[3] == "有投票的 4 个 PASS 回答中，2 个被认为有用：准确率 50%。"


def test_nothing_is_divided_by_nothing() -> None:
    assert digest_texts(digest_of([], SINCE, UNTIL), reader())[1:] == ["No run ended in this time."]
    unvoted = digest_texts(digest_of([ended(1)], SINCE, UNTIL), reader())
    assert unvoted[2].startswith("No PASS answer has a vote yet")


@pytest.mark.parametrize("runs", [RUNS, [], [ended(number, name=f"Alert{number} <!channel> {'x' * 400}") for number in range(40)]])
def test_slack_takes_it(runs: list[EndedRun]) -> None:
    digest = digest_of(runs, SINCE, UNTIL)
    content = {"channel": "C1", "text": digest_texts(digest, reader())[0], "blocks": digest_blocks(digest, reader())}
    assert check("chat.postMessage", content) == []
    assert SCHEMA.exists()


# ---------------------------------------------------------------- from the database


def stored_run(db: Database, run_id: str, verdict: str, *, finished: datetime = NOW, alert_name: str | None = None) -> None:
    store = queued(db, run_id)
    store.finish_run(claimed(store, run_id), replace(END, verdict=verdict, total_duration_ms=2_000, total_token_count=500, cost=0.5))
    with db.begin() as connection:
        flow = "CHAT" if alert_name is None else "AI_OPS"
        values = {"at": finished.strftime("%Y-%m-%d %H:%M:%S.000000"), "flow": flow, "run": run_id}
        connection.execute(text("UPDATE diagnosis_run SET finished_at = :at, agent_flow = :flow WHERE run_id = :run"), values)
    if alert_name is not None:
        of_incident(db, run_id, alert_name)


def of_incident(db: Database, run_id: str, alert_name: str) -> None:
    store, key = IncidentStore(db), f"inc-{run_id}"
    one = Incident(key, 1, "T1", "C1", "1.1", "open", alert_name, "critical", "f1", {}, 1, 1, 1, NOW, NOW, NOW)
    document = {"sender": "alertmanager", "alert_name": alert_name, "status": "firing", "fingerprint": "f1"}
    lead = StoredAlert(key, "f1", "firing", document, "1.1", "1.1", 1, 1, NOW, NOW)
    store.decide("T1", "C1", lambda book: (book.save(one), book.save_alert(lead)))
    assert store.attach_run(key, 1, run_id)


def vote(db: Database, run_id: str, user: str, vote: str) -> None:
    from storage.feedback import FeedbackStore

    FeedbackStore(db).vote(run_id, user, vote, "button", NOW)  # type: ignore[arg-type]


def test_the_database_is_counted_as_it_stands(database: Database) -> None:
    stored_run(database, "run-1", "PASS", alert_name="CheckoutSlow")
    stored_run(database, "run-2", "REJECT")
    stored_run(database, "run-before", "PASS", finished=SINCE - timedelta(seconds=1))
    stored_run(database, "run-after", "PASS", finished=UNTIL)
    queued(database, "run-waits")
    vote(database, "run-1", "U1", "useful")
    vote(database, "run-1", "U2", "not_useful")
    vote(database, "run-1", "U3", "useful")
    vote(database, "run-2", "U1", "not_useful")
    assert ended_runs(database, SINCE, UNTIL) == [
        EndedRun("run-1", "AI_OPS", "SUCCESS", "PASS", 2, 1, 500, 0.5, 2000, True, "CheckoutSlow", False),
        EndedRun("run-2", "CHAT", "SUCCESS", "REJECT", 0, 1, 500, 0.5, 2000, False, None, False),
    ]


async def test_it_is_posted_in_its_channel_and_not_where_nothing_ran(tmp_path: Path) -> None:
    with emulator() as slack:
        async with running(slack, tmp_path, retention_cron="", digest_channel="C0ALERTS01", language="zh") as bot:
            assert await post_digest(bot.desk, "C0ALERTS01", UNTIL) == NOTHING
            stored_run(bot.app.database, "run-1", "PASS")
            assert await post_digest(bot.desk, "C0ALERTS01", UNTIL) == POSTED
            [post] = [each for each in slack.messages("alerts") if each.get("user") == slack.bot_user_id]
            assert post["text"] == "校准周报，2026-11-23 至 2026-11-30"
            assert "共 1 次运行" in json.dumps(post["blocks"], ensure_ascii=False)


def test_the_terminal_prints_it_on_demand(
    tmp_path: Path, sqlite_database: Database, sqlite_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored_run(sqlite_database, "run-1", "PASS", finished=datetime.now(UTC) - timedelta(hours=1), alert_name="DiskFull")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATABASE_URL", sqlite_url)
    assert run(["schedule", "digest"]) == 0
    assert "1 runs: 1 PASS, 0 LOW_CONFID, 0 REJECT (0%)." in capsys.readouterr().out
    assert run(["schedule", "digest", "--json", "--days", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["whole"]["runs"], found["precision"], found["kinds"][0]["name"]) == (1, None, "DiskFull")
    assert run(["schedule", "digest", "--language", "fr"]) == 2
