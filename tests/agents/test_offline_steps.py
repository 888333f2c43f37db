from offline_world import BUILTIN, NOW, Answers, executor_request

from agents.llm.base import ToolCall
from agents.offline.executor import turn
from agents.offline.skill_steps import filled, steps_of
from agents.offline.steps import MAX_CALLS

POOL = "order-service ERROR 50 0 08:43 ORD-5031 no connection from the pool"
CALLER = "checkout-service ERROR 50 0 08:43 CHK-5042 call to order-service failed"
PLAYBOOK = """# Disk full

## Evidence steps

1. `query_logs(text="No space left on device", compare=true)` over all services.
2. `query_metrics(mode="range", match="disk {service}")` with a baseline.

## Reading

1. `query_changes()` is no step of this section.
"""


def asked(question: str, answers: Answers, skill: str | None = None) -> list[ToolCall]:
    reply = turn(executor_request(question, BUILTIN, answers, skill=skill))
    assert isinstance(reply, tuple)
    return list(reply)


def test_alerts_and_the_selected_skill_are_read_first() -> None:
    made = [(call.name, call.arguments) for call in asked("Why is checkout slow?", Answers(), "disk-full")]
    assert made == [("read_skill", {"name": "disk-full"}), ("query_metrics", {"mode": "alerts"})]


def test_a_named_record_is_read_at_once() -> None:
    made = asked("Why did order SO-20261130-4380 fail?", Answers())
    assert ("query_order", {"order": "SO-20261130-4380"}) in [(call.name, call.arguments) for call in made]


def test_logs_of_all_services_and_changes_follow_the_alerts() -> None:
    answers = Answers().nothing("query_metrics", {"mode": "alerts"})
    made = asked("Why is checkout slow since 08:30?", answers)
    assert [call.name for call in made] == ["query_logs", "query_logs", "query_changes"]
    assert made[0].arguments is not None
    assert made[0].arguments["since"] == "2026-11-30T08:30:00Z"
    assert "service" not in made[0].arguments


def test_the_callee_that_lines_name_and_the_codes_are_looked_up_next() -> None:
    answers = Answers().nothing("query_metrics", {"mode": "alerts"})
    for call in asked("Why is checkout slow?", answers):
        if call.name == "query_logs":
            answers.logs(POOL, CALLER, **{**(call.arguments or {})})
        else:
            answers.nothing(call.name, call.arguments or {})
    made = [(call.name, call.arguments or {}) for call in asked("Why is checkout slow?", answers)]
    assert [arguments["match"] for name, arguments in made if name == "query_metrics"] == ["order-service", "checkout-service"]
    assert [arguments["query"] for name, arguments in made if name == "lookup_knowledge"] == ["ORD-5031 CHK-5042"]


def test_arguments_are_cut_to_the_fields_that_a_tool_has() -> None:
    answers = Answers().nothing("query_metrics", {"mode": "alerts"})
    known = {name for one in BUILTIN for name in one.parameters["properties"]}
    for call in asked("Why is checkout slow?", answers):
        assert set(call.arguments or {}) <= known


def test_the_look_ups_end_within_their_share_whatever_comes_back() -> None:
    answers = Answers()
    for _ in range(40):
        reply = turn(executor_request("What is wrong since 09:05?", BUILTIN, answers))
        if not isinstance(reply, tuple):
            break
        for call in reply:
            answers.logs(POOL, CALLER, **(call.arguments or {})) if call.name == "query_logs" else answers.nothing(
                call.name, call.arguments or {}
            )
    assert not isinstance(turn(executor_request("What is wrong since 09:05?", BUILTIN, answers)), tuple)
    assert len(answers.exchanges) <= MAX_CALLS


def test_the_same_request_gives_the_same_reply() -> None:
    answers = Answers().nothing("query_metrics", {"mode": "alerts"}).logs(POOL, CALLER, compare=True)
    assert turn(executor_request("Why is checkout slow?", BUILTIN, answers)) == turn(
        executor_request("Why is checkout slow?", BUILTIN, answers)
    )


def test_a_playbooks_steps_are_those_of_its_section() -> None:
    assert steps_of(PLAYBOOK) == [
        ("query_logs", {"text": "No space left on device", "compare": True}),
        ("query_metrics", {"mode": "range", "match": "disk {service}"}),
    ]
    assert steps_of("# No section") == []


def test_a_step_whose_place_is_not_known_is_not_filled() -> None:
    assert filled({"match": "disk {service}"}, {"service": ""}) is None
    assert filled({"match": "disk {service}"}, {"service": "web"}) == {"match": "disk web"}


def test_a_playbooks_own_search_is_made() -> None:
    answers = Answers().found("read_skill", {"name": "disk-full"}, [], body=PLAYBOOK)
    answers.nothing("query_metrics", {"mode": "alerts"})
    texts: list[str] = []
    while isinstance(reply := turn(executor_request("Why is checkout slow?", BUILTIN, answers, skill="disk-full")), tuple):
        for call in reply:
            texts.append(str((call.arguments or {}).get("text", "")))
            answers.nothing(call.name, call.arguments or {})
    assert "No space left on device" in texts


def test_now_bounds_every_window() -> None:
    answers = Answers().nothing("query_metrics", {"mode": "alerts"})
    for call in asked("Why is checkout slow?", answers):
        assert str((call.arguments or {}).get("since", "")) < NOW.strftime("%Y-%m-%dT%H:%M:%SZ")
