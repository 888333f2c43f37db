"""One door to models: recording, one repair turn, caps, time-outs."""

import asyncio
import json
from dataclasses import replace

from small_incident import ROOT, good_run, plan, request, scripted, world

from agents.ledger import RunLimits
from agents.llm.base import ModelReply, ModelRequest
from agents.llm.scripted import Scripted, Turn
from bot.jobs import ask
from storage.engine import Database
from storage.trace import Step, TraceStore

PROSE = Turn(role="planner", reply="Let me think about the logs first.", thought="hm")


async def steps(db: Database, model: Scripted, **rest: object) -> list[Step]:
    outcome = await ask(request(), world(db, model, **rest).place)  # type: ignore[arg-type]
    return TraceStore(db).steps(outcome.run_id)


async def test_a_broken_answer_gets_one_repair_turn_with_the_errors(sqlite_database: Database) -> None:
    model = scripted(PROSE, *good_run())
    recorded = await steps(sqlite_database, model)
    repair = model.asked[1].messages
    assert [message.role for message in repair] == ["system", "user", "assistant", "user"]
    assert repair[2].content == "Let me think about the logs first."
    assert "There is no JSON object" in repair[3].content
    assert [(step.ok, step.agent_name) for step in recorded[:2]] == [(False, "planner"), (True, "planner")]
    assert recorded[0].error is not None
    assert recorded[0].error.startswith("ContractBroken")


async def test_after_one_repair_the_node_is_tried_again_from_the_start(sqlite_database: Database) -> None:
    model = scripted(PROSE, PROSE, *good_run())
    await steps(sqlite_database, model)
    assert len(model.asked[2].messages) == 2


async def test_a_step_keeps_a_summary_for_people_and_the_whole_for_replay(sqlite_database: Database) -> None:
    model = scripted(plan(), *good_run()[1:])
    first, second, third, *_ = await steps(sqlite_database, model)
    assert first.model_input
    assert json.loads(first.reply_whole)["text"] == first.model_output
    assert (first.prompt_tokens, first.completion_tokens, first.cost) == (100, 20, None)
    assert second.has_tool_call
    assert "query_logs" in second.model_output
    whole = json.loads(third.request_whole)
    assert [message["role"] for message in whole["messages"]] == ["assistant", "tool", "tool", "tool"]


async def test_requests_are_stored_in_a_size_that_grows_with_the_turns(sqlite_database: Database) -> None:
    from small_incident import looks

    many = [looks(("query_logs", name)) for name in "abcdefgh"]
    recorded = await steps(sqlite_database, scripted(plan(), *many, *good_run()[2:]), limits=RunLimits(poll_seconds=0.01))
    sizes = [len(step.request_whole) for step in recorded if step.agent_name == "executor"][1:9]
    assert max(sizes) < 2 * min(sizes)


async def test_a_hanging_model_is_cut_at_its_own_time_and_retried(sqlite_database: Database) -> None:
    class Hangs(Scripted):
        async def complete(self, asked: ModelRequest) -> ModelReply:
            if not self.asked:
                self.asked.append(asked)
                await asyncio.Event().wait()
            return await super().complete(asked)

    model = Hangs(good_run())
    recorded = await steps(sqlite_database, model, limits=RunLimits(poll_seconds=0.01, model_seconds=0.05))
    assert recorded[0].error is not None
    assert "gave no answer within" in recorded[0].error
    assert recorded[1].ok


async def test_the_cost_is_summed_where_prices_are_known(sqlite_database: Database) -> None:
    turns = [turn.model_copy(update={"cost": 0.5}) for turn in good_run()]
    outcome = await ask(request(), world(sqlite_database, scripted(*turns)).place)
    assert outcome.usage.cost == 2.5


async def test_tool_calls_where_no_tool_is_offered_are_out_of_contract(sqlite_database: Database) -> None:
    from small_incident import looks

    stray = looks(("query_logs", "a")).model_copy(update={"role": "planner"})
    model = scripted(stray, *good_run())
    recorded = await steps(sqlite_database, model)
    assert recorded[0].error is not None
    assert "No tool is offered" in recorded[0].error


async def test_half_a_surrogate_in_an_answer_can_be_stored(sqlite_database: Database) -> None:
    turns = good_run()
    odd = turns[0].model_copy(update={"reply": "\ud800 " + json.dumps(turns[0].reply).replace("slow", "slow \\ud800")})
    recorded = await steps(sqlite_database, scripted(odd, *turns[1:]))
    assert recorded[0].ok


def test_the_notes_hold_their_values(sqlite_database: Database) -> None:
    prompts = replace(world(sqlite_database, scripted()).place).prompts
    assert "E1-E3" in prompts.note("call_deduped", tool="query_logs", handles="E1-E3")
    assert ROOT.is_dir()
