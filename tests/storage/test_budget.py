"""What a day has cost: nothing is lost between many that add, and an unknown price is not 0.00."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

from slack_jobs import new_job

from storage.budget import BudgetStore, Ceiling, Spent, person, workspace
from storage.engine import Database
from storage.jobs import JobStore

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


def test_a_ceiling_is_reached_by_tokens_or_by_known_money() -> None:
    assert Ceiling(tokens=100).is_reached(Spent(100))
    assert not Ceiling(tokens=100).is_reached(Spent(99, 5.0))
    assert Ceiling(cost=5).is_reached(Spent(1, 5.0))
    assert not Ceiling(cost=5).is_reached(Spent(10**9, None))
    assert not Ceiling().is_reached(Spent(10**9, 10.0))
