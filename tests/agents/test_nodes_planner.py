"""The planner: a skill of the catalogue or none."""

import pytest
from small_incident import good_run, plan, request, scripted, world

from agents.contracts import ExecutorInput
from bot.jobs import ask
from storage.engine import Database


@pytest.mark.parametrize(("named", "selected"), [("connection-pool", "connection-pool"), (None, None), ("made-up", None)])
async def test_only_a_skill_that_exists_is_selected(
    sqlite_database: Database, named: str | None, selected: str | None
) -> None:
    model = scripted(plan(named), *good_run()[1:])
    await ask(request(), world(sqlite_database, model).place)
    given = next(asked.payload for asked in model.asked if asked.role == "executor")
    assert isinstance(given, ExecutorInput)
    assert given.planner_plan.selected_skill == selected
    assert given.planner_plan.plan == ("logs of order-service", "metrics of order-service")


async def test_the_reason_says_which_skill_was_not_there(sqlite_database: Database) -> None:
    model = scripted(plan("made-up"), *good_run()[1:])
    await ask(request(), world(sqlite_database, model).place)
    given = next(asked.payload for asked in model.asked if asked.role == "executor")
    assert isinstance(given, ExecutorInput)
    assert given.planner_plan.selection_reason.endswith("[made-up: ?]")
