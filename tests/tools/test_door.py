"""The one door to tools, on a real store."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tool_door import Ask, DoorOfRun, answering, found, tool

from storage.errors import LeaseLost, StorageUnavailable
from tools.caps import ToolLimits
from tools.contracts import EvidenceRef, EvidenceStatus, ToolResult, nothing_found
from tools.errors import ToolBudgetSpent, ToolFailed
from tools.invoke import CallKey

FIRST = CallKey("executor", 1, 1)


async def test_an_answer_is_returned_and_stored_with_its_refs(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("status=504 count=19", "status=200 count=3")])
    invocation = await run_door.call(door, "query_test", text="504")
    row = run_door.rows()[0]
    assert invocation.evidence_status is EvidenceStatus.SUPPORTED
    assert [ref.text for ref in invocation.refs] == ["status=504 count=19", "status=200 count=3"]
    assert (row.id, row.finished, row.success, row.tool_name) == (invocation.id, True, True, "query_test")
    assert row.input_params == {"text": "504"}
    assert row.retrieval_details["evidence_status"] == "supported"
    assert row.retrieval_details["evidence_refs"][1] == {
        "raw_path": "$.lines[1]",
        "text": "status=200 count=3",
        "scope": {},
    }
    assert row.payload == {"lines": ["status=504 count=19", "status=200 count=3"]}
    assert row.output_preview == "status=504 count=19\nstatus=200 count=3"
    assert row.output_length == len('{"lines":["status=504 count=19","status=200 count=3"]}')


async def test_a_call_is_recorded_before_it_runs(run_door: DoorOfRun) -> None:
    seen: list[tuple[str, bool]] = []

    async def looks(_: Ask) -> ToolResult:
        seen.extend((row.tool_name, row.finished) for row in run_door.rows())
        return found("x")

    await run_door.call(run_door.open([tool(looks)]), "query_test")
    assert seen == [("query_test", False)]


async def test_retrieval_columns_are_filled_from_the_details(run_door: DoorOfRun) -> None:
    details = {"retrieval_layer": "L0", "l0_match_count": 2, "l1_match_count": 5, "relevance_level": "high", "x": 1}

    async def run(_: Ask) -> ToolResult:
        return found("a chunk", retrieval_details=details)

    invocation = await run_door.call(run_door.open([tool(run)]), "query_test")
    row = run_door.rows()[0]
    assert (row.retrieval_layer, row.l0_match_count, row.l1_match_count, row.relevance_level) == ("L0", 2, 5, "high")
    assert invocation.details["x"] == row.retrieval_details["x"] == 1


@pytest.mark.parametrize(
    ("sent", "raw", "told"),
    [
        ({"servce": "a"}, "", ["unknown field 'servce'", "Fields: text, minutes, since"]),
        ({"txet": "a"}, "", ["unknown field 'txet', did you mean 'text'?"]),
        ({"minutes": "many"}, "", ["field 'minutes'", "valid integer", "got 'many'"]),
        (None, '{"text": "a"', ["not readable JSON", "Fields: text"]),
        (None, "[1]", ["must be one JSON object, not list"]),
        (None, "", ["must be one JSON object, not nothing"]),
    ],
)
async def test_bad_arguments_are_a_recorded_failure_that_says_what_to_fix(
    run_door: DoorOfRun, sent: dict[str, Any] | None, raw: str, told: list[str]
) -> None:
    ran: list[Ask] = []

    async def run(arguments: Ask) -> ToolResult:
        ran.append(arguments)
        return found("x")

    door = run_door.open([tool(run)])
    invocation = await door.call(FIRST, "query_test", sent, raw_arguments=raw)
    row = run_door.rows()[0]
    assert ran == []
    assert invocation.evidence_status is EvidenceStatus.FAILED
    assert invocation.error is not None
    assert all(part in invocation.error for part in told), invocation.error
    assert (row.finished, row.success, row.error_message) == (True, False, invocation.error)


async def test_an_unknown_tool_is_told_which_tools_there_are(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("x"), answering("y", name="query_hidden", unavailable=lambda _: "not configured")])
    invocation = await run_door.call(door, "query_lgos")
    assert invocation.error is not None
    assert "query_lgos" in invocation.error
    assert "Tools: query_test" in invocation.error
    assert "query_hidden" not in invocation.error
    assert run_door.rows()[0].tool_name == "query_lgos"


async def test_an_unavailable_tool_says_why(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("y", unavailable=lambda _: "set prometheus_url")])
    assert "set prometheus_url" in str((await run_door.call(door, "query_test")).error)


async def test_a_slow_tool_is_cancelled_and_recorded(run_door: DoorOfRun) -> None:
    ended: list[str] = []

    async def hangs(_: Ask) -> ToolResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        raise AssertionError

    door = run_door.open([tool(hangs, timeout_seconds=0.01)])
    invocation = await run_door.call(door, "query_test")
    assert ended == ["cancelled"]
    assert "timed out after 0.01 s" in str(invocation.error)
    assert run_door.rows()[0].error_message == invocation.error


async def test_a_time_limit_of_the_run_beats_that_of_the_tool(run_door: DoorOfRun) -> None:
    async def hangs(_: Ask) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    door = run_door.open([tool(hangs, timeout_seconds=900)], limits=ToolLimits(max_timeout_seconds=0.01))
    assert "timed out after 0.01 s" in str((await run_door.call(door, "query_test")).error)


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ToolFailed("Prometheus is away: go on without"), "Prometheus is away: go on without"),
        (StorageUnavailable("The database is away."), "query_test failed: The database is away."),
        (KeyError("x"), "query_test failed unexpectedly (KeyError); try another tool"),
        (TimeoutError(), "query_test failed unexpectedly (TimeoutError); try another tool"),
    ],
)
async def test_whatever_a_tool_raises_becomes_an_answer(run_door: DoorOfRun, raised: Exception, told: str) -> None:
    async def fails(_: Ask) -> ToolResult:
        raise raised

    invocation = await run_door.call(run_door.open([tool(fails)]), "query_test")
    assert invocation.error == told
    assert invocation.evidence_status is EvidenceStatus.FAILED
    assert invocation.refs == ()


async def test_an_unexpected_error_keeps_its_place_in_the_row_but_not_its_secret(run_door: DoorOfRun) -> None:
    async def fails(_: Ask) -> ToolResult:
        raise ValueError("cannot reach redis://:hunter2@cache:6379")

    invocation = await run_door.call(run_door.open([tool(fails)]), "query_test")
    kept = run_door.rows()[0].retrieval_details["exception"]
    assert "ValueError" in kept
    assert "in fails" in kept
    assert "hunter2" not in kept + str(invocation)


async def test_a_stopped_call_is_recorded_and_the_stop_goes_on(run_door: DoorOfRun) -> None:
    started = asyncio.Event()

    async def hangs(_: Ask) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    door = run_door.open([tool(hangs)])
    task = asyncio.create_task(door.call(FIRST, "query_test", {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    row = run_door.rows()[0]
    assert (row.finished, row.success) == (True, False)
    assert "was stopped" in str(row.error_message)


async def test_a_stopped_call_runs_again_when_the_run_is_resumed(run_door: DoorOfRun) -> None:
    started = asyncio.Event()

    async def hangs(_: Ask) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    task = asyncio.create_task(run_door.open([tool(hangs)]).call(FIRST, "query_test", {}))
    await started.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    again = await run_door.open([answering("answered")]).call(FIRST, "query_test", {})
    assert (again.replayed, again.error) == (False, None)
    replayed = await run_door.open([]).call(FIRST, "query_test", {})
    assert (replayed.replayed, replayed.refs) == (True, again.refs)
    assert [row.success for row in run_door.rows()] == [False, True]


async def test_the_budget_of_calls_ends_with_an_exception(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("x")], limits=ToolLimits(max_calls=2))
    await run_door.call(door, "query_test")
    await run_door.call(door, "no_such_tool")
    with pytest.raises(ToolBudgetSpent, match="all 2 tool calls"):
        await run_door.call(door, "query_test")
    assert len(run_door.rows()) == 2


async def test_the_budget_holds_over_attempts_and_replays_cost_nothing(run_door: DoorOfRun) -> None:
    limits = ToolLimits(max_calls=1)
    await run_door.open([answering("x")], limits=limits).call(FIRST, "query_test", {})
    door = run_door.open([answering("x")], limits=limits)
    assert (await door.call(FIRST, "query_test", {})).replayed
    with pytest.raises(ToolBudgetSpent):
        await door.call(CallKey("executor", 1, 2), "query_test", {"text": "other"})


async def test_a_write_without_the_lease_is_not_an_answer(run_door: DoorOfRun) -> None:
    run_door.lease = replace(run_door.lease, attempt=7)
    with pytest.raises(LeaseLost):
        await run_door.call(run_door.open([answering("x")]), "query_test")


async def test_tools_that_give_no_evidence_give_no_refs(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("a playbook step", evidence_level="none")])
    invocation = await run_door.call(door, "query_test")
    assert invocation.refs == ()
    assert invocation.payload == {"lines": ["a playbook step"]}


async def test_no_evidence_is_a_result(run_door: DoorOfRun) -> None:
    async def run(_: Ask) -> ToolResult:
        return nothing_found("No line matches 'x' from 08:00 to 09:00.", scope={"source": "logs"})

    invocation = await run_door.call(run_door.open([tool(run)]), "query_test")
    assert (invocation.evidence_status, invocation.error) == (EvidenceStatus.NO_EVIDENCE, None)
    assert [ref.raw_path for ref in invocation.refs] == ["$.no_evidence"]
    assert run_door.rows()[0].success


async def test_invocations_come_in_order_of_round_and_sequence(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("x")])
    for key in (CallKey("executor", 2, 1), CallKey("executor", 1, 2), CallKey("executor", 1, 1)):
        await door.call(key, "query_test", {"text": f"{key}"})
    assert [(done.key.round, done.key.sequence) for done in door.invocations()] == [(1, 1), (1, 2), (2, 1)]


# ---------------------------------------------------------------- duplicates and replays


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"text": "504"}, {"text": "504"}),
        ({"text": "504 gateway"}, {"text": "  504   gateway "}),
        ({}, {"text": "anything", "minutes": 60}),
        ({"minutes": 60}, {"minutes": "60"}),
        ({"since": "2026-11-30T08:43:10Z"}, {"since": "2026-11-30T08:43:50Z"}),
        ({"since": "2026-11-30T08:43:10Z"}, {"since": "2026-11-30 09:43"}),  # the asker is in Berlin
    ],
)
async def test_the_same_question_is_answered_from_the_earlier_call(
    run_door: DoorOfRun, first: dict[str, Any], second: dict[str, Any]
) -> None:
    door = run_door.open([answering("x")])
    earlier = await run_door.call(door, "query_test", **first)
    later = await run_door.call(door, "query_test", **second)
    assert later.evidence_status is EvidenceStatus.DEDUPED
    assert later.refs == earlier.refs
    assert later.details["deduped_of"] == earlier.id
    assert f"invocation {earlier.id}" in later.details["dedup_reason"]
    row = run_door.rows()[1]
    assert (row.finished, row.success, row.dedup_reason) == (True, True, later.details["dedup_reason"])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"text": "504"}, {"text": "505"}),
        ({"text": "Error"}, {"text": "error"}),
        ({"minutes": 60}, {"minutes": 61}),
        ({"since": "2026-11-30T08:43:10Z"}, {"since": "2026-11-30T08:44:10Z"}),
    ],
)
async def test_another_question_or_window_is_never_a_duplicate(
    run_door: DoorOfRun, first: dict[str, Any], second: dict[str, Any]
) -> None:
    door = run_door.open([answering("x")])
    await run_door.call(door, "query_test", **first)
    assert (await run_door.call(door, "query_test", **second)).evidence_status is EvidenceStatus.SUPPORTED


async def test_a_tool_may_say_itself_what_a_call_compiles_to(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("x", compiled=lambda arguments, _: arguments.text.lower())])
    await run_door.call(door, "query_test", text="Up", minutes=5)
    assert (await run_door.call(door, "query_test", text="up", minutes=9)).evidence_status is EvidenceStatus.DEDUPED


async def test_two_tools_with_the_same_arguments_are_two_questions(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("x"), answering("y", name="query_other")])
    await run_door.call(door, "query_test")
    assert (await run_door.call(door, "query_other")).evidence_status is EvidenceStatus.SUPPORTED


async def test_a_failed_call_may_be_made_again(run_door: DoorOfRun) -> None:
    answers = iter([ToolFailed("away"), None])

    async def recovers(_: Ask) -> ToolResult:
        error = next(answers)
        if error:
            raise error
        return found("x")

    door = run_door.open([tool(recovers)])
    assert (await run_door.call(door, "query_test")).error == "away"
    assert (await run_door.call(door, "query_test")).evidence_status is EvidenceStatus.SUPPORTED


async def test_two_equal_calls_at_once_run_once(run_door: DoorOfRun) -> None:
    runs: list[str] = []

    async def counts(arguments: Ask) -> ToolResult:
        runs.append(arguments.text)
        await asyncio.sleep(0)
        return found("x")

    door = run_door.open([tool(counts)])
    keys = [CallKey("executor", 1, number) for number in (1, 2, 3)]
    done = await asyncio.gather(*(door.call(key, "query_test", {}) for key in keys))
    assert runs == ["anything"]
    assert [one.evidence_status.value for one in done] == ["supported", "deduped", "deduped"]


async def test_a_resumed_run_replays_finished_calls_without_running_them(run_door: DoorOfRun) -> None:
    first = await run_door.open([answering("old answer")]).call(FIRST, "query_test", {"text": "504"})

    async def never(_: Ask) -> ToolResult:
        raise AssertionError("a replayed call ran")

    door = run_door.open([tool(never)])
    assert door.invocations() == (replace(first, replayed=True),)
    assert await door.call(FIRST, "query_test", {"text": "504"}) == replace(first, replayed=True)
    assert len(run_door.rows()) == 1


async def test_a_replayed_failure_stays_a_failure(run_door: DoorOfRun) -> None:
    async def fails(_: Ask) -> ToolResult:
        raise ToolFailed("422: bad query")

    first = await run_door.open([tool(fails)]).call(FIRST, "query_test", {})
    again = await run_door.open([answering("x")]).call(FIRST, "query_test", {})
    assert (again.error, again.evidence_status) == (first.error, EvidenceStatus.FAILED)


async def test_a_call_that_died_unanswered_runs_again_under_its_row(run_door: DoorOfRun) -> None:
    class Died(BaseException):
        """The process ends here: nothing below the border runs."""

    async def dies(_: Ask) -> ToolResult:
        raise Died

    with pytest.raises(Died):
        await run_door.open([tool(dies)]).call(FIRST, "query_test", {})
    assert [row.finished for row in run_door.rows()] == [False]
    again = await run_door.open([answering("x")]).call(FIRST, "query_test", {})
    assert again.replayed is False
    assert [(row.id, row.finished) for row in run_door.rows()] == [(again.id, True)]


async def test_other_arguments_at_the_same_place_are_no_replay(run_door: DoorOfRun) -> None:
    await run_door.open([answering("x")]).call(FIRST, "query_test", {"text": "504"})
    again = await run_door.open([answering("y")]).call(FIRST, "query_test", {"text": "505"})
    assert (again.replayed, again.refs[0].text) == (False, "y")


async def test_a_new_call_after_a_resume_is_deduped_against_the_old_ones(run_door: DoorOfRun) -> None:
    first = await run_door.open([answering("x")]).call(FIRST, "query_test", {"text": "504"})
    door = run_door.open([answering("y")])
    later = await door.call(CallKey("executor", 2, 1), "query_test", {"text": " 504"})
    assert (later.evidence_status, later.details["deduped_of"]) == (EvidenceStatus.DEDUPED, first.id)


# ---------------------------------------------------------------- caps


async def test_refs_over_the_count_are_dropped_whole_from_the_end(run_door: DoorOfRun) -> None:
    door = run_door.open([answering(*(f"line {n}" for n in range(9)))], limits=ToolLimits(max_refs=4))
    invocation = await run_door.call(door, "query_test")
    assert [ref.text for ref in invocation.refs] == ["line 0", "line 1", "line 2", "line 3"]
    assert invocation.truncated
    assert "5 of 9 results left out at the end" in invocation.details["truncation"]
    assert run_door.rows()[0].is_truncated


async def test_refs_over_the_bytes_are_dropped_whole_from_the_end(run_door: DoorOfRun) -> None:
    door = run_door.open([answering(*["错误" * 50] * 9)], limits=ToolLimits(max_output_bytes=1_000))
    invocation = await run_door.call(door, "query_test")
    assert {ref.text for ref in invocation.refs} == {"错误" * 50}
    assert len(invocation.refs) == 3
    assert len(invocation.payload["lines"]) <= 4


async def test_an_over_long_ref_is_cut_between_words_and_flagged(run_door: DoorOfRun) -> None:
    door = run_door.open([answering("alpha beta gamma delta " * 20)], limits=ToolLimits(max_ref_chars=42))
    ref = (await run_door.call(door, "query_test")).refs[0]
    assert ref.text == "alpha beta gamma delta alpha beta gamma"
    assert ref.scope["truncated"] == "yes"


async def test_a_huge_answer_costs_no_more_than_a_large_one(run_door: DoorOfRun) -> None:
    class Text(str):
        """A text that must not be read whole."""

        def encode(self, *_: Any, **__: Any) -> bytes:
            raise AssertionError("encoded whole")

    async def run(_: Ask) -> ToolResult:
        return ToolResult.model_construct(
            payload={"text": Text("a b " * 2_000_000), "rest": [1] * 1_000},
            evidence_status=EvidenceStatus.SUPPORTED,
            evidence_refs=(EvidenceRef(raw_path="$.text", text="a b " * 2_000_000),),
            retrieval_details={},
            truncated=False,
        )

    invocation = await run_door.call(run_door.open([tool(run)]), "query_test")
    assert len(invocation.payload["text"]) <= ToolLimits().max_output_bytes
    assert len(invocation.refs[0].text) <= ToolLimits().max_ref_chars
    assert run_door.rows()[0].output_length < 2 * ToolLimits().max_output_bytes


async def test_refs_survive_where_the_raw_output_is_cut(run_door: DoorOfRun) -> None:
    async def run(_: Ask) -> ToolResult:
        payload = {"pad": "x" * 900, "lines": ["first line", "last line"]}
        return found("first line", "last line").model_copy(update={"payload": payload})

    invocation = await run_door.call(run_door.open([tool(run)], limits=ToolLimits(max_output_bytes=600)), "query_test")
    assert [ref.text for ref in invocation.refs] == ["first line", "last line"]
    assert invocation.details["truncation"] == "the raw output was cut. Narrow the query to see the rest."
    assert len(repr(invocation.payload)) < 700


async def test_values_that_json_does_not_know_become_text(run_door: DoorOfRun) -> None:
    async def run(_: Ask) -> ToolResult:
        payload = {"nan": float("nan"), "inf": float("inf"), "bytes": b"x", "lone": "a\ud800b", "n": 1.5, "none": None}
        return ToolResult(payload=payload, evidence_status=EvidenceStatus.SUPPORTED)

    invocation = await run_door.call(run_door.open([tool(run)]), "query_test")
    assert invocation.payload == {"nan": "nan", "inf": "inf", "bytes": "b'x'", "lone": "a?b", "n": 1.5, "none": None}
    assert run_door.rows()[0].payload == invocation.payload


async def test_a_payload_nested_beyond_reason_is_cut(run_door: DoorOfRun) -> None:
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]

    async def run(_: Ask) -> ToolResult:
        return ToolResult.model_construct(
            payload={"deep": deep},
            evidence_status=EvidenceStatus.SUPPORTED,
            evidence_refs=(),
            retrieval_details={},
            truncated=False,
        )

    assert (await run_door.call(run_door.open([tool(run)]), "query_test")).truncated


# ---------------------------------------------------------------- redaction


async def test_no_secret_gets_past_the_door(run_door: DoorOfRun) -> None:
    secret = "hunter2-and-more"

    async def run(_: Ask) -> ToolResult:
        return ToolResult(
            payload={"line": f"password={secret}", "password": secret},
            evidence_status=EvidenceStatus.SUPPORTED,
            evidence_refs=(EvidenceRef(raw_path="$.line", text=f"password={secret}", scope={"url": f"http://u:{secret}@h"}),),
            retrieval_details={"asked": f"password={secret}"},
        )

    door = run_door.open([tool(run)])
    invocation = await run_door.call(door, "query_test", text=f"login with password={secret}")
    failed = await door.call(CallKey("executor", 3, 1), "query_test", None, raw_arguments=f'{{"password": "{secret}"')
    assert secret not in repr((invocation, failed, run_door.rows()))
    assert invocation.refs[0].text.startswith("password=[REDACTED:password:")


async def test_a_secret_in_an_error_does_not_get_past_the_door(run_door: DoorOfRun) -> None:
    async def run(_: Ask) -> ToolResult:
        raise ToolFailed("cannot log in to mysql://app:hunter2@db/orders")

    invocation = await run_door.call(run_door.open([tool(run)]), "query_test")
    assert "hunter2" not in repr((invocation, run_door.rows()))
    assert "@db/orders" in str(invocation.error)


async def test_the_tool_itself_gets_the_arguments_unmasked(run_door: DoorOfRun) -> None:
    got: list[str] = []

    async def run(arguments: Ask) -> ToolResult:
        got.append(arguments.text)
        return found("x")

    await run_door.call(run_door.open([tool(run)]), "query_test", text="token=abcdefgh12345678")
    assert got == ["token=abcdefgh12345678"]


async def test_a_key_over_many_lines_is_masked_in_refs_and_payload(run_door: DoorOfRun) -> None:
    lines = ["before", "-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA", "-----END RSA PRIVATE KEY-----", "after"]
    invocation = await run_door.call(run_door.open([answering(*lines)]), "query_test")
    assert "MIIEpAIBAAKCAQEA" not in repr(invocation)
    assert (invocation.refs[0].text, invocation.refs[4].text) == ("before", "after")
