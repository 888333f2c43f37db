"""What a Slack message says, wherever it says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.slack.text import mentioned, message_text, read_markup

ALERTS = Path(__file__).parent.parent.parent.parent / "shared" / "alerts"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<@U0BOT> why slow?", "why slow?"),
        ("<@U0BOT|bot>why slow?", "why slow?"),
        ("ask <@U1|ana> or <@U2>", "ask @ana or @U2"),
        ("a &lt;b&gt; &amp; c", "a <b> & c"),
        ("see <https://x.example/a?b=1&amp;c=2|the board>", "see the board (https://x.example/a?b=1&c=2)"),
        ("see <https://x.example>", "see https://x.example"),
        ("<http://checkout.example|checkout.example> is down", "checkout.example is down"),
        ("in <#C1|alerts> and <#C2>", "in #alerts and #C2"),
        ("<!here> <!channel> <!subteam^S1|@oncall>", "@here @channel @oncall"),
        ("<!date^1796000000^{date}|Monday>", "Monday"),
        ("`if (a<b) {}` <", "`if (a<b) {}` <"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_markup_is_read_as_a_person_reads_it(written: str, read: str) -> None:
    assert read_markup(written, without="U0BOT") == read


def test_mentions_are_found_in_order() -> None:
    assert mentioned("<@U1> and <@W2|b> <@U1>") == ("U1", "W2", "U1")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("01_alertmanager_default_firing.json", ["[FIRING:1] HighErrorRate (checkout shop critical)"]),
        ("21_uptimekuma_down.json", ["[Login page] [🔴 Down] Request failed with status code 503 @channel", "Time (UTC)"]),
        ("27_gatus_triggered.json", ["An alert for *core/payments-api* has been triggered", "Condition results", "(502) == 200"]),
        ("30_sentry_issue.json", ["TimeoutError: pool exhausted after 30s", "QueuePool limit of size 20", "orders.repo in fetch_order"]),
        ("46_attachment_only_fallback.json", ["CRITICAL: ping loss 100% on gw-2 since 08:05Z"]),
    ],
)
def test_an_alert_is_read_wherever_its_sender_puts_it(name: str, words: list[str]) -> None:
    if not ALERTS.is_dir():
        pytest.skip("the alert fixtures lie beside the clone")
    text = message_text(json.loads((ALERTS / name).read_text(encoding="utf-8"))["event"])
    assert [each for each in words if each not in text] == []
    assert "[no preview available]" not in text
    lines = text.splitlines()
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("file", sorted(ALERTS.glob("*.json")) if ALERTS.is_dir() else [], ids=lambda file: file.stem)
def test_no_fixture_of_an_alert_is_silent(file: Path) -> None:
    event = json.loads(file.read_text(encoding="utf-8"))["event"]
    message = event.get("message", event)
    assert message_text(message).strip() or event.get("subtype") in ("message_deleted", "channel_join")


@pytest.mark.parametrize("value", [None, 3, "x", [], {"type": "section"}, [{"text": {"text": None}}], [["x"]], [{"elements": {}}]])
def test_odd_blocks_do_no_harm(value: object) -> None:
    assert isinstance(message_text({"text": "", "blocks": value, "attachments": value, "files": value}), str)


def test_a_person_s_words_are_told_once_though_blocks_repeat_them() -> None:
    typed = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "why?"}]}]}
    assert message_text({"text": "why?", "blocks": [typed], "files": [{"name": "a.log"}]}) == "why?\n[file a.log]"
