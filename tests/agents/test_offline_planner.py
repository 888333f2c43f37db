from pathlib import Path

import pytest
from offline_world import NOW, UTC_ZONE

from agents.contracts import PlannerInput, PlannerPlan, SkillCard
from agents.llm.base import ModelRequest
from agents.offline.planner import plan
from tools.skills import SkillRegistry

SKILLS = Path(__file__).parent.parent.parent / "skills"


def planned(question: str, language: str = "en") -> PlannerPlan:
    cards = tuple(SkillCard(name=name, description=text) for name, text in SkillRegistry.load(SKILLS).cards())
    given = PlannerInput(question=question, skill_catalog=cards)
    return plan(ModelRequest("planner", (), PlannerPlan, given, language, NOW, UTC_ZONE))


@pytest.mark.parametrize(
    ("question", "skill"),
    [
        ("pods keep restarting with OOMKilled", "oom-and-restarts"),
        ("Kafka consumer lag is growing", "queue-lag"),
        ("x509: certificate expired on the api gateway", "certificate-or-dns-failure"),
        ("latency rose after the release", "latency-after-deploy"),
        ("payment provider returns 429", "third-party-api-errors"),
        ("could not get a connection from the pool", "connection-pool-exhaustion"),
        ("disk usage on node 3 is 98%", "disk-full"),
        ("接口大量 500 错误", "error-rate-spike"),
        ("磁盘满了", "disk-full"),
        ("消息积压了怎么办", "queue-lag"),
        ("发布之后变慢了", "latency-after-deploy"),
        ("订单 SO-20261130-4380 为什么失败", "failed-order"),
    ],
)
def test_the_nearest_skill_is_chosen_in_both_languages(question: str, skill: str) -> None:
    assert planned(question).selected_skill == skill


@pytest.mark.parametrize("question", ["", "hello", "what is the weather", "🙂🙂🙂", "How many pods are in test-1?"])
def test_a_question_that_resembles_no_skill_gets_none(question: str) -> None:
    chosen = planned(question)
    assert chosen.selected_skill is None
    assert chosen.plan


def test_the_plan_is_written_in_the_answers_language() -> None:
    assert "告警" in "".join(planned("磁盘满了", "zh").plan)


def test_a_long_question_is_read_whole_and_fast() -> None:
    assert planned("connection pool timeout " * 5_000).selected_skill == "connection-pool-exhaustion"
