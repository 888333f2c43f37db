"""`proofthread schedule`: what is done when, what was done by whom, and what to set where nothing is."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.cli import run
from bot.schedule import LEASE
from bot.settings import load_settings
from bot.timetable.listing import listed, listing_lines
from storage.engine import Database
from storage.schedule import ScheduleStore

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
CONFIG = """
time_zone = "Asia/Shanghai"
digest_channel = "C0DIGEST1"
prometheus_url = "http://127.0.0.1:9"
knowledge_dir = "runbooks"
[[patrols]]
cron = "0 9 * * mon-fri"
channel = "C0ALERTS01"
name = "checkout"
[[patrols]]
cron = "*/30 * * * *"
channel = "C0ALERTS01"
zone = "Europe/Berlin"
[[patrols]]
cron = "@daily"
channel = "C0ALERTS01"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sqlite_url: str) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATABASE_URL", sqlite_url)
    (tmp_path / "proofthread.toml").write_text(CONFIG)
    return tmp_path


def shown(folder: Path) -> list[str]:
    return [f"{line.lead}{line.text}" for line in listing_lines(listed(load_settings(), NOW))]


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_each_job_says_what_it_does_and_when_next_here_and_in_utc(folder: Path) -> None:
    lines = shown(folder)
    assert lines[:3] == [
        "patrol checkout: looks for what fires and reports in C0ALERTS01",
        "  next  Tue 2026-12-01 09:00 CST (01:00 UTC)  (0 9 * * mon-fri, Asia/Shanghai)",
        "  last  not yet",
    ]
    assert "  next  Mon 2026-11-30 10:30 CET (09:30 UTC)  (*/30 * * * *, Europe/Berlin)" in lines
    assert "  next  Tue 2026-12-01 03:15 CST (Mon 19:15 UTC)  (15 3 * * *, Asia/Shanghai)" in lines
    assert "re-check: says 15 minutes after a report whether its alert still fires" in lines
    assert lines[-1] == "Nothing has led yet: proofthread serve does all this while it runs."


def test_patrols_of_one_channel_have_names_of_their_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [job["name"] for job in told(capsys, "schedule")["jobs"]]
    assert names == ["patrol checkout", "patrol C0ALERTS01", "patrol C0ALERTS01 (2)", "digest", "knowledge", "retention"]


def test_the_last_slot_says_who_fired_it_and_what_came_of_it(
    folder: Path, sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ScheduleStore(sqlite_database)
    store.begin("digest", NOW, "host-1-abc")
    store.ended("digest", NOW, "posted")
    store.begin("retention", NOW, "host-2-def")
    store.hold(LEASE, "host-1-abc", 60)
    lines = shown(folder)
    assert "  last  Mon 2026-11-30 17:00 CST (09:00 UTC) by host-1-abc: posted" in lines
    assert "  last  Mon 2026-11-30 17:00 CST (09:00 UTC) by host-2-def: at work, or its process died" in lines
    assert lines[-1] == "host-1-abc leads."
    found = told(capsys, "schedule")
    [digest] = [job for job in found["jobs"] if job["name"] == "digest"]
    assert (digest["last"]["slot"], digest["last"]["fired_by"]) == ("2026-11-30T09:00:00Z", "host-1-abc")
    assert digest["next_local"].endswith("09:00:00+08:00")
    assert found["leader"]["owner"] == "host-1-abc"


def test_what_is_not_configured_says_what_to_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    off = 'recheck_minutes = 0\nrecovery_minutes = 0\nretention_cron = ""\n'
    (folder / "proofthread.toml").write_text(off)
    missing = {one["name"]: one["advice"] for one in told(capsys, "schedule")["not_set"]}
    assert set(missing) == {"patrol", "digest", "knowledge", "retention", "re-check", "recovery"}
    assert "[[patrols]]" in missing["patrol"]
    assert "digest_channel" in missing["digest"]


def test_patrols_that_could_see_nothing_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "proofthread.toml").write_text('[[patrols]]\ncron = "@daily"\nchannel = "C0ALERTS01"\n')
    [patrol] = [one for one in told(capsys, "schedule")["not_set"] if one["name"] == "patrol"]
    assert "prometheus_url or alertmanager_url" in patrol["advice"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('digest_cron = "0 25 * * 1"', "digest_cron"),
        ('[[patrols]]\ncron = "0 9 * *"\nchannel = "C0ALERTS01"', "patrols.0.cron"),
        ('[[patrols]]\ncron = "@daily"\nchannel = "alerts"', "is no channel id"),
    ],
)
def test_a_wrong_setting_is_the_operators_to_mend(
    folder: Path, config: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "proofthread.toml").write_text(config)
    assert run(["schedule"]) == 2
    assert said in capsys.readouterr().err
