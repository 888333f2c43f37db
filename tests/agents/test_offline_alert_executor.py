from offline_alerts import OF_POD, OFFERS, alert, plan, turn_request
from offline_world import BUILTIN, Answers, offer

from agents.contracts import AiopsDraft, AiopsPlan, SkillCard
from agents.llm.base import ModelSettings, ToolCall
from agents.llm.offline import build
from agents.offline.alert_executor import alert_turn

PAGE = offer("fetch_webpage", "url")
DESCRIBE = offer("describe", "kind", "name", "namespace")
LOGS = offer("fetch_logs", "pod_name", "namespace")
OOM = SkillCard(name="oom-and-restarts", description="Pods that restart, crash loop, OOMKilled, exit code 137, back-off")
LAG = SkillCard(name="queue-lag", description="Consumer lag, Kafka backlog, queues that grow")


def calls(reply: object) -> list[tuple[str, dict[str, object] | None]]:
    assert isinstance(reply, tuple)
    return [(call.name, call.arguments) for call in reply if isinstance(call, ToolCall)]


def test_active_alerts_and_the_runbook_of_the_alerts_name_come_first() -> None:
    made = calls(alert_turn(turn_request([OF_POD], BUILTIN, Answers())))
    assert made == [
        ("query_metrics", {"mode": "alerts"}),
        ("lookup_knowledge", {"query": "PodCrashLooping", "limit": 8}),
    ]


def test_then_logs_and_changes_in_the_alerts_window() -> None:
    fired = alert("CheckoutSlow", {"service": "checkout"}, starts_at="2026-11-30T08:50:00Z")
    answers = Answers().nothing("query_metrics", {"mode": "alerts"})
    answers.nothing("lookup_knowledge", {"query": "CheckoutSlow", "limit": 8})
    made = calls(alert_turn(turn_request([fired], BUILTIN, answers)))
    assert {arguments["since"] for name, arguments in made if name == "query_logs" and arguments} == {"2026-11-30T08:20:00Z"}
    assert any(name == "query_changes" for name, _ in made)


def test_series_are_asked_for_by_the_host_that_the_alert_names() -> None:
    fired = alert("InstanceDown", {"instance": "db-3:9100"}, starts_at="2026-11-30T08:50:00Z")
    answers, asked = Answers(), []
    for _ in range(6):
        reply = alert_turn(turn_request([fired], BUILTIN, answers))
        if isinstance(reply, AiopsDraft):
            break
        for name, arguments in calls(reply):
            asked.append((name, (arguments or {}).get("match")))
            answers.nothing(name, arguments or {})
    assert ("query_metrics", "db-3") in asked


def test_outside_tools_are_asked_about_the_pod_and_each_call_is_made_once() -> None:
    made = calls(alert_turn(turn_request([OF_POD], (DESCRIBE, LOGS), Answers())))
    assert ("fetch_logs", {"pod_name": OF_POD.labels["pod"], "namespace": "payments"}) in made
    assert len(made) == len({(name, str(arguments)) for name, arguments in made})


def test_the_alerts_runbook_page_is_read_with_and_without_a_slash() -> None:
    fired = alert("Watchdog", runbook_url="https://runbooks.example.com/watchdog")
    assert calls(alert_turn(turn_request([fired], (PAGE,), Answers()))) == [
        ("fetch_webpage", {"url": "https://runbooks.example.com/watchdog"})
    ]
    missed = Answers().nothing("fetch_webpage", {"url": "https://runbooks.example.com/watchdog"})
    assert calls(alert_turn(turn_request([fired], (PAGE,), missed))) == [
        ("fetch_webpage", {"url": "https://runbooks.example.com/watchdog/"})
    ]


def test_tools_without_arguments_are_called_and_then_it_concludes() -> None:
    made = calls(alert_turn(turn_request([OF_POD], OFFERS, Answers())))
    assert {name for name, _ in made} <= {one.name for one in OFFERS}
    answers = Answers()
    for one in OFFERS:
        answers.nothing(one.name, {})
    assert isinstance(alert_turn(turn_request([OF_POD], OFFERS, answers)), AiopsDraft)


def test_the_same_request_gives_the_same_reply() -> None:
    request = turn_request([OF_POD], BUILTIN, Answers())
    assert alert_turn(request) == alert_turn(request)


def test_the_plan_takes_the_nearest_skill_and_names_whose_state_to_check() -> None:
    made = plan([alert("PodCrashLooping", {"pod": "web-1"}, summary="OOMKilled, exit code 137")], LAG, OOM)
    assert (made.selected_skill, made.entities) == ("oom-and-restarts", ("web-1",))
    assert any("oom-and-restarts" in step for step in made.plan)


def test_a_patrol_without_an_alert_has_a_plan_too() -> None:
    made = plan([])
    assert (made.selected_skill, made.entities) == (None, ())


async def test_the_backend_plays_the_roles_of_an_alert() -> None:
    model = build(ModelSettings(model="offline"))
    reply = await model.complete(turn_request([OF_POD], BUILTIN, Answers()))
    assert [call.name for call in reply.tool_calls] == ["query_metrics", "lookup_knowledge"]
    concluded = await model.complete(turn_request([OF_POD], (), Answers()))
    assert AiopsDraft.model_validate_json(concluded.text).claims == ()
    assert AiopsPlan.model_validate_json(plan([OF_POD]).model_dump_json()) == plan([OF_POD])
