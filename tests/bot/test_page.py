"""The page of the loopback Slack in a headless Chromium, with a small bot behind it."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from browser import Page, chromium
from small_bot import BUTTONS, FEEDBACK, button, plain, small_bot

from bot.emulator.slack import SlackEmulator

ANA, BEN = "U0ANA00001", "U0BEN00001"
THREAD = "#thread .timeline"
LAST = f"{THREAD} .message:last-of-type"


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as emulator:
        yield emulator


@pytest.fixture
def page(browser: Page, slack: SlackEmulator) -> Iterator[Page]:
    """As Ana, at a desk; whatever the browser complains of fails the test."""
    browser.desktop()
    browser.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": slack.base_url, "storageTypes": "all"})
    browser.open(f"{slack.page_url}archives/C0INCIDENT?as={ANA}")
    yield browser
    assert browser.complaints() == []


def post_as_app(slack: SlackEmulator, **arguments: Any) -> str:
    headers = {"Authorization": f"Bearer {slack.bot_token}", "Content-Type": "application/json"}
    asked = urllib.request.Request(f"{slack.api_url}chat.postMessage", json.dumps(arguments).encode(), headers)
    with urllib.request.urlopen(asked) as answer:
        told = json.load(answer)
    assert told["ok"], told
    return str(told["ts"])


def message(ts: str) -> str:
    return f".timeline [data-ts='{ts}']"


def test_what_others_post_appears_and_what_is_typed_mentions_the_app(page: Page, slack: SlackEmulator) -> None:
    slack.post("incidents", "ben", "is *checkout* slow &lt;again&gt;?")
    page.reads("#place .timeline", "Ben Wu", "is checkout slow <again>?")
    page.say("@proofthread why <5 & late?")
    page.reads("#place .timeline", "@Proofthread why <5 & late?")
    assert slack.messages("incidents")[-1]["text"] == "<@U0BOT> why &lt;5 &amp; late?"


def test_a_mention_streams_into_its_thread_with_buttons_that_work(page: Page, slack: SlackEmulator) -> None:
    with small_bot(slack) as bot:
        page.say("@proofthread why 504?")
        page.reads(THREAD, "Looking", "query_logs checkout-service")
        page.css(f"{THREAD} [data-task=t1][data-status=in_progress]")
        bot.go_on.set()
        page.reads(THREAD, "checkout-service waits for order-service.", "Useful")
        page.gone(f"{THREAD} .streaming")
        assert page.css(f"{THREAD} code").text == "order-service"
        page.css(f"{THREAD} .block-plan summary").click()
        page.reads(f"{THREAD} [data-task=t1][data-status=complete]", "19 lines")

        page.select(f"{THREAD} [data-action-id=pick]", "1440")
        page.button(THREAD, "Useful")
        page.reads(f"{THREAD} .whisper, #place .whisper", "Only visible to you", "Thank you.")
        assert page.css("[data-vote=positive]").get_attribute("aria-pressed") == "true"
        page.until(lambda: ("pick", "1440") in bot.heard, lambda: f"{bot.heard}")
        assert ("feedback", "run-1:useful", ANA) in bot.heard
        assert slack.refused == []


def test_a_modal_is_opened_filled_turned_and_stacked(page: Page, slack: SlackEmulator) -> None:
    ts = post_as_app(slack, channel="C0INCIDENT", text="answer", blocks=[BUTTONS])
    with small_bot(slack):
        page.button(message(ts), "Evidence")
        page.reads("#modal", "Evidence", "Page 1: level=ERROR count=19")
        page.button("#modal", "Next")
        page.reads("#modal", "Page 2")
        page.button("#modal", "Deeper")
        page.reads("#modal", "The whole line.")
        page.press("#modal [aria-label=Back]")
        page.reads("#modal", "Page 2")
        page.button("#modal", "Close")
        page.gone("#modal")
    assert slack.views("ana") == []


def test_a_form_tells_what_is_missing_and_what_the_app_refuses(page: Page, slack: SlackEmulator) -> None:
    ts = post_as_app(slack, channel="C0INCIDENT", text="answer", blocks=[BUTTONS])
    with small_bot(slack) as bot:
        page.button(message(ts), "Form")
        page.reads("#modal", "What was wrong?", "Whom to ask? (optional)")
        page.button("#modal", "Send")
        page.reads("#modal", "Please complete this required field.")
        page.type("#modal [data-action-id=reason]", "no")
        page.select("#modal [data-action-id=person]", BEN)
        page.press("#modal input[value=evidence]")
        page.button("#modal", "Send")
        page.reads("#modal", "Say a little more.")
        page.type("#modal [data-action-id=reason]", "t the service")
        page.button("#modal", "Send")
        page.gone("#modal")
        assert ("form", "not the service", BEN, "evidence") in bot.heard


def test_reactions_are_added_and_taken_back(page: Page, slack: SlackEmulator) -> None:
    ts = slack.post("incidents", "ben", "look")
    page.point_at(message(ts))
    page.press(f"{message(ts)} [data-react='+1']")
    page.reads(f"{message(ts)} [data-reaction='+1'][aria-pressed=true]", "👍", "1")
    slack.react("incidents", ts, "ben", "+1")
    page.reads(f"{message(ts)} [data-reaction='+1']", "2")
    page.press(f"{message(ts)} [data-reaction='+1']")
    page.reads(f"{message(ts)} [data-reaction='+1'][aria-pressed=false]", "1")
    page.point_at(message(ts))
    page.press(f"{message(ts)} summary[aria-label=React]")
    page.type(f"{message(ts)} .picker input", "✅", send=False)
    page.type(f"{message(ts)} .picker input", "\n")
    page.css(f"{message(ts)} [data-reaction=white_check_mark]")
    given = slack.messages("incidents")[0]["reactions"]
    assert {each["name"]: each["users"] for each in given} == {"+1": [BEN], "white_check_mark": [ANA]}


def test_each_person_sees_what_is_theirs(page: Page, slack: SlackEmulator) -> None:
    with small_bot(slack) as bot:
        page.say("/proofthread help")
        page.reads("#place .whisper", "Only visible to you", "You said help")
        page.reads("#side", "war-room")
        page.select("#who", BEN)
        page.gone("#place .whisper")
        page.reads_no_more("#side", "war-room")

        page.press("[data-app=home]")
        page.reads("#place", "Recent runs")
        page.button("#place", "Again")
        page.button("#place", "Messages")
        page.say("hello")
        page.reads("#place .timeline", "Ben Wu", "hello")
        page.until(lambda: ("again",) in bot.heard and ("message", None) in bot.heard, lambda: f"{bot.heard}")
    assert slack.messages(slack.open_dm("ben"))[0]["text"] == "hello"


def test_edited_deleted_and_shortcut(page: Page, slack: SlackEmulator) -> None:
    slack.install({
        "features": {"shortcuts": [{"type": "message", "callback_id": "diagnose_message", "name": "Diagnose this message"}]},
        "oauth_config": {"scopes": {"bot": sorted(slack.behaviour.scopes)}},
    })  # fmt: skip
    page.open(f"{slack.page_url}archives/C0INCIDENT?as={ANA}")
    with small_bot(slack) as bot:
        page.say("frist")
        ts = page.until(lambda: slack.messages("incidents"), "nothing posted")[0]["ts"]
        page.point_at(message(ts))
        page.press(f"{message(ts)} summary[aria-label=More]")
        page.button(message(ts), "Edit")
        box = page.css("#place .composer > textarea")
        box.clear()
        page.say("first")
        page.reads(message(ts), "first", "(edited)")
        page.point_at(message(ts))
        page.press(f"{message(ts)} summary[aria-label=More]")
        page.button(message(ts), "Diagnose this message")
        page.until(lambda: ("shortcut", "first") in bot.heard, lambda: f"{bot.heard}")

        reply = slack.post("incidents", "ben", "a reply", thread_ts=ts)
        page.reads(message(ts), "1 reply")
        slack.delete("incidents", ts)
        page.reads(message(ts), "This message was deleted.")
        slack.delete("incidents", reply)
        page.reads_no_more(message(ts), "1 reply")


def test_an_alert_sender_posts_its_own_form(page: Page, slack: SlackEmulator) -> None:
    page.select("#place .post-as", "alert")
    page.press("#place .send")
    page.reads("#place .timeline", "Alertmanager", "APP", "[FIRING:1] CheckoutSlow")
    posted = slack.messages("incidents")[0]
    assert posted["subtype"] == "bot_message"
    assert posted["attachments"][0]["color"] == "danger"


def test_a_channel_with_news_stands_out_and_a_mention_of_me_pops_up(page: Page, slack: SlackEmulator) -> None:
    slack.post("alerts", "ben", f"<@{ANA}> look at this")
    page.reads("#side [data-channel=C0ALERTS01].new", "alerts", "1")
    page.reads("#toasts", "#alerts", "@Ana Ruiz look at this")
    page.press("#side [data-channel=C0ALERTS01]")
    page.reads("#place .timeline", "look at this")
    page.gone("#side .new")


def test_text_stays_text_and_nothing_is_fetched_elsewhere(page: Page, slack: SlackEmulator) -> None:
    slack.post("incidents", "ben", "<img src=x onerror=alert(1)> <javascript:alert(1)|click> <https://evil.example|fine>")
    picture = {"type": "image", "image_url": "https://evil.example/x.png", "alt_text": "a chart"}
    post_as_app(slack, channel="C0INCIDENT", text="picture", blocks=[picture])
    page.reads("#place .timeline", "a chart", "fine")
    targets = [each.get_attribute("href") for each in page.driver.find_elements("css selector", ".timeline a")]
    fetched = page.driver.execute_script("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert targets == ["https://evil.example/"]
    assert [each for each in fetched if not each.startswith(slack.base_url)] == []


def test_a_link_to_a_message_opens_its_thread_on_a_phone(browser: Page, slack: SlackEmulator) -> None:
    root = slack.post("incidents", "ana", "why?")
    reply = slack.post("incidents", "ben", "because", thread_ts=root)
    browser.phone()
    browser.open_at(f"{slack.page_url}archives/C0INCIDENT/p{reply.replace('.', '')}?as={ANA}", f"#thread [data-ts='{reply}']")
    browser.reads(THREAD, "why?", "1 reply", "because")
    browser.press("#thread [aria-label='Back to the channel']")
    browser.reads("#place .timeline", "why?")
    browser.gone("#thread")
    browser.press("#place [aria-label='Back to the channels']")
    browser.reads("#side", "incidents")
    assert browser.driver.execute_script("return document.documentElement.scrollWidth") <= 390


BLOCKS: list[dict[str, Any]] = [
    {"type": "header", "text": plain("A header :tada:")},
    {"type": "section", "text": {"type": "mrkdwn", "text": "*bold* `code`"}, "fields": [{"type": "mrkdwn", "text": "*Key*\nvalue"}]},
    {"type": "section", "text": plain("beside"), "accessory": button("Look", "look")},
    {"type": "divider"},
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "2.1 s"}]},
    {"type": "markdown", "text": "## A heading\n- [x] done\n- **one**\n  - two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\\*kept\\*"},
    {
        "type": "rich_text",
        "elements": [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "rich", "style": {"bold": True}}]},
            {"type": "rich_text_list", "style": "bullet", "elements": [{"type": "rich_text_section", "elements": [{"type": "emoji", "name": "fire"}]}]},
            {"type": "rich_text_quote", "elements": [{"type": "text", "text": "quoted"}]},
            {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "a\n  b"}]},
        ],
    },
    {"type": "plan", "title": "A plan", "tasks": [{"type": "task_card", "task_id": "1", "title": "A task", "status": "pending"}]},
    {"type": "task_card", "task_id": "2", "title": "A card alone", "status": "error"},
    {"type": "table", "rows": [[{"type": "raw_text", "text": "head"}], [{"type": "raw_text", "text": "cell"}]]},
    {"type": "container", "title": plain("A container"), "child_blocks": [{"type": "section", "text": plain("inside")}]},
    {"type": "card", "title": {"type": "mrkdwn", "text": "A *card*"}, "body": {"type": "mrkdwn", "text": "its body"}},
    {"type": "image", "image_url": "https://example.com/x.png", "alt_text": "a picture"},
    BUTTONS,
    FEEDBACK,
]  # fmt: skip


def test_every_block_that_is_sent_is_drawn(page: Page, slack: SlackEmulator) -> None:
    ts = post_as_app(slack, channel="C0INCIDENT", text="all", blocks=BLOCKS)
    page.reads(
        message(ts), "A header 🎉", "bold", "value", "Look", "2.1 s", "A heading", "done", "*kept*", "rich", "🔥", "quoted",
        "A plan", "A task", "A card alone", "cell", "A container", "inside", "its body", "a picture", "Evidence", "Useful",
    )  # fmt: skip
    assert page.driver.find_elements("css selector", ".unknown") == []
    assert page.css(f"{message(ts)} pre").text == "a\n  b"
