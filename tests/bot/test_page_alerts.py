"""`proofthread demo` in a browser: the channel of alerts at a glance, a report with its chart and evidence, its end."""

from __future__ import annotations

from pathlib import Path

from browser import Page, chromium
from demo_page import act, demo

PLACE, THREAD = "#place .timeline", "#thread .timeline"
ALERTS = "C0ALERTS01"
FIRST = f"{PLACE} .message:first-of-type"
# The test says itself when the alert is over.
WITHOUT_END = ("--alert-lasts", "86400")


def alertmanager(address: str, title: str, colour: str) -> str:
    attachment = {"title": title, "fallback": title, "color": colour, "text": ""}
    event = {"username": "Alertmanager", "attachments": [attachment]}
    return str(act(address, "post_as_bot", channel=ALERTS, event=event)["ts"])


def has_reaction(page: Page, ts: str, name: str) -> None:
    page.css(f"{PLACE} .message[data-ts='{ts}'] [data-reaction={name}]")


def the_chart_is_drawn(page: Page) -> None:
    drawn = "const one = document.querySelector('#thread .file-picture'); return one ? one.naturalWidth : 0"
    page.until(lambda: page.driver.execute_script(drawn) >= 600, "no chart is shown")
    page.reads("#thread .file-name", "CheckoutLatencyHigh", "the metric that fired")


def test_alerts_read_at_a_glance_and_a_report_has_its_chart_evidence_and_case(tmp_path: Path) -> None:
    with chromium(tmp_path / "chromium") as page, demo(tmp_path, *WITHOUT_END) as address:
        page.open(address)
        page.press(f"#side [data-channel={ALERTS}]")
        page.reads(FIRST, "Alertmanager", "[FIRING:1] CheckoutLatencyHigh (checkout-service critical)")
        first = str(page.css(FIRST).get_attribute("data-ts"))
        has_reaction(page, first, "white_check_mark")
        other = alertmanager(address, "[FIRING:1] CpuHigh (recommendation-service warning)", "warning")
        has_reaction(page, other, "warning")

        page.press(f"{FIRST} .thread-link")
        page.reads(
            THREAD, "Cause proven", "CheckoutLatencyHigh is firing (critical)", "Probable cause:", "HikariPool-1",
            "Blast radius:", "Affected: order-service", "Changed just before:", "maximum-pool-size 30 -> 8",
        )  # fmt: skip
        the_chart_is_drawn(page)
        page.button(THREAD, "Evidence")
        page.reads("#modal", "Evidence", "[1]", "Query: ")
        assert "ORD-5031" in page.css("#modal blockquote strong code, #modal blockquote code").text
        page.button("#modal", "Close")
        page.gone("#modal")
        page.button(THREAD, "Useful")
        page.reads(f"{THREAD} .whisper", "Only visible to you", "case")
        page.say("/proofthread cases")
        page.reads("#place .whisper", "CheckoutLatencyHigh")

        alertmanager(address, "[RESOLVED] CheckoutLatencyHigh (checkout-service critical)", "good")
        page.reads(THREAD, "Resolved: CheckoutLatencyHigh", "It lasted ")
        has_reaction(page, first, "ballot_box_with_check")
        has_reaction(page, other, "warning")
        assert page.complaints() == []


def test_on_a_phone_the_demos_alert_is_over_by_itself(tmp_path: Path) -> None:
    with chromium(tmp_path / "chromium") as page, demo(tmp_path, "--alert-lasts", "0") as address:
        page.phone()
        page.scheme("dark")
        page.open_at(f"{address}archives/{ALERTS}", FIRST)
        page.css(f"{FIRST} [data-reaction=ballot_box_with_check]")
        page.reads(PLACE, "[RESOLVED] CheckoutLatencyHigh (checkout-service critical)")
        page.press(f"{FIRST} .thread-link")
        page.reads(THREAD, "Cause proven", "Resolved: CheckoutLatencyHigh", "It lasted ")
        the_chart_is_drawn(page)
        width = page.driver.execute_script("return document.querySelector('#thread .file-picture').getBoundingClientRect().width")
        assert 280 <= width <= 390
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= 390
        assert page.complaints() == []
