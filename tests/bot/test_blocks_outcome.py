"""What the blocks say, beyond being well formed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.contracts import RunOutcome, RunUsage, Verdict
from agents.events import RunEvent
from agents.replies import Replies
from bot.answers.statements import statements
from bot.blocks import ids
from bot.blocks.answer import AnswerView
from bot.blocks.cards import cards_of
from bot.blocks.evidence import evidence_pages, proofs_of
from bot.blocks.feedback import CaseDraft, case_of, edit_case_view
from bot.blocks.gaps import add_context_view
from bot.blocks.modal import Item, paged_view, pages_of
from bot.blocks.outcome import answer_message
from bot.blocks.parts import paragraph
from bot.blocks.progress import progress_chunks, progress_markdown
from bot.blocks.reader import Reader, slack_words
from bot.blocks.rich import spans, told
from bot.blocks.sample_run import sample_run
from bot.blocks.trace import trace_view
from bot.blocks.usage import usage_line
from bot.shapes.blocks import texts

WORDS = slack_words(Replies.load(Path(__file__).parents[2] / "prompts" / "replies"))
ENGLISH = Reader(WORDS, "en", ZoneInfo("UTC"))


def drawn(outcome: RunOutcome, **changes: Any) -> Any:
    return answer_message(outcome.model_copy(update=changes), AnswerView(ENGLISH))


def said(blocks: Any) -> str:
    return "\n".join(texts(blocks))


def elements(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [element for block in blocks if "action" in block["type"] for element in block["elements"]]


def test_verdicts_differ_in_their_first_line(outcome: RunOutcome) -> None:
    firsts = {drawn(outcome, verdict=verdict).blocks[0]["text"]["text"] for verdict in Verdict}
    assert firsts == {"✅ Proven", "⚠️ Not fully proven", "⛔ Not proven"}


def test_a_notification_carries_verdict_and_conclusion(outcome: RunOutcome) -> None:
    assert drawn(outcome).text == "✅ Proven: order-service has no free database connection."
    unproven = drawn(outcome, verdict=Verdict.LOW_CONFID)
    assert unproven.text == "⚠️ Not fully proven: order-service waits for connections of HikariPool-1 [1]"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("verdict", [Verdict.LOW_CONFID, Verdict.REJECT])
def test_an_unproven_answer_opens_with_what_was_found_not_with_its_fixed_sentence(
    outcome: RunOutcome, verdict: Verdict, language: str
) -> None:
    reader = Reader(WORDS, language, ZoneInfo("UTC"))
    fixed = reader.say(f"{verdict.value.lower()}_lead")
    sections = outcome.sections.model_copy(update={"lead": fixed})
    text = said(answer_message(outcome.model_copy(update={"verdict": verdict, "sections": sections}), AnswerView(reader)).blocks)
    found = "order-service waits for connections of HikariPool-1 [1]"
    order = [text.index(part) for part in (reader.say(f"verdict_{verdict.value.lower()}"), found, fixed, reader.say("next"))]
    assert order == sorted(order)
    assert text.index(outcome.sections.next_steps[0]) < 600
    assert text.count(found) == 1, "the list below only adds the quotes"
    assert outcome.claims[0].evidence[0].span_text in text


def test_a_finding_has_the_room_that_the_fixed_sentence_leaves_and_the_next_step_stays_in_sight(outcome: RunOutcome) -> None:
    long = f"order-service fails with ORD-5031: {'every connection is in use, ' * 7}and nobody gives one back"
    claim = outcome.claims[0].claim.model_copy(update={"claim_text": long})
    sections = outcome.sections.model_copy(update={"lead": ENGLISH.say("low_confid_lead"), "confirmed": (f"{long} [1]",)})
    proven = (outcome.claims[0].model_copy(update={"claim": claim}),)
    text = said(drawn(outcome, verdict=Verdict.LOW_CONFID, sections=sections, claims=proven).blocks)
    assert len(long) == 256
    assert text.count(long) == 1, "in full at the top, and not once more below"
    assert text.index(outcome.sections.next_steps[0]) + len(outcome.sections.next_steps[0]) < 600


def test_of_several_statements_the_cause_is_the_finding_and_an_empty_look_up_the_last(outcome: RunOutcome) -> None:
    cause = outcome.claims[0]
    kinds = {2: ("gap", "nothing about billing [2]"), 3: ("symptom", "checkout-service fails [3]")}
    others = tuple(
        cause.model_copy(
            update={"number": number, "claim": cause.claim.model_copy(update={"claim_type": kind, "claim_id": f"c{number}"})}
        )
        for number, (kind, _) in kinds.items()
    )
    lines = [text for _, text in kinds.values()]
    sections = outcome.sections.model_copy(update={"confirmed": (*lines, *outcome.sections.confirmed)})
    changes = {"verdict": Verdict.LOW_CONFID, "sections": sections}
    assert drawn(outcome, claims=(*others, cause), **changes).text.endswith("HikariPool-1 [1]")
    assert drawn(outcome, claims=others, **changes).text.endswith("checkout-service fails [3]")


def test_the_run_id_is_in_every_button(outcome: RunOutcome) -> None:
    buttons = elements(drawn(outcome, verdict=Verdict.REJECT).blocks)
    names = {button["action_id"]: button.get("value") for button in buttons}
    assert names == {
        "look_wider": "run-1:0",
        "add_context": "run-1:0",
        "ask_someone": "run-1:0",
        "evidence": "run-1",
        "trace": "run-1",
        "feedback": None,
    }
    votes = next(button for button in buttons if button["action_id"] == "feedback")
    assert ids.vote_of(votes["positive_button"]["value"]) == ("run-1", "useful")
    assert ids.vote_of(votes["negative_button"]["value"]) == ("run-1", "not_useful")


@pytest.mark.parametrize("value", ["", "run-1", "run-1:maybe", ":useful", "useful"])
def test_a_vote_that_we_never_sent_is_no_vote(value: str) -> None:
    assert ids.vote_of(value) is None


@pytest.mark.parametrize("value", ["", "run-1", "run-1:", "run-1:-1", "run-1:²", ":0"])
def test_a_number_that_we_never_sent_is_no_number(value: str) -> None:
    assert ids.number_of(value) is None


def test_each_gap_has_its_own_buttons(outcome: RunOutcome) -> None:
    sections = outcome.sections.model_copy(update={"gaps": ("first gap", " ", "second gap")})
    answer = drawn(outcome, verdict=Verdict.LOW_CONFID, sections=sections)
    wider = [button["value"] for button in elements(answer.blocks) if button["action_id"] == "look_wider"]
    assert wider == ["run-1:0", "run-1:1"]
    assert "second gap" in said(answer.blocks)


def test_a_proven_answer_lists_its_gaps_without_buttons(outcome: RunOutcome) -> None:
    answer = drawn(outcome)
    assert "No slow statements were looked at." in said(answer.blocks)
    assert all(button["action_id"] != "look_wider" for button in elements(answer.blocks))


@pytest.mark.parametrize(
    ("usage", "shown", "hidden"),
    [
        (RunUsage(model="offline"), ["no model used"], ["tokens", "cost"]),
        (RunUsage(model="qwen-max", prompt_tokens=1200, completion_tokens=34), ["model qwen-max", "1,234 tokens"], ["cost", "0.00"]),
        (RunUsage(model="qwen-max", prompt_tokens=1200, cost=0.0312), ["cost 0.0312"], []),
        (RunUsage(model="qwen-max", prompt_tokens=1200, cost=0.00001), ["cost < 0.0001"], ["0.0000 "]),
        (RunUsage(model="qwen-max", prompt_tokens=1200, cost=0.0), ["1,200 tokens"], ["cost"]),
    ],
)  # fmt: skip
def test_the_footer_never_shows_an_unknown_price(
    outcome: RunOutcome, usage: RunUsage, shown: list[str], hidden: list[str]
) -> None:
    line = usage_line(outcome.model_copy(update={"usage": usage}), ENGLISH)
    assert all(text in line for text in shown)
    assert not any(text in line for text in hidden)


def test_the_window_is_stated_back_in_the_askers_zone(outcome: RunOutcome) -> None:
    window = {"window_from": "2026-11-30T08:40:00Z", "window_to": "2026-11-30T09:10:00Z"}
    looked = outcome.orchestration_trace.model_copy(update=window)
    shown = outcome.model_copy(update={"orchestration_trace": looked})
    there = Reader(WORDS, "en", ZoneInfo("Asia/Shanghai"))
    assert "looked at 2026-11-30 16:40–17:10 CST (08:40–09:10 UTC) · " in said(answer_message(shown, AnswerView(there)).blocks)
    assert "looked at 2" not in said(drawn(outcome).blocks)


def test_the_asker_is_called_back_and_nobody_else(outcome: RunOutcome) -> None:
    sections = outcome.sections.model_copy(update={"lead": "ask <@U9> or <!channel>"})
    answer = answer_message(outcome.model_copy(update={"sections": sections}), AnswerView(ENGLISH, mention="U1"))
    spans_shown = answer.blocks[1]["elements"][0]["elements"]
    assert [span["user_id"] for span in spans_shown if span["type"] == "user"] == ["U1"]
    assert "ask <@U9> or <!channel>" in said(answer.blocks)
    assert answer.text == "✅ Proven: ask &lt;@U9&gt; or &lt;!channel&gt;"


def test_only_bare_links_to_configured_hosts_are_links() -> None:
    text = "see https://grafana.example/d/1, not https://grafana.example@evil.example/ nor https://evil.example"
    links = [span for span in spans(text, ("grafana.example",)) if span["type"] == "link"]
    assert links == [{"type": "link", "url": "https://grafana.example/d/1"}]
    assert [span["type"] for span in spans(text)] == ["text"]


def test_hidden_characters_are_shown(outcome: RunOutcome) -> None:
    sections = outcome.sections.model_copy(update={"lead": "cod.\u202eexe\u200b"})
    assert "cod.\\u202eexe\\u200b" in said(drawn(outcome, sections=sections).blocks)


def test_a_long_conclusion_goes_on_below_the_next_step_and_loses_no_word(outcome: RunOutcome) -> None:
    lead = " ".join(f"word{number}" for number in range(120))
    answer = drawn(outcome, sections=outcome.sections.model_copy(update={"lead": lead}))
    text = said(answer.blocks)
    assert text.index("Next: ") < 400
    assert all(f"word{number}" in text for number in range(120))
    assert answer.overflow is None


def test_what_the_message_leaves_out_is_in_the_file(outcome: RunOutcome) -> None:
    gaps = tuple(f"gap number {number}" for number in range(30))
    answer = drawn(outcome, verdict=Verdict.LOW_CONFID, sections=outcome.sections.model_copy(update={"gaps": gaps}))
    assert "18 more in the attached text." in said(answer.blocks)
    assert answer.overflow is not None
    assert answer.overflow.filename == "answer-run-1.txt"
    assert all(f"- {gap}\n" in answer.overflow.content for gap in gaps)


def test_a_conclusion_that_is_its_claim_is_not_repeated(outcome: RunOutcome) -> None:
    lead = "order-service waits for connections of HikariPool-1 [1]"
    sections = outcome.sections.model_copy(update={"lead": lead, "confirmed": (lead,)})
    alike = outcome.model_copy(update={"sections": sections})
    assert [one.text for one in statements(alike)] == [None]
    text = said(drawn(alike).blocks)
    assert text.count("waits for connections") == 1
    assert "Evidence:" in text
    assert "HikariPool-1 - Connection is not available" in text


# ---------------------------------------------------------------- modals


def test_evidence_without_its_stored_line_says_so(outcome: RunOutcome) -> None:
    pages = evidence_pages(proofs_of(outcome.claims, []), ENGLISH)
    assert len(pages) == 1
    assert "Only the quoted part" in said(pages)
    assert outcome.claims[0].evidence[0].span_text in said(pages)


def test_a_run_without_claims_says_that_there_is_no_evidence() -> None:
    assert "no evidence to show" in said(evidence_pages([], ENGLISH))


def test_a_page_that_begins_inside_a_claim_says_which() -> None:
    again = paragraph("[7] continued", ENGLISH)
    pages = pages_of([Item(paragraph("x" * 2_000, ENGLISH), again) for _ in range(9)])
    assert [len(page) for page in pages] == [4, 5, 2]
    assert [page[0] == again for page in pages] == [False, True, True]


def test_pages_have_buttons_to_their_neighbours_alone() -> None:
    pages = [[paragraph(str(number), ENGLISH)] for number in range(3)]
    values = [[element["value"] for element in elements(paged_view("evidence", "r", pages, page, ENGLISH)["blocks"])] for page in (0, 1, 2, 3, 9)]  # fmt: skip
    assert values == [["r:2"], ["r:2"], ["r:1", "r:3"], ["r:2"], ["r:2"]]
    assert len(paged_view("evidence", "r", pages[:1], 1, ENGLISH)["blocks"]) == 1


def test_a_case_comes_back_as_it_was_shown_however_long() -> None:
    draft = CaseDraft("Checkout slow", "GENERAL", "cause " * 1_200, "restart")
    view = edit_case_view("run-1", draft, ENGLISH)
    inputs = [block for block in view["blocks"] if block["type"] == "input"]
    values = {one["block_id"]: {one["element"]["action_id"]: {"value": one["element"].get("initial_value")}} for one in inputs}
    assert len(inputs) == 6
    edited = case_of({"state": {"values": values}})
    assert edited == CaseDraft("Checkout slow", "GENERAL", ("cause " * 1_200).strip(), "restart")
    assert case_of({}) == CaseDraft("", "", "", "")


def test_a_modal_carries_what_its_submission_must_know() -> None:
    view = add_context_view("run-1", 2, "a gap", ENGLISH, channel="C1", thread_ts="1.2")
    assert ids.carried_by(view) == {"run_id": "run-1", "gap": 2, "channel": "C1", "thread_ts": "1.2"}
    assert ids.carried_by({"private_metadata": "not json"}) == {}


# ---------------------------------------------------------------- progress


def test_calls_of_one_tool_are_told_apart() -> None:
    events = [
        RunEvent("r", "tool_started", "query_logs", "first", call="1"),
        RunEvent("r", "tool_started", "query_logs", "second", call="2"),
        RunEvent("r", "tool_finished", "query_logs", "found by second", call="2"),
    ]
    first, second = cards_of(events, ENGLISH)
    assert (first.status, first.output) == ("in_progress", "")
    assert (second.status, second.output) == ("complete", "found by second")


def test_a_second_round_is_named_and_a_retried_node_is_not() -> None:
    def node(kind: Any, name: str) -> RunEvent:
        return RunEvent("r", kind, name)

    events = [node("node_started", "PLANNER"), RunEvent("r", "retry", "PLANNER", "time-out", ok=False)]
    events += [node("node_started", "PLANNER"), node("node_finished", "PLANNER"), node("node_started", "PLANNER")]
    first, second = cards_of(events, ENGLISH)
    assert (first.title, first.status, first.output) == ("Planning", "complete", "once more: time-out")
    assert second.title == "Planning, round 2"


def test_a_stream_is_told_each_thing_once() -> None:
    events = [RunEvent("r", "tool_started", "query_logs"), RunEvent("r", "tool_finished", "query_logs", "5 pieces")]
    before, now = cards_of(events[:1], ENGLISH), cards_of(events, ENGLISH)
    assert [chunk["type"] for chunk in progress_chunks((), before, ENGLISH)] == ["plan_update", "task_update"]
    assert progress_chunks(before, now, ENGLISH) == [
        {"type": "task_update", "id": "call-1", "title": "query_logs", "status": "complete", "output": "5 pieces"}
    ]
    assert progress_chunks(now, now, ENGLISH) == []


def test_markdown_of_progress_shows_what_was_written() -> None:
    cards = cards_of([RunEvent("r", "tool_started", "query_logs", 'regex="*<!channel>_x`"')], ENGLISH)
    assert '\\*‹\\!channel\\>\\_x\\`"' in progress_markdown(cards, ENGLISH)


# ---------------------------------------------------------------- a short message


def test_other_statements_name_their_source_instead_of_a_quote(outcome: RunOutcome) -> None:
    lead = "order-service waits for connections of HikariPool-1 [1]"
    first = outcome.claims[0]
    claim = first.claim.model_copy(update={"claim_id": "c2", "claim_text": "checkout-service fails"})
    second = first.model_copy(update={"number": 2, "claim": claim})
    sections = outcome.sections.model_copy(update={"lead": lead, "confirmed": (lead, "checkout-service fails [2]")})
    text = said(drawn(outcome, sections=sections, claims=(first, second)).blocks)
    assert text.count(first.evidence[0].span_text) == 1
    assert "checkout-service fails [2]\n (query_logs · order-service" in text


def test_a_long_quote_shows_the_part_that_the_claim_repeats(outcome: RunOutcome) -> None:
    words = "ORD-5031 order was not stored"
    first = outcome.claims[0]
    long = first.evidence[0].model_copy(update={"span_text": f"{'label=value ' * 40}line={words} and more {'x ' * 100}"})
    claim = first.claim.model_copy(update={"claim_text": f'order-service logged "{words}"'})
    proven = first.model_copy(update={"claim": claim, "evidence": (long,)})
    text = said(drawn(outcome, claims=(proven,)).blocks)
    assert "… label=value" in text
    assert f"line={words}" in text
    assert "more characters in Evidence" in text


def test_a_step_that_was_read_at_the_top_is_not_listed_again(outcome: RunOutcome) -> None:
    sections = outcome.sections.model_copy(update={"next_steps": ("restart it", "look at the pool")})
    text = said(drawn(outcome, sections=sections).blocks)
    assert text.count("restart it") == 1
    assert "Suggested next steps:\nlook at the pool" in text


def test_an_unproven_answer_says_that_nothing_passed(outcome: RunOutcome) -> None:
    sections = outcome.sections.model_copy(update={"confirmed": ()})
    blocks = drawn(outcome, verdict=Verdict.REJECT, claims=(), sections=sections).blocks
    assert "Confirmed:\nNothing has passed the checks yet." in said(blocks)


def test_a_name_in_back_ticks_is_code_in_a_step_and_stays_as_it_is_in_a_quote() -> None:
    assert told("Set `max-pool` to 30") == [*spans("Set "), *spans("max-pool", code=True), *spans(" to 30")]
    assert told("a lone ` stays") == spans("a lone ` stays")
    assert spans("`quoted`") == [{"type": "text", "text": "`quoted`"}]


def test_the_path_is_one_line_until_it_jumps() -> None:
    steps = [("PLANNER", "EXECUTOR", "ok"), ("EXECUTOR", "PLANNER", "retry"), ("GATEKEEPER", "END", "ok")]
    transitions = [{"source": source, "target": target, "reason": reason} for source, target, reason in steps]
    run = replace(sample_run(), orchestration_trace={"transitions": transitions})
    shown = said(trace_view(run, [], [], 1, ENGLISH)["blocks"])
    assert "PLANNER → EXECUTOR → PLANNER (retry)" in shown
    assert "GATEKEEPER → END" in shown
