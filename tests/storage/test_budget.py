"""What a day has cost: nothing is lost between many that add, and an unknown price is not 0.00."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest
from slack_jobs import new_job
from trace_rows import STEP

from storage.budget import BudgetStore, Ceiling, Spent, person, workspace
from storage.engine import Database
from storage.jobs import JobStore
from storage.trace import TraceStore

DAY = date(2026, 11, 30)
TEAM, ANN = workspace("T1"), person("T1", "U1")


def test_nothing_is_spent_at_first(database: Database) -> None:
    assert BudgetStore(database).spent(DAY, TEAM) == Spent(0, None, 0)


def test_days_and_scopes_add_up_by_themselves(database: Database) -> None:
    store = BudgetStore(database)
    store.spend(DAY, TEAM, 100, 0.25)
    store.spend(DAY, TEAM, 50, 0.5)
    store.spend(DAY, ANN, 7, None)
    store.spend(date(2026, 12, 1), TEAM, 1, None)
    assert [store.spent(DAY, scope) for scope in (TEAM, ANN)] == [Spent(150, 0.75, 2), Spent(7, None, 1)]


def test_a_run_without_a_price_leaves_the_known_cost(database: Database) -> None:
    store = BudgetStore(database)
    for cost in (None, 0.25, None):
        store.spend(DAY, TEAM, 1, cost)
    assert store.spent(DAY, TEAM) == Spent(3, 0.25, 3)


def test_many_spend_at_once_and_nothing_is_lost(database: Database) -> None:
    store = BudgetStore(database)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: store.spend(DAY, TEAM, 10, 0.5), range(40)))
    assert store.spent(DAY, TEAM) == Spent(400, 20.0, 40)


def test_a_run_is_charged_once_to_all_its_scopes(database: Database) -> None:
    store = BudgetStore(database)
    JobStore(database).add(new_job(1))
    with ThreadPoolExecutor(4) as threads:
        charged = list(threads.map(lambda _: store.charge("run-1", DAY, (TEAM, ANN), 10, None), range(4)))
    assert sorted(charged) == [False, False, False, True]
    assert [store.spent(DAY, scope) for scope in (TEAM, ANN)] == [Spent(10, None, 1)] * 2


def test_what_runs_is_counted_until_its_run_is_charged(database: Database) -> None:
    store, jobs, trace = BudgetStore(database), JobStore(database), TraceStore(database)
    assert store.under_way("T1") == Spent(0, None, 0)
    for number in (1, 2):
        jobs.add(new_job(number, user_id=f"U{number}"))
    lease = trace.claim("run-1", "somebody", 60)
    assert lease is not None
    assert store.under_way("T1") == Spent(0, None, 1)
    trace.add_step(lease, STEP)
    tokens = STEP.prompt_tokens + STEP.completion_tokens
    assert [store.under_way("T1"), store.under_way("T1", "U1")] == [Spent(tokens, STEP.cost, 1)] * 2
    assert store.under_way("T1", "U2") == store.under_way("T2") == Spent(0, None, 0)
    store.charge("run-1", DAY, (TEAM,), tokens, None)
    assert store.under_way("T1") == Spent(0, None, 0)


def test_runs_under_way_count_as_the_days_runs_or_as_what_they_have_cost() -> None:
    assert Spent(100, 0.5, 2).with_running(Spent(20, None, 3)) == Spent(250, pytest.approx(1.25), 5)
    assert Spent(100, None, 2).with_running(Spent(900, 0.3, 3)) == Spent(1000, 0.3, 5)
    assert Spent().with_running(Spent(0, None, 4)) == Spent(0, None, 4)


def test_a_ceiling_is_reached_by_tokens_or_by_known_money() -> None:
    assert Ceiling(tokens=100).is_reached(Spent(100))
    assert not Ceiling(tokens=100).is_reached(Spent(99, 5.0))
    assert Ceiling(cost=5).is_reached(Spent(1, 5.0))
    assert not Ceiling(cost=5).is_reached(Spent(10**9, None))
    assert not Ceiling().is_reached(Spent(10**9, 10.0))
