"""`proofthread demo` in a browser: a question, its stream, the evidence, a thumb, the case."""

from __future__ import annotations

from pathlib import Path

from browser import Page, chromium
from demo_page import demo

THREAD = "#thread .timeline"

# Keeps what a quick run shows for a moment only: each task that it streams, with each of its states.
WATCH = """
window.watched = new Set();
const look = () => document.querySelectorAll("#thread [data-task]").forEach((task) =>
  window.watched.add(`${task.querySelector(".task-title").textContent}: ${task.dataset.status}`));
new MutationObserver(look).observe(document.getElementById("thread"), {childList: true, subtree: true});
"""


def asked_and_answered(page: Page) -> None:
    page.driver.execute_script(WATCH)
    page.say("@proofthread why does checkout answer 504?")
    page.reads(THREAD, "why does checkout answer 504?", "Proven", "Next:", "order-service", "Useful")
    page.gone(f"{THREAD} .streaming")
    watched = page.driver.execute_script("return [...window.watched]")
    assert any(each.endswith(": in_progress") for each in watched), watched


def evidence_is_read(page: Page) -> None:
    page.button(THREAD, "Evidence")
    page.reads("#modal", "Evidence", "[1]", "Query: ", "HikariPool-1")
    quoted = page.css("#modal blockquote strong code, #modal blockquote code").text
    assert "ORD-5031" in quoted
    page.button("#modal", "Close")
    page.gone("#modal")
    page.button(THREAD, "Trace")
    page.reads("#modal", "PLANNER → EXECUTOR → GATEKEEPER")
    page.button("#modal", "Close")
    page.gone("#modal")


def a_thumb_makes_a_case(page: Page) -> None:
    page.button(THREAD, "Useful")
    page.reads(f"{THREAD} .whisper", "Only visible to you", "case")
    page.button(f"{THREAD} .whisper", "Edit before saving")
    page.reads("#modal", "Edit the case", "Cause")
    page.button("#modal", "Cancel")
    page.gone("#modal")
    page.say("/proofthread cases")
    page.reads("#place .whisper", "why does checkout answer 504?")
    page.press("[data-app=home]")
    page.reads("#place", "Recent runs", "Why is checkout slow?", "👍 1")


def another_thumb_is_a_reaction(page: Page) -> None:
    page.select("#who", "U0BEN00001")
    page.press("#side [data-channel=C0INCIDENT]")
    page.press("#place .message:last-of-type .thread-link")
    page.reads(f"{THREAD} .message:last-of-type", "Proven")
    ts = page.css(f"{THREAD} .message:last-of-type").get_attribute("data-ts")
    answer = f"{THREAD} .message[data-ts='{ts}']"
    page.point_at(answer)
    page.press(f"{answer} [data-react='+1']")
    page.css(f"{answer} [data-reaction='+1']")
    page.reads(f"{THREAD} .whisper", "case")
    page.press("[data-app=home]")
    page.reads("#place", "👍 2")


def somebody_is_asked(page: Page) -> None:
    page.button(THREAD, "Ask someone")
    page.reads("#modal", "Missing: ", "Send")
    page.select("#modal [data-action-id=person]", "U0BEN00001")
    page.button("#modal", "Send")
    page.gone("#modal")
    page.reads(f"{THREAD} .message:last-of-type", "@Ben", "@Ana")


def what_a_person_adds_is_quoted(page: Page) -> None:
    page.button(THREAD, "Add context")
    page.reads("#modal", "Missing: ", "Send")
    page.type("#modal [data-action-id=context]", "ERROR payment-service PAY-7731 the certificate of bank-gw has expired")
    page.button("#modal", "Send")
    page.gone("#modal")
    page.reads(f"{THREAD} .message:last-of-type", "roven", "PAY-7731", "Useful")


def a_wider_look_finds_more(page: Page) -> None:
    page.button(THREAD, "Look further back")
    page.until(lambda: page.css(THREAD).text.count("Not useful") >= 3, "no third answer")


def test_in_the_demo_each_missing_piece_has_buttons_that_work(tmp_path: Path) -> None:
    with chromium(tmp_path / "chromium") as page, demo(tmp_path) as address:
        page.open(address)
        page.reads(THREAD, "Proven", "order-service")
        page.say("@proofthread why was checkout slow yesterday from 03:00 to 03:10?")
        page.reads(THREAD, "roven", "looked at 2", "03:00–03:10", "Look further back", "Useful")
        somebody_is_asked(page)
        what_a_person_adds_is_quoted(page)
        a_wider_look_finds_more(page)
        assert page.complaints() == []


def test_the_demo_shows_an_answer_its_evidence_and_the_case_of_a_thumb(tmp_path: Path) -> None:
    with chromium(tmp_path / "chromium") as page, demo(tmp_path) as address:
        page.open(address)
        page.reads("#place .timeline", "Why is checkout slow?")
        page.reads(THREAD, "Proven", "order-service")
        asked_and_answered(page)
        evidence_is_read(page)
        a_thumb_makes_a_case(page)
        another_thumb_is_a_reaction(page)
        assert page.complaints() == []
