"""What each role sees, and no more: read from the requests that a whole run sent."""

import json

import pytest
from small_incident import CHANGE_LINE, HERRING_LINE, POOL_LINE, WAITING_LINE, good_run, looks, request, scripted, world

from agents.contracts import (
    ComposerInput,
    ExecutorInput,
    HistoryTurn,
    PlannerInput,
    VerifierInput,
)
from agents.llm.base import ModelRequest
from agents.llm.scripted import Scripted, ScriptedCall, Turn
from bot.jobs import ask
from storage.engine import Database
from storage.trace import TraceStore

HISTORY = (HistoryTurn(role="user", text="it began after lunch"), HistoryTurn(role="assistant", text="noted"))
SKILL_CALL = Turn(role="executor", tool_calls=(ScriptedCall(name="read_skill", arguments={"name": "connection-pool"}),))


@pytest.fixture
async def asked(sqlite_database: Database) -> list[ModelRequest]:
    turns = good_run()
    turns.insert(1, SKILL_CALL)
    turns.insert(2, looks(("query_logs", "recommendation-service")))
    # the extra look-up takes E1: the claims' handles move by one
    turns = [Turn.model_validate_json(_moved(turn.model_dump_json())) if turn.reply else turn for turn in turns]
    model = scripted(*turns)
    await ask(request(history=HISTORY), world(sqlite_database, model).place)
    return model.asked


def _moved(text: str) -> str:
    for number in (3, 2, 1):
        text = text.replace(f'"E{number}"', f'"E{number + 1}"')
    return text


def of(asked: list[ModelRequest], role: str) -> list[ModelRequest]:
    found = [one for one in asked if one.role == role]
    assert found, f"the {role} was never asked"
    return found


def words(request: ModelRequest) -> str:
    """All that a model of this request could read: its messages, its typed payload, its tools."""
    payload = request.payload.model_dump_json()
    return "\n".join([*(message.content for message in request.messages), payload, str(request.tools), str(request.exchanges)])


EVIDENCE = (POOL_LINE, WAITING_LINE, CHANGE_LINE, HERRING_LINE)


async def test_the_planner_sees_skill_names_and_descriptions_alone(asked: list[ModelRequest]) -> None:
    [planner] = of(asked, "planner")
    assert isinstance(planner.payload, PlannerInput)
    assert [card.name for card in planner.payload.skill_catalog] == ["connection-pool", "disk-full"]
    assert "Pool exhaustion" in words(planner)
    assert "SECRET BODY" not in words(planner)
    assert "it began after lunch" in words(planner)
    assert not planner.tools
    assert not planner.exchanges


async def test_the_executor_alone_gets_tools(asked: list[ModelRequest]) -> None:
    executor = of(asked, "executor")
    assert {tool.name for tool in executor[0].tools} >= {"query_logs", "read_skill"}
    assert all(not one.tools and not one.exchanges for one in asked if one.role != "executor")


async def test_the_executor_gets_typed_results_beside_the_text(asked: list[ModelRequest]) -> None:
    last = of(asked, "executor")[-1]
    assert isinstance(last.payload, ExecutorInput)
    assert last.payload.tool_permissions.method_tools[0] == "query_logs"
    handles = [cited.handle for exchange in last.exchanges for cited in exchange.refs]
    assert handles == ["E1", "E2", "E3", "E4"]
    assert last.exchanges[1].refs[0].ref.text == HERRING_LINE
    assert f"E2: {POOL_LINE}" in words(last)


async def test_a_skill_reaches_the_executor_without_a_handle(asked: list[ModelRequest]) -> None:
    second = of(asked, "executor")[1]
    assert "SECRET BODY: look at hikaricp first" in second.messages[-1].content
    assert "E1" not in second.messages[-1].content
    assert "SECRET BODY TWO" not in words(second)


async def test_the_verifier_sees_spans_and_an_index_but_no_output(asked: list[ModelRequest]) -> None:
    [verifier] = of(asked, "verifier")
    assert isinstance(verifier.payload, VerifierInput)
    seen = words(verifier)
    assert "HikariPool-1 Connection is not available, request timed out after 30000ms" in seen
    assert "2026-11-30 08:43:12 ERROR" not in seen  # the line's rest was not quoted
    assert HERRING_LINE not in seen
    assert "feature cache miss" not in seen
    assert "$.logs[0]" in seen
    assert "Set maximum-pool-size back" not in seen
    assert "No traces were available" not in seen
    assert "never shown" not in seen
    assert "SECRET BODY" not in seen


async def test_the_verifiers_question_is_fenced(asked: list[ModelRequest]) -> None:
    [verifier] = of(asked, "verifier")
    assert "<<<question " in verifier.messages[1].content


async def test_the_composer_sees_only_what_the_verifier_allows(sqlite_database: Database) -> None:
    turns = good_run()
    turns[3] = turns[3].model_copy(
        update={
            "reply": {
                "claim_checks": [
                    {"claim_id": "r1-c1", "verification": "direct_evidence", "is_critical": True, "detail": "d"},
                    {"claim_id": "r1-c2", "verification": "no_evidence", "is_critical": False, "detail": "d"},
                ],
                "question_answered": True,
                "rationale": "r",
            }
        }
    )
    model = scripted(*turns)
    await ask(request(), world(sqlite_database, model).place)
    [composer] = of(model.asked, "composer")
    assert isinstance(composer.payload, ComposerInput)
    assert [allowed.claim.claim_id for allowed in composer.payload.allowed_claims] == ["r1-c1"]
    seen = words(composer)
    assert "from 30 to 5" not in seen
    assert "2026-11-30 08:43:12 ERROR" not in seen
    assert "never shown" not in seen


async def test_without_a_selected_skill_read_skill_is_not_offered(sqlite_database: Database) -> None:
    turns = good_run()
    assert isinstance(turns[0].reply, dict)
    turns[0] = turns[0].model_copy(update={"reply": turns[0].reply | {"selected_skill": None}})
    model = scripted(*turns)
    await ask(request(), world(sqlite_database, model).place)
    assert "read_skill" not in {tool.name for tool in of(model.asked, "executor")[0].tools}


async def test_a_skill_that_was_not_selected_is_refused(sqlite_database: Database) -> None:
    turns = good_run()
    turns.insert(1, Turn(role="executor", tool_calls=(ScriptedCall(name="read_skill", arguments={"name": "disk-full"}),)))
    model: Scripted = scripted(*turns)
    outcome = await ask(request(), world(sqlite_database, model).place)
    first = TraceStore(sqlite_database).invocations(outcome.run_id)[0]
    assert not first.success
    assert "SECRET BODY TWO" not in json.dumps(first.payload)
    assert "was not selected" in of(model.asked, "executor")[1].messages[-1].content


async def test_secrets_in_the_question_are_masked_before_anything_is_stored(sqlite_database: Database) -> None:
    model = scripted(*good_run())
    asked_for = request("Why does password=hunter2hunter2 fail for checkout?")
    outcome = await ask(asked_for, world(sqlite_database, model).place)
    run = TraceStore(sqlite_database).run(outcome.run_id)
    assert "hunter2" not in run.query + run.state + "".join(words(one) for one in model.asked)
    assert "[REDACTED:" in run.query


async def test_the_fixed_part_of_a_prompt_is_the_same_in_every_run(sqlite_database: Database) -> None:
    first, second = scripted(*good_run()), scripted(*good_run())
    await ask(request(), world(sqlite_database, first).place)
    await ask(request("为什么结算慢？", "zh"), world(sqlite_database, second, prefix="other").place)
    for role in ("planner", "executor", "verifier", "composer"):
        assert of(first.asked, role)[0].messages[0] == of(second.asked, role)[0].messages[0]


async def test_history_stands_after_the_fixed_part(asked: list[ModelRequest]) -> None:
    for role in ("planner", "executor"):
        system, user = of(asked, role)[0].messages[:2]
        assert "it began after lunch" not in system.content
        assert "it began after lunch" in user.content
    assert "it began after lunch" not in words(of(asked, "verifier")[0])
