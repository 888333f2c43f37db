"""What a report takes from the record beside its claims: past cases as leads, and no more of them than help."""

from pydantic import BaseModel, ConfigDict
from small_alert import alert_draft, alert_plan, alert_request
from small_incident import CAUSE, CHANGE, claim, scripted, specs, world

from agents.contracts import RunOutcome
from agents.llm.scripted import ScriptedCall, Turn
from bot.jobs import ask
from storage.engine import Database
from tools.contracts import CallContext, EvidenceRef, EvidenceStatus, ToolDeps, ToolResult, ToolSpec

PAST = "Root cause: maximum-pool-size was set to 5\nSolution: set it back to 30"
RUNBOOK = "HikariPool-1 is not available: look at maximum-pool-size"


class LookupInput(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str


def lookup(*blocks: tuple[str, str, str]) -> ToolSpec:
    """(domain, document, text) of each block."""

    async def run(_: LookupInput, __: ToolDeps, ___: CallContext) -> ToolResult:
        refs = tuple(
            EvidenceRef(
                raw_path=f"$.evidence_blocks[{index}]",
                text=text,
                scope={"domain": domain, "document": document, "title": f"title of {document}", "source": "knowledge"},
            )
            for index, (domain, document, text) in enumerate(blocks)
        )
        payload = {"evidence_blocks": [text for _, _, text in blocks]}
        return ToolResult(payload=payload, evidence_status=EvidenceStatus.SUPPORTED, evidence_refs=refs)

    return ToolSpec("lookup_knowledge", "Runbooks and cases", LookupInput, run, "indirect")


async def triaged(db: Database, spec: ToolSpec, *claims: dict[str, object], rounds: int = 1) -> RunOutcome:
    calls = [("query_logs", {"service": "order-service"}), ("query_metrics", {"service": "order-service"})]
    calls += [("query_changes", {"service": "order-service"}), ("lookup_knowledge", {"query": "pool"})]
    looks = Turn(role="aiops_executor", tool_calls=tuple(ScriptedCall(name=name, arguments=given) for name, given in calls))
    turns = [alert_plan(), looks, alert_draft(*claims)] * rounds
    return await ask(alert_request(), world(db, scripted(*turns), tools=(*specs(), spec)).place)


async def test_past_cases_are_named_once_each_as_leads(sqlite_database: Database) -> None:
    cases = [("cases", f"case c-{number}", PAST) for number in (1, 1, 2, 3, 4)]
    outcome = await triaged(sqlite_database, lookup(("runbooks", "pool.md", RUNBOOK), *cases), CAUSE, CHANGE)
    assert outcome.report is not None
    assert [one.case_id for one in outcome.report.similar_cases] == ["c-1", "c-2", "c-3"]
    assert outcome.report.similar_cases[0].detail == "Root cause: maximum-pool-size was set to 5 Solution: set it back to 30"
    assert "Similar cases (leads, not evidence):\n- title of case c-1 (c-1)" in outcome.answer


async def test_a_past_case_is_no_evidence_of_todays_cause(sqlite_database: Database) -> None:
    recalled = claim(
        1, "root_cause", "maximum-pool-size was set to 5", ("E4", "Root cause: maximum-pool-size was set to 5"),
        ("E1", "HikariPool-1 Connection is not available, request timed out after 30000ms"),
    )  # fmt: skip
    outcome = await triaged(sqlite_database, lookup(("cases", "case c-1", PAST)), recalled, rounds=2)
    assert outcome.report is not None
    assert outcome.report.probable_cause == ()
    assert not outcome.report.evaluation.cause_verified
