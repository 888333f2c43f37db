"""The answer's form by verdict, to the letter of the seeds."""

import pytest
from small_incident import ROOT

from agents.contracts import AnswerSections, Verdict
from agents.replies import Replies
from agents.verdicts import TEMPLATES, rendered, with_lead

SECTIONS = AnswerSections(lead="结论 [1]", confirmed=("甲 [1]", "乙 [2]"), gaps=("丙",), next_steps=("丁",))
EMPTY = AnswerSections(lead="", confirmed=(), gaps=(), next_steps=())


@pytest.fixture
def replies() -> Replies:
    return Replies.load(ROOT / "prompts" / "replies")


def shown(verdict: Verdict, replies: Replies, language: str, sections: AnswerSections = SECTIONS) -> str:
    return rendered(with_lead(sections, verdict, replies, language), verdict, replies, language)


def test_low_confidence_in_chinese_is_the_seeds_template(replies: Replies) -> None:
    assert shown(Verdict.LOW_CONFID, replies, "zh") == (
        "以下结论基于当前已获取证据，仍存在部分证据缺口，请谨慎参考。\n\n"
        "已确认信息：\n- 甲 [1]\n- 乙 [2]\n\n当前缺口：\n- 丙\n\n建议下一步：\n- 丁"
    )


def test_a_rejection_in_chinese_is_the_seeds_template(replies: Replies) -> None:
    assert shown(Verdict.REJECT, replies, "zh") == (
        "当前无法基于已获取证据生成可靠结论。\n\n"
        "已确认信息：\n- 甲 [1]\n- 乙 [2]\n\n证据缺口：\n- 丙\n\n建议下一步：\n- 丁"
    )


def test_a_pass_is_led_by_the_composers_conclusion(replies: Replies) -> None:
    assert shown(Verdict.PASS, replies, "en").startswith("结论 [1]\n\nConfirmed:\n- 甲 [1]")


def test_a_pass_leaves_empty_parts_out(replies: Replies) -> None:
    only = SECTIONS.model_copy(update={"gaps": (), "next_steps": ()})
    assert shown(Verdict.PASS, replies, "en", only) == "结论 [1]\n\nConfirmed:\n- 甲 [1]\n- 乙 [2]"


@pytest.mark.parametrize("verdict", [Verdict.LOW_CONFID, Verdict.REJECT])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_other_verdicts_show_all_parts_even_when_empty(replies: Replies, verdict: Verdict, language: str) -> None:
    text = shown(verdict, replies, language, EMPTY)
    assert text.count("\n- ") == 3


def test_a_language_we_lack_gets_english_words(replies: Replies) -> None:
    assert shown(Verdict.REJECT, replies, "fr") == shown(Verdict.REJECT, replies, "en")


def test_every_verdict_has_a_template() -> None:
    assert set(TEMPLATES) == set(Verdict)


def test_both_languages_have_the_same_entries_and_values(replies: Replies) -> None:
    zh, en = replies.by_language["zh"], replies.by_language["en"]
    assert set(zh) == set(en)
    assert {key: sorted(text.get_identifiers()) for key, text in zh.items()} == {
        key: sorted(text.get_identifiers()) for key, text in en.items()
    }
