"""`doctor` on Slack: what it says of tokens, scopes and channels, and of each payload that Slack would refuse."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from slack_bot import SCHEMA
from whole_bot import environment_for, loaded_for

from bot.app import App, open_app
from bot.cli import run
from bot.doctor.slack import payloads, slack
from bot.doctor.systems import Finding
from bot.emulator.slack import SlackEmulator
from bot.manifest import manifest
from bot.slack.validator import Problem


@asynccontextmanager
async def opened(emulator: SlackEmulator, folder: Path, **settings: Any) -> AsyncIterator[App]:
    async with open_app(loaded_for(emulator, folder, **settings)) as app:
        yield app


def named(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


async def test_a_good_setting_up_is_said_to_be_good(tmp_path: Path) -> None:
    with SlackEmulator() as emulator:
        emulator.install(manifest())
        async with opened(emulator, tmp_path) as app:
            findings = await slack(app)
        assert [(finding.name, finding.state) for finding in findings] == [
            ("slack", "ok"),
            ("events", "ok"),
            ("channels", "ok"),
            ("alerts", "off"),
        ]
        assert "Loopback" in findings[0].detail
        assert emulator.sockets == 0


async def test_without_a_token_slack_is_off(tmp_path: Path) -> None:
    with SlackEmulator() as emulator:
        async with opened(emulator, tmp_path, slack_bot_token=None) as app:
            assert [finding.state for finding in await slack(app)] == ["off"]
            asked = await payloads(app)
    assert [(finding.state, "slack_bot_token" in finding.detail) for finding in asked] == [("fail", True)]


async def test_a_missing_scope_is_named_with_what_it_costs(tmp_path: Path) -> None:
    with SlackEmulator() as emulator:
        emulator.install(manifest())
        emulator.behaviour.scopes.discard("reactions:write")
        async with opened(emulator, tmp_path) as app:
            found = named(await slack(app))["slack"]
    assert found.state == "warn"
    assert "reactions:write (a question is not marked as seen" in found.advice
    assert "proofthread manifest" in found.advice


@pytest.mark.parametrize(
    ("settings", "name", "said"),
    [
        ({"slack_bot_token": "xoxb-wrong"}, "slack", "slack_bot_token"),
        ({"slack_app_token": "xapp-wrong"}, "events", "slack_app_token"),
        ({"slack_app_token": None, "slack_signing_secret": None}, "events", "no token"),
        ({"slack_api_url": "slack.com"}, "slack", "slack_api_url"),
        ({"slack_api_url": "http://127.0.0.1:9/api/"}, "slack", "cannot be reached"),
    ],
)
async def test_what_is_wrong_is_named(tmp_path: Path, settings: dict[str, Any], name: str, said: str) -> None:
    with SlackEmulator() as emulator:
        async with opened(emulator, tmp_path, **settings) as app:
            found = named(await slack(app))[name]
    assert found.state == "fail"
    assert said in found.detail


async def test_a_listed_channel_that_the_bot_is_not_in_is_named(tmp_path: Path) -> None:
    with SlackEmulator() as emulator:
        async with opened(emulator, tmp_path, slack_channels=("C0GONE123",)) as app:
            found = named(await slack(app))["channels"]
    assert found.state == "warn"
    assert "C0GONE123: does not exist" in found.advice


async def test_slack_takes_every_kind_of_payload(tmp_path: Path) -> None:
    with SlackEmulator(schema=SCHEMA) as emulator:
        async with opened(emulator, tmp_path) as app:
            findings = await payloads(app)
        assert [finding.state for finding in findings] == ["ok"], findings
        sent = emulator.calls("blocks.validate")
        assert f"{len(sent)} of {len(sent)} kinds" in findings[0].detail


def no_reasons(_: str, arguments: Mapping[str, Any]) -> list[Problem]:
    """A rule that Slack might make and we do not know."""
    view = arguments.get("view")
    wrong = isinstance(view, dict) and view["callback_id"] == "why_not"
    return [Problem("/view/blocks/0", "is no longer taken"), Problem("/view/submit", "is too polite")] if wrong else []


async def test_each_refusal_is_told_with_its_pointer(tmp_path: Path) -> None:
    with SlackEmulator(checks=(no_reasons,)) as emulator:
        async with opened(emulator, tmp_path) as app:
            summary, *refused = await payloads(app)
        kinds = len(emulator.calls("blocks.validate"))
    assert (summary.state, f"{kinds - 1} of {kinds}" in summary.detail) == ("fail", True)
    assert [(finding.name, finding.state, finding.detail) for finding in refused] == [
        ("view_why_not", "fail", "/view/blocks/0: is no longer taken"),
        ("view_why_not", "fail", "/view/submit: is too polite"),
    ]


async def test_a_token_that_slack_refuses_is_no_fault_of_a_payload(tmp_path: Path) -> None:
    with SlackEmulator() as emulator:
        async with opened(emulator, tmp_path, slack_bot_token="xoxb-wrong") as app:
            findings = await payloads(app)
    assert [(finding.state, "invalid_auth" in finding.detail) for finding in findings] == [("fail", True)]


@pytest.mark.parametrize(("faulty", "code"), [(False, 0), (True, 2)])
def test_the_command_ends_with_what_slack_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], faulty: bool, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    with SlackEmulator() as emulator:
        emulator.install(manifest())
        (tmp_path / "app.log").write_text("2026-11-30T09:00:00Z INFO order-service started\n")
        for name, value in environment_for(emulator, tmp_path).items():
            monkeypatch.setenv(name, value)
        if faulty:
            emulator.fail("blocks.validate", error="invalid_blocks", times=1)
        assert run(["doctor", "--slack"]) == code
    out, err = capsys.readouterr()
    assert "payloads" in out
    assert "Traceback" not in out + err
