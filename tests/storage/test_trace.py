"""A run, its steps and its calls come back as they were written, and only their owner writes them."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import timedelta

import pytest
from trace_rows import ANSWER, CALL, END, RUN, STEP, claimed, queued

from storage.engine import Database
from storage.errors import LeaseLost, RunNotFound, StorageConflict
from storage.trace import Lease, TraceStore

WIDE = "支付超时 😀 𠮷野家 é \\ \" ' \x00 %s :name ?"


def test_every_field_of_a_step_comes_back(database: Database) -> None:
    store = queued(database)
    added = store.add_step(claimed(store), STEP)
    assert store.steps("run-1") == [added]
    assert {name: value for name, value in asdict(added).items() if name in asdict(STEP)} == asdict(STEP)
    assert (added.run_id, added.step_index, added.token_count) == ("run-1", 1, 120)


def test_steps_count_up_over_attempts(database: Database) -> None:
    store = queued(database)
    store.add_step(claimed(store, lease_seconds=-1), STEP)
    store.add_step(claimed(store), replace(STEP, ok=False, error="timed out", cost=None))
    assert [(step.step_index, step.ok, step.cost) for step in store.steps("run-1")] == [(1, True, 0.25), (2, False, None)]


def test_every_field_of_a_call_comes_back(database: Database) -> None:
    store = queued(database)
    lease = claimed(store)
    step = store.add_step(lease, STEP)
    call_id = store.start_invocation(lease, replace(CALL, step_id=step.id))
    store.finish_invocation(lease, call_id, ANSWER)
    [stored] = store.invocations("run-1")
    assert asdict(stored) == {
        **asdict(CALL), **asdict(ANSWER), "step_id": step.id, "id": call_id, "run_id": "run-1", "finished": True
    }  # fmt: skip


def test_a_call_is_on_record_before_it_answers(database: Database) -> None:
    store = queued(database)
    store.start_invocation(claimed(store), CALL)
    [stored] = store.invocations("run-1")
    assert (stored.finished, stored.success, stored.payload) == (False, False, {})


def test_calls_come_back_in_the_order_of_round_and_sequence(database: Database) -> None:
    store = queued(database)
    lease = claimed(store)
    for place in [(2, 1), (1, 2), (1, 1)]:
        store.start_invocation(lease, replace(CALL, round=place[0], sequence=place[1]))
    assert [(call.round, call.sequence) for call in store.invocations("run-1")] == [(1, 1), (1, 2), (2, 1)]


def test_a_call_that_died_unanswered_keeps_its_row(database: Database) -> None:
    store = queued(database)
    dead = claimed(store, lease_seconds=-1)
    first = store.start_invocation(dead, CALL)
    alive = claimed(store)
    assert store.start_invocation(alive, CALL) == first
    store.finish_invocation(alive, first, ANSWER)
    assert len(store.invocations("run-1")) == 1


def test_an_answered_call_is_made_no_second_time(database: Database) -> None:
    store = queued(database)
    lease = claimed(store)
    store.finish_invocation(lease, store.start_invocation(lease, CALL), ANSWER)
    with pytest.raises(StorageConflict, match="replay it"):
        store.start_invocation(lease, CALL)
    assert store.start_invocation(lease, replace(CALL, arguments_hash="b" * 64))


def test_an_answer_never_changes(database: Database) -> None:
    store = queued(database)
    lease = claimed(store)
    call_id = store.start_invocation(lease, CALL)
    store.finish_invocation(lease, call_id, ANSWER)
    with pytest.raises(StorageConflict):
        store.finish_invocation(lease, call_id, replace(ANSWER, output_preview="forged"))
    assert store.invocations("run-1")[0].output_preview == "preview"


def test_a_call_of_another_run_cannot_be_answered(database: Database) -> None:
    store, _ = queued(database), queued(database, "run-2")
    call_id = store.start_invocation(claimed(store), CALL)
    with pytest.raises(StorageConflict):
        store.finish_invocation(claimed(store, "run-2"), call_id, ANSWER)


def test_a_finished_run_has_its_totals_and_no_owner(database: Database) -> None:
    store = queued(database)
    store.finish_run(claimed(store), END)
    run = store.run("run-1")
    assert {name: getattr(run, name) for name in asdict(END)} == asdict(END)
    assert (run.lease_owner, run.lease_until, run.next_node, run.zone) == (None, None, None, RUN.zone)
    assert run.finished_at is not None
    assert run.finished_at.utcoffset() == timedelta(0)


def test_a_checkpoint_is_where_the_next_owner_starts(database: Database) -> None:
    store = queued(database)
    store.checkpoint(claimed(store), '{"v": 1, "x": "日"}', "GATEKEEPER", 30)
    run = store.run("run-1")
    assert (run.state, run.next_node) == ('{"v": 1, "x": "日"}', "GATEKEEPER")


WRITES: dict[str, Callable[[TraceStore, Lease, int], object]] = {
    "renew": lambda store, lease, _: store.renew(lease, 60),
    "checkpoint": lambda store, lease, _: store.checkpoint(lease, "{}", "VERIFIER", 60),
    "add_step": lambda store, lease, _: store.add_step(lease, STEP),
    "start_invocation": lambda store, lease, _: store.start_invocation(lease, replace(CALL, sequence=9)),
    "finish_invocation": lambda store, lease, call_id: store.finish_invocation(lease, call_id, ANSWER),
    "put_evaluation": lambda store, lease, _: store.put_evaluation("run-1", "rule_evaluation", {"score": 1}, lease),
    "finish_run": lambda store, lease, _: store.finish_run(lease, END),
}


@pytest.mark.parametrize("write", WRITES)
def test_whoever_lost_the_lease_writes_nothing(database: Database, write: str) -> None:
    store = queued(database)
    old = claimed(store, lease_seconds=-1)
    call_id = store.start_invocation(old, CALL)
    claimed(store, owner="another")
    before = (store.run("run-1"), store.steps("run-1"), store.invocations("run-1"))
    with pytest.raises(LeaseLost):
        WRITES[write](store, old, call_id)
    assert (store.run("run-1"), store.steps("run-1"), store.invocations("run-1")) == before


@pytest.mark.parametrize("write", sorted(WRITES.keys() - {"put_evaluation"}))
def test_a_run_that_ended_takes_no_more_writes(database: Database, write: str) -> None:
    store = queued(database)
    lease = claimed(store)
    call_id = store.start_invocation(lease, CALL)
    store.finish_run(lease, END)
    with pytest.raises(LeaseLost):
        WRITES[write](store, lease, call_id)


def test_text_of_every_kind_comes_back_as_it_was(database: Database) -> None:
    store = queued(database, query=WIDE)
    lease = claimed(store)
    long = "𠮷😀" * 150_000
    store.add_step(lease, replace(STEP, reply_whole=long, thought=WIDE))
    call_id = store.start_invocation(lease, replace(CALL, input_params={"text": WIDE, "none": None, "b": 1, "a": 1.5}))
    store.finish_invocation(lease, call_id, replace(ANSWER, payload={"logs": [long, WIDE]}, output_preview=WIDE))
    [step], [call] = store.steps("run-1"), store.invocations("run-1")
    assert (step.reply_whole, step.thought, store.run("run-1").query) == (long, WIDE, WIDE)
    assert (call.payload, call.output_preview) == ({"logs": [long, WIDE]}, WIDE)
    assert json.dumps(call.input_params) == json.dumps({"text": WIDE, "none": None, "b": 1, "a": 1.5})


def test_a_lone_surrogate_is_replaced_in_text_and_kept_in_json(database: Database) -> None:
    store = queued(database)
    lease = claimed(store)
    store.add_step(lease, replace(STEP, thought="broken \ud83d here"))
    store.start_invocation(lease, replace(CALL, input_params={"text": "broken \ud83d here"}, tool_name="\ud83d" * 500))
    store.put_evaluation("run-1", "rule_evaluation", {"text": "broken \ud83d here"})
    assert store.run("run-1").self_evaluation == {"rule_evaluation": {"text": "broken \ufffd here"}}
    assert store.steps("run-1")[0].thought == "broken \ufffd here"
    assert store.invocations("run-1")[0].input_params == {"text": "broken \ud83d here"}


def test_runs_are_listed_newest_first(database: Database) -> None:
    for number in range(3):
        store = queued(database, f"run-{number}")
    assert [run.run_id for run in store.recent_runs(2)] == ["run-2", "run-1"]


def test_an_unknown_run_is_named(database: Database) -> None:
    store = TraceStore(database)
    for ask in (store.run, store.request_cancel, lambda name: store.put_evaluation(name, "rule_evaluation", {})):
        with pytest.raises(RunNotFound, match="nobody"):
            ask("nobody")


def test_a_run_needs_its_session_and_an_id_of_its_own(database: Database) -> None:
    store = queued(database)
    with pytest.raises(StorageConflict):
        store.create_run(RUN)
    with pytest.raises(StorageConflict):
        store.create_run(replace(RUN, run_id="run-2", session_id="nowhere"))


# ---------------------------------------------------------------- self_evaluation


def test_an_evaluation_keeps_its_nulls_lists_and_types(database: Database) -> None:
    store = queued(database)
    value = {"score": 0.1 + 0.2, "none": None, "list": [], "deep": [{"x": None, "t": True}], "text": WIDE, "n": 2**53}
    store.put_evaluation("run-1", "rule_evaluation", {"old": 1})
    store.put_evaluation("run-1", "rule_evaluation", value)
    assert store.run("run-1").self_evaluation == {"rule_evaluation": value}


def test_writers_of_different_keys_lose_nothing(database: Database) -> None:
    store = queued(database)

    def write(writer: int) -> None:
        for number in range(10):
            store.put_evaluation("run-1", f"key_{writer}_{number}", {"writer": writer, "none": None})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    kept = store.run("run-1").self_evaluation or {}
    assert len(kept) == 80
    assert kept["key_7_9"] == {"writer": 7, "none": None}


@pytest.mark.parametrize(("key", "value"), [("a.b", {}), ("$", {}), ("", {}), ("nan", {"x": float("nan")})])
def test_what_json_cannot_hold_is_refused(database: Database, key: str, value: dict) -> None:
    store = queued(database)
    with pytest.raises(ValueError):  # noqa: PT011 - the message is json's or ours
        store.put_evaluation("run-1", key, value)


def test_a_value_too_deep_for_a_database_is_refused_before_it_wipes_the_rest(database: Database) -> None:
    store = queued(database)
    deep: dict = {}
    for _ in range(28):
        deep = {"x": deep}
    with pytest.raises(ValueError, match="nested deeper"):
        store.put_evaluation("run-1", "rule_evaluation", deep)
    store.put_evaluation("run-1", "rule_evaluation", deep["x"])
    assert store.run("run-1").self_evaluation == {"rule_evaluation": deep["x"]}
