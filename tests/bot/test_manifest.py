"""The app's manifest: it makes an app that the bot works with, and asks for no more than is used."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bot.cli import run, terminal
from bot.desk import load_talk
from bot.emulator.slack import Behaviour
from bot.manifest import COMMAND, SHORTCUT, manifest
from bot.slack.identity import scopes

LIMITS = {"name": 35, "description": 140}


def test_the_app_is_an_agent_over_socket_mode() -> None:
    made = manifest()
    assert made["features"]["agent_view"]["suggested_prompts"]
    assert made["features"]["app_home"] == {
        "home_tab_enabled": True, "messages_tab_enabled": True, "messages_tab_read_only_enabled": False,
    }  # fmt: skip
    assert made["settings"]["socket_mode_enabled"] is True
    assert "request_url" not in json.dumps(made)


def test_scopes_and_events_are_those_that_are_used() -> None:
    made = manifest()
    assert made["oauth_config"]["scopes"] == {"bot": [scope.name for scope in scopes()]}
    assert set(made["oauth_config"]["scopes"]["bot"]) <= Behaviour().scopes
    assert set(made["settings"]["event_subscriptions"]["bot_events"]) <= Behaviour().subscriptions
    assert len(set(made["oauth_config"]["scopes"]["bot"])) == len(made["oauth_config"]["scopes"]["bot"])


def test_the_names_are_those_that_listeners_know() -> None:
    features = manifest()["features"]
    assert [each["command"] for each in features["slash_commands"]] == [COMMAND]
    assert [each["callback_id"] for each in features["shortcuts"]] == [SHORTCUT]


def test_mention_only_hears_no_channel_messages() -> None:
    events = manifest(mention_only=True)["settings"]["event_subscriptions"]["bot_events"]
    assert "app_mention" in events
    assert [name for name in events if name.startswith("message.")] == ["message.im"]


def test_over_http_every_address_is_ours() -> None:
    made = manifest(url="https://bot.example.com/")
    address = "https://bot.example.com/slack/events"
    assert made["settings"]["socket_mode_enabled"] is False
    assert made["settings"]["event_subscriptions"]["request_url"] == address
    assert made["settings"]["interactivity"]["request_url"] == address
    assert made["features"]["slash_commands"][0]["url"] == address


def test_texts_are_as_long_as_slack_takes_them() -> None:
    made = manifest()
    assert len(made["display_information"]["name"]) <= LIMITS["name"]
    assert len(made["display_information"]["description"]) <= LIMITS["description"]
    assert len(made["features"]["shortcuts"][0]["name"]) <= 24
    assert len(made["features"]["shortcuts"][0]["description"]) <= 150


def test_the_command_prints_the_manifest_and_nothing_else() -> None:
    result = CliRunner().invoke(terminal(), ["manifest", "--mention-only", "--http", "https://bot.example.com"])
    assert json.loads(result.stdout) == manifest(mention_only=True, url="https://bot.example.com")


@pytest.mark.parametrize("url", ["bot.example.com", "http://bot.example.com", "https://", "ftp://x"])
def test_an_address_that_slack_cannot_reach_is_refused(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "--http", url]) == 2
    assert "https://bot.example.com" in "".join(capsys.readouterr().err.split("\n"))


def test_every_scope_says_what_is_lost_without_it() -> None:
    assert all(scope.without for scope in scopes())
    assert {scope.name for scope in scopes() if scope.required} == {"app_mentions:read", "chat:write"}


def test_the_fixed_words_are_the_same_in_both_languages() -> None:
    words = load_talk().by_language
    for name in words["en"]:
        assert set(words["en"][name].get_identifiers()) == set(words["zh"][name].get_identifiers()), name
