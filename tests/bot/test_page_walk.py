"""`proofthread demo` in a browser: Stop, the direct message's prompts, the shortcut, App Home, votes and their forms."""

from __future__ import annotations

from pathlib import Path

from browser import Page, chromium
from demo_page import act, demo

from bot.emulator.chat_completions import Answer, chat_server

PLACE, THREAD = "#place .timeline", "#thread .timeline"
LAST = f"{THREAD} .message:last-of-type"


def message(ts: str) -> str:
    return f"{PLACE} .message[data-ts='{ts}']"


def test_stop_ends_a_run_whose_model_never_answers(tmp_path: Path) -> None:
    with chat_server(Answer(hang=True)) as server, chromium(tmp_path / "chromium") as page:
        model = {"PROOFTHREAD_BASE_URL": f"{server.url}", "PROOFTHREAD_API_KEY": "sk-loopback"}
        with demo(tmp_path, "--model", "hangs", environment=model) as address:
            page.open(address)
            page.button("#thread .status", "Stop")
            page.reads(THREAD, "topped")
            page.gone("#thread .status")
            assert page.complaints() == []


def a_prompt_is_answered(page: Page) -> None:
    page.press("[data-app=home]")
    page.button("#place", "Messages")
    page.reads("#place .prompts", "Ask about an incident", "What changed?")
    page.button("#place .prompts", "Why is a service slow?")
    page.reads(PLACE, "Why is checkout slow since 14:00?")
    page.press(f"{PLACE} .message:last-of-type .thread-link")
    page.reads(THREAD, "Useful")


def the_shortcut_diagnoses(page: Page, address: str) -> None:
    text = "checkout answers 504 since 08:43"
    ts = str(act(address, "post", channel="C0INCIDENT", user="U0BEN00001", text=text)["ts"])
    page.press("#side [data-channel=C0INCIDENT]")
    page.point_at(message(ts))
    page.press(f"{message(ts)} summary[aria-label=More]")
    page.button(message(ts), "Diagnose this message")
    page.press(f"{message(ts)} .thread-link")
    page.reads(THREAD, "roven", "order-service", "Useful")


def a_vote_against_says_why(page: Page) -> None:
    page.button(THREAD, "Not useful")
    page.reads("#modal", "What would have been right?")
    page.css("#modal input[type=radio], #modal input[type=checkbox]").click()
    page.type("#modal textarea", "The pool was fine at 08:40.")
    page.button("#modal", "Send")
    page.gone("#modal")


def a_case_is_edited_and_saved(page: Page) -> None:
    page.button(THREAD, "Useful")
    page.button(f"{THREAD} .whisper", "Edit before saving")
    page.reads("#modal", "Edit the case", "Title")
    title = page.css("#modal input[type=text], #modal input.text-input")
    title.clear()
    title.send_keys("The small pool of November")
    page.button("#modal", "Save")
    page.reads("#modal", "Saved. Later runs can find this case")
    page.button("#modal", "Close")
    page.gone("#modal")
    page.say("/proofthread cases")
    page.reads("#place .whisper:last-of-type", "The small pool of November")


def home_says_what_is_missing(page: Page) -> None:
    page.press("#side [data-channel=C0ALERTS01]")
    page.say("/proofthread unwatch")
    page.reads(PLACE, "watch the alerts here no longer")
    page.press("[data-app=home]")
    page.button("#place", "Home")
    page.reads("#place", "Nobody watches alerts yet", "/proofthread watch", "Recent runs")


def test_prompts_shortcut_votes_and_home_of_the_demo(tmp_path: Path) -> None:
    with chromium(tmp_path / "chromium") as page, demo(tmp_path, "--alert-lasts", "86400") as address:
        page.open(address)
        page.reads(THREAD, "Proven", "order-service")
        a_prompt_is_answered(page)
        the_shortcut_diagnoses(page, address)
        a_vote_against_says_why(page)
        a_case_is_edited_and_saved(page)
        home_says_what_is_missing(page)
        assert page.complaints() == []
