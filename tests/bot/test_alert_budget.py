"""What alerts may use, and what is said where they may not."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from zoneinfo import ZoneInfo

import pytest
from alert_posts import START, Channel, ends, fires

from agents.replies import Replies
from bot.blocks.incident import incident_words
from bot.blocks.reader import Reader
from bot.blocks.reasons import reason_text
from bot.data import data_folder
from bot.incidents.intake import Intake
from bot.triaging.budget import AlertBudget, AlertLimits, Placing, obstacle
from storage.alert_places import Load
from storage.budget import BudgetStore, Ceiling, Spent, alerts, workspace
from storage.engine import Database
from storage.incidents import Incident, IncidentStore
from storage.jobs import JobKey, JobStore, NewJob
from storage.records import NewRun
from storage.trace import TraceStore

LIMITS = AlertLimits(at_once=2, per_hour=10, day=Ceiling(1_000, 10.0), whole_day=Ceiling(5_000, 50.0), run_tokens=100)
FREE = Load(0, 0, Spent(), Spent())


@pytest.fixture
def incidents(database: Database) -> list[Incident]:
    """Four warnings and a critical one, all due."""
    store, numbers = IncidentStore(database), count(1)
    channel = Channel(Intake(store, new_id=lambda: f"i{next(numbers)}"))
    for number in range(4):
        channel.post(fires(service=f"s{number}"))
    channel.post(fires(severity="critical", service="s9"))
    return sorted(store.due(START + timedelta(hours=1)), key=lambda one: one.incident_id)


def budget(database: Database, limits: AlertLimits = LIMITS, now: datetime = START) -> AlertBudget:
    return AlertBudget(database, limits, lambda: now)


def make_run(database: Database, incident: Incident, run_id: str) -> None:
    run = NewRun(run_id, incident.thread.session_id, "AI_OPS", "q", "en", "UTC", "{}", "supervisor", 300)
    key = JobKey(incident.team, incident.channel, incident.root_ts, "alert:1")
    JobStore(database).add(NewJob(key, run, incident.thread, None))


@pytest.mark.parametrize(
    ("severity", "load", "found"),
    [
        ("warning", FREE, None),
        ("warning", Load(1, 0, Spent(), Spent()), "at_once"),
        ("critical", Load(1, 0, Spent(), Spent()), None),
        ("critical", Load(2, 0, Spent(), Spent()), "at_once"),
        ("warning", Load(0, 6, Spent(), Spent()), None),
        (None, Load(0, 7, Spent(), Spent()), "hour"),
        ("critical", Load(0, 9, Spent(), Spent()), None),
        ("critical", Load(0, 10, Spent(), Spent()), "hour"),
        ("warning", Load(0, 0, Spent(699, None, 7), Spent()), None),
        ("warning", Load(0, 0, Spent(700, None, 7), Spent()), "tokens"),
        ("critical", Load(0, 0, Spent(999, None, 7), Spent()), None),
        ("critical", Load(0, 0, Spent(1_000, None, 7), Spent()), "tokens"),
        ("high", Load(0, 0, Spent(0, 7.0, 7), Spent()), "money"),
        ("critical", Load(0, 0, Spent(), Spent(3_499)), None),
        ("critical", Load(0, 0, Spent(), Spent(3_500)), "people_tokens"),
        ("critical", Load(0, 0, Spent(), Spent(0, 35.0)), "people_money"),
    ],
)
def test_what_stands_in_the_way(severity: str | None, load: Load, found: str | None) -> None:
    assert obstacle(severity, load, LIMITS) == found


def test_what_runs_now_counts_as_what_such_runs_cost() -> None:
    assert obstacle("critical", Load(1, 0, Spent(850, None, 10), Spent()), LIMITS) is None
    assert obstacle("critical", Load(1, 0, Spent(930, None, 10), Spent()), LIMITS) == "tokens"
    assert obstacle("critical", Load(1, 0, Spent(0, None, 0), Spent(3_450)), LIMITS) == "people_tokens"
    assert obstacle("critical", Load(1, 0, Spent(0, 9.5, 10), Spent()), LIMITS) == "money"


def test_without_limits_only_the_number_at_once_holds() -> None:
    limits = AlertLimits(per_hour=None)
    assert obstacle("info", Load(0, 9_999, Spent(10**9, 10.0**9, 5), Spent(10**9)), limits) is None


def test_a_run_gets_its_place_and_the_next_waits_in_line(database: Database, incidents: list[Incident]) -> None:
    place = budget(database)
    assert place.admit(incidents[0], "r1") == Placing("start")
    assert place.admit(incidents[0], "r2") == Placing("over")
    make_run(database, incidents[0], "r1")
    assert place.admit(incidents[1], "r3", position=2) == Placing("wait")
    assert place.admit(incidents[4], "r4") == Placing("start")
    waiting = IncidentStore(database).get("i2")
    assert waiting is not None
    assert (waiting.queue_position, waiting.not_run_reason) == (2, None)
    TraceStore(database).request_cancel("r1")
    IncidentStore(database).ended("r4", None)
    assert place.admit(incidents[1], "r3") == Placing("start")


def test_the_same_incident_gets_one_place(database: Database, incidents: list[Incident]) -> None:
    place = budget(database, AlertLimits(at_once=9))
    assert [place.admit(incidents[0], f"r{number}").what for number in range(2)] == ["start", "over"]


def test_what_is_not_run_has_its_reason(database: Database, incidents: list[Incident]) -> None:
    BudgetStore(database).spend(START.date(), alerts("T1"), 700, None)
    place = budget(database)
    assert place.admit(incidents[0], "r1") == Placing("skip", reason="tokens:warning")
    assert place.admit(incidents[4], "r2") == Placing("start")
    skipped = IncidentStore(database).get("i1")
    assert skipped is not None
    assert (skipped.not_run_reason, skipped.told_dirty) == ("tokens:warning", True)
    assert "i1" not in [one.incident_id for one in IncidentStore(database).due(START + timedelta(hours=1))]


def test_what_people_spend_stops_alerts_before_people(database: Database, incidents: list[Incident]) -> None:
    BudgetStore(database).spend(START.date(), workspace("T1"), 3_500, None)
    assert budget(database).admit(incidents[4], "r1").reason == "people_tokens:critical"


def test_a_warning_that_waits_too_long_is_said_not_to_be_looked_at(
    database: Database, incidents: list[Incident]
) -> None:
    minutes = [0]
    place = AlertBudget(database, LIMITS, lambda: START + timedelta(hours=9, minutes=minutes[0]))
    assert place.admit(incidents[4], "r1").what == "start"
    assert place.admit(incidents[0], "r2").what == "wait"
    minutes[0] = 16
    assert place.admit(incidents[0], "r2") == Placing("skip", reason="at_once:warning")


def test_a_run_that_nobody_made_gives_its_place_back(database: Database, incidents: list[Incident]) -> None:
    place = budget(database)
    assert place.admit(incidents[0], "r1").what == "start"
    age_places(database)
    assert place.left("T1").running == 0
    assert "i1" in [one.incident_id for one in IncidentStore(database).due(START + timedelta(hours=1))]
    assert place.admit(incidents[0], "r2").what == "start"


def age_places(database: Database) -> None:
    from sqlalchemy import update

    from storage.models_incidents import incident, incident_run

    before = datetime.now(UTC) - timedelta(minutes=5)
    with database.begin() as connection:
        for table in (incident, incident_run):
            connection.execute(update(table).values(placed_at=before))


def test_two_processes_never_count_the_same_free_place(database_url: str, incidents: list[Incident]) -> None:
    databases = [Database(database_url) for _ in range(2)]
    limits = AlertLimits(at_once=2, reserve=0.0)
    budgets = [budget(each, limits) for each in databases]
    with ThreadPoolExecutor(8) as threads:
        jobs = [(budgets[n % 2], incidents[n % 5], f"r{n}") for n in range(20)]
        found = list(threads.map(lambda job: job[0].admit(job[1], job[2]).what, jobs))
    assert found.count("start") == 2
    assert budgets[0].left("T1").running == 2
    for each in databases:
        each.close()


def test_an_ended_incident_needs_no_place(database: Database, incidents: list[Incident]) -> None:
    Channel(Intake(IncidentStore(database))).post(ends(service="s0"), at=60, ts="99.9")
    assert budget(database).admit(incidents[0], "r1") == Placing("over")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["hour", "tokens", "money", "people_tokens", "people_money", "at_once"])
@pytest.mark.parametrize("severity", ["critical", "high", "warning", "info", "unknown", "odd"])
def test_every_reason_has_its_words(language: str, kind: str, severity: str) -> None:
    said = reason_text(f"{kind}:{severity}", reader(language))
    assert said
    assert ("mention me to run it" if language == "en" else "@我即可运行") in said


def test_a_reason_reads_as_a_sentence() -> None:
    said = reason_text("tokens:warning", reader("en"))
    assert said == "not looked at: daily budget for warnings spent; mention me to run it"
    assert reason_text("cooldown", reader("en")) == "not looked at again: the last report is fresh; mention me to run it"
    assert reason_text("deleted", reader("en")) is reason_text("below_min_severity", reader("en")) is None
    assert reason_text("refused", reader("zh")) == "未查看：我内部出错；@我即可运行"


def reader(language: str) -> Reader:
    words = incident_words(Replies.load(data_folder("prompts") / "replies"))
    return Reader(words, language, ZoneInfo("UTC"))
