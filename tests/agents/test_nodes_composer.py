"""The composer: what it says is guarded, what it forgets is added, and without claims code writes the answer."""

from small_incident import (
    CAUSE,
    CHANGE,
    GOOD_VOTES,
    LOOK_UPS,
    composed,
    draft,
    good_run,
    plan,
    request,
    scripted,
    votes,
    world,
)

from agents.contracts import RunOutcome
from agents.llm.scripted import Turn
from bot.jobs import ask
from storage.engine import Database

LEAD = "HikariPool-1 of order-service has no connection available [1]"


async def answered(db: Database, *last: Turn, language: str = "en") -> RunOutcome:
    turns = [plan(), LOOK_UPS, draft(CAUSE, CHANGE), *last]
    return await ask(request(language=language), world(db, scripted(*turns)).place)


async def test_used_claims_are_read_from_the_marks(sqlite_database: Database) -> None:
    outcome = await answered(sqlite_database, GOOD_VOTES, composed(LEAD, "HikariPool-1 Connection is not available [1]"))
    stored = outcome.sections
    assert stored.lead == LEAD
    assert [a.claim.claim_id for a in outcome.claims] == ["r1-c1", "r1-c2"]
    assert "[2]" not in outcome.answer


async def test_under_a_fixed_lead_every_allowed_claim_is_listed(sqlite_database: Database) -> None:
    low = votes(("r1-c1", "direct_evidence"), ("r1-c2", "direct_evidence"), answered=False)
    outcome = await answered(sqlite_database, low, composed(LEAD, "HikariPool-1 Connection is not available [1]"))
    assert outcome.verdict == "LOW_CONFID"
    assert "- order-service maximum-pool-size changed from 30 to 5 [2]" in outcome.answer
    assert outcome.sections.lead.startswith("These conclusions rest on")


async def test_a_lead_that_invents_rebuilds_the_answer_from_the_claims(sqlite_database: Database) -> None:
    outcome = await answered(sqlite_database, GOOD_VOTES, composed("db-17 died at 03:12 with 99 errors.", LEAD))
    assert outcome.answer.startswith("order-service ran out of connections: HikariPool-1")
    assert "db-17" not in outcome.answer


async def test_a_mark_that_no_claim_has_is_cut(sqlite_database: Database) -> None:
    outcome = await answered(sqlite_database, GOOD_VOTES, composed(LEAD, "HikariPool-1 [1]", "maximum-pool-size [2]", "It is known [7]"))
    assert "[7]" not in outcome.answer


async def test_causes_come_first_whatever_order_the_executor_chose(sqlite_database: Database) -> None:
    turns = good_run()
    turns[2] = draft({**CHANGE, "claim_id": "c1"}, {**CAUSE, "claim_id": "c2"})
    outcome = await ask(request(), world(sqlite_database, scripted(*turns)).place)
    assert [(a.number, a.claim.claim_type) for a in outcome.claims] == [(1, "root_cause"), (2, "change")]


async def test_without_an_allowed_claim_no_model_is_asked_to_word_anything(sqlite_database: Database) -> None:
    nothing = votes(("r1-c1", "contradicted"), ("r1-c2", "no_evidence"))
    model = scripted(plan(), LOOK_UPS, draft(CAUSE, CHANGE), nothing)
    outcome = await ask(request(language="zh"), world(sqlite_database, model).place)
    assert (outcome.verdict, outcome.status) == ("REJECT", "SUCCESS")
    assert all(asked.role != "composer" for asked in model.asked)
    assert outcome.answer.startswith("当前无法基于已获取证据生成可靠结论。")
    assert "有 2 条陈述的引文属实" in outcome.answer


async def test_a_tool_that_never_answered_is_named_with_what_to_do(sqlite_database: Database) -> None:
    turns = good_run()
    turns.insert(2, LOOK_UPS.model_copy(update={"tool_calls": (LOOK_UPS.tool_calls[0].model_copy(update={"name": "broken_metrics"}),)}))
    outcome = await ask(request(), world(sqlite_database, scripted(*turns)).place)
    assert "The tool broken_metrics gave no answer: the metrics server answered 503" in outcome.answer
    assert "Restore broken_metrics and ask again." in outcome.answer


async def test_a_call_that_was_never_made_is_not_blamed_on_a_tool(sqlite_database: Database) -> None:
    turns = [plan(), LOOK_UPS, draft(CAUSE, CHANGE), GOOD_VOTES, composed(LEAD)]
    made_up = LOOK_UPS.tool_calls[0].model_copy(update={"name": "rm_rf"})
    turns.insert(2, LOOK_UPS.model_copy(update={"tool_calls": (made_up,)}))
    outcome = await ask(request(), world(sqlite_database, scripted(*turns)).place)
    assert "rm_rf" not in outcome.answer
