"""Incoming webhooks of the loopback Slack: what an alert sender may post there, and how Slack refuses the rest."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from bot.emulator.slack import SlackEmulator

ATTACHMENT = {"title": "[FIRING:1] CheckoutSlow", "color": "danger", "fallback": "CheckoutSlow", "text": ""}


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as emulator:
        yield emulator


def posted(url: str, body: object, content_type: str = "application/json") -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": content_type})
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_payload_becomes_a_bots_post_in_slacks_form(slack: SlackEmulator) -> None:
    url = slack.add_webhook("alerts", "alertmanager")
    assert posted(url, {"username": "AlertManager", "attachments": [ATTACHMENT]}) == (200, "ok")
    (message,) = slack.messages("alerts")
    assert (message["subtype"], message["username"]) == ("bot_message", "AlertManager")
    assert message["bot_id"] == url.split("/")[-2]
    assert message["attachments"] == [{**ATTACHMENT, "color": "a30200", "id": 1}]


def test_a_form_names_another_channel_and_keeps_the_hooks_own_name(slack: SlackEmulator) -> None:
    url = slack.add_webhook("alerts", "zabbix")
    body = urlencode({"payload": json.dumps({"channel": "#incidents", "text": "PROBLEM"})}).encode()
    assert posted(url, body, "application/x-www-form-urlencoded") == (200, "ok")
    (message,) = slack.messages("incidents")
    assert (message["username"], message["text"]) == ("zabbix", "PROBLEM")


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"{not json", 400, "invalid_payload"),
        (b"[1]", 400, "invalid_payload"),
        ({"text": "", "attachments": []}, 400, "no_text"),
        ({"text": "x", "channel": "#nowhere"}, 404, "channel_not_found"),
        ({"text": "x", "channel": "archived"}, 410, "channel_is_archived"),
        ({"attachments": "x"}, 400, "invalid_attachments"),
        ({"attachments": [ATTACHMENT] * 101}, 400, "too_many_attachments"),
        ({"blocks": [{"type": "section"}]}, 400, "invalid_blocks"),
    ],
)
def test_what_slack_refuses_is_refused_in_its_words(slack: SlackEmulator, body: Any, status: int, word: str) -> None:
    assert posted(slack.add_webhook("alerts"), body) == (status, word)
    assert slack.messages("alerts") == []


def test_an_address_that_nobody_was_given_takes_nothing(slack: SlackEmulator) -> None:
    url = slack.add_webhook("alerts")
    head, bot, secret = url.rsplit("/", 2)
    assert posted(f"{head}/{bot}/wrong", {"text": "x"}) == (403, "invalid_token")
    assert posted(f"{head}/B0NOBODY00/{secret}", {"text": "x"}) == (404, "no_service")
    assert posted(url.replace("/T0EMU/", "/T0OTHER/"), {"text": "x"}) == (404, "no_team")
