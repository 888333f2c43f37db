"""App Home: what happened where a person can read, what the bot may read, and what is missing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from answered_bot import Partly, answered_bot
from pydantic import SecretStr
from slack_worker import emulator

from bot.app import open_app, prepare
from bot.blocks.home import HomeModel
from bot.doctor.health import Health
from bot.doctor.systems import Finding, State, sources
from bot.home.facts import facts_for, home_of
from bot.home.sources import KNOWN
from bot.settings import load_settings
from storage.engine import Database

ANA, BEN, GUEST = "U0ANA00001", "U0BEN00001", "U0GUEST001"
FOUND = (
    Finding(name="logs", state="ok", detail="3 files of 2 services"),
    Finding(name="metrics", state="fail", detail="no answer", advice="Start Prometheus."),
    Finding(name="changes", state="off", detail="not configured", advice="Set changes_file to use it."),
)


async def test_home_shows_runs_verdicts_votes_and_open_questions(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask()
            await bot.vote(answer, "useful")
            slack.open_home("ana")
            await slack.wait_for(lambda: slack.home("ana"))
            shown = str(slack.home("ana"))
            assert "why is checkout slow?" in shown
            assert "No traces were available" in shown
            assert "100 %" in shown
            assert "nothing leaves this server" in shown
            assert slack.refused == []


async def test_each_person_sees_only_what_they_can_read(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            await bot.ask("why is the secret project slow?", channel="war-room")
            await bot.ask()
            seen = {user: [run.question for run in (await facts_for(bot.desk, user, "en")).runs] for user in (ANA, BEN)}
            assert seen == {
                ANA: ["why is checkout slow?", "why is the secret project slow?"],
                BEN: ["why is checkout slow?"],
            }
            assert (await facts_for(bot.desk, BEN, "en")).verdicts == {"PASS": 1}


async def test_a_direct_message_is_between_two(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            direct = slack.open_dm("ana")
            await bot.answer(direct, slack.post(direct, "ana", "why is checkout slow?"))
            assert len((await facts_for(bot.desk, ANA, "en")).runs) == 1
            assert (await facts_for(bot.desk, BEN, "en")).runs == []


async def test_a_guest_is_told_why_there_is_nothing(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            await bot.ask()
            shown = str(await home_of(bot.desk, GUEST))
            assert "Guests of this workspace" in shown
            assert "checkout" not in shown


async def test_it_says_what_may_be_read_where_it_answers_and_where_questions_go(sqlite_database: Database) -> None:
    settings = {
        "model": "qwen3",
        "base_url": "http://vllm.internal:8000/v1",
        "api_key": SecretStr("sk-secret"),
        "slack_channels": ("C0INCIDENT", "G0PRIVATE1"),
        "daily_tokens": 1000,
        "alert_channels": ("C0ALERTS01",),
    }
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            desk = replace(bot.desk, health=_found, settings=bot.desk.settings.model_copy(update=settings))
            facts = await facts_for(desk, BEN, "en")
            assert [(one.name, one.healthy) for one in facts.sources] == [("logs", True), ("metrics", False), ("changes", None)]
            assert facts.hints == ["metrics: start Prometheus or correct prometheus_url; `proofthread doctor` says more."]
            assert facts.alerts == ["#alerts: open incidents: 0"]
            assert facts.channels == ["#incidents", "1 more that you cannot read"]
            shown = str(await home_of(desk, BEN))
            assert facts.model == HomeModel("qwen3", "vllm.internal")
            assert "sk-secret" not in shown


async def test_a_chinese_home_has_no_english_line_and_no_path_of_the_server(sqlite_database: Database, tmp_path: Path) -> None:
    changes = tmp_path / "deploys.jsonl"
    changes.write_text("", encoding="utf-8")
    logs = tmp_path / "logs" / "checkout"
    logs.mkdir(parents=True)
    (logs / "app.log").write_text("2026-11-30T08:00:00Z INFO ready\n", encoding="utf-8")
    given = {"logs_roots": str(tmp_path / "logs"), "changes_file": str(changes), "prometheus_url": "http://127.0.0.1:9/prom"}
    loaded = load_settings({f"PROOFTHREAD_{key.upper()}": value for key, value in given.items()}, tmp_path)
    async with open_app(loaded) as app:
        await prepare(app)
        findings = await sources(app)

    async def found() -> Sequence[Finding]:
        return findings

    with emulator() as slack:
        slack.behaviour.scopes = set(slack.behaviour.scopes) - {"reactions:read"}
        async with answered_bot(slack, sqlite_database) as bot:
            facts = await facts_for(replace(bot.desk, health=found), BEN, "zh")
    told = {one.name: one.detail for one in facts.sources}
    assert set(told) == {"日志", "指标", "变更", "业务数据", "知识库"}
    assert told["变更"] == "deploys.jsonl"
    assert told["日志"].startswith("1 个服务的 1 个文件，最后写入 ")
    assert told["指标"] == "目前无法读取"
    lines = [*told.values(), *facts.hints]
    assert not [line for line in lines if str(tmp_path) in line or "127.0.0.1" in line]
    assert not [line for line in facts.hints if not re.search(r"[\u4e00-\u9fff]{2}", line)]
    assert any("表情投票不计入" in line for line in facts.hints)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_source_in_every_state_has_its_words(sqlite_database: Database, language: str) -> None:
    named = [(name, state) for name in (*KNOWN, "of somebody else") for state in get_args(State)]

    async def found() -> Sequence[Finding]:
        return [Finding(name=name, state=state, detail="/srv/secret/place") for name, state in named]

    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            facts = await facts_for(replace(bot.desk, health=found), BEN, language)
    assert "/srv/secret" not in str(facts)
    assert len(facts.sources) == len(named)


async def test_it_says_how_to_begin_where_no_alerts_are_watched(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            facts = await facts_for(bot.desk, BEN, "zh")
            assert facts.alerts == []
            assert "/proofthread watch" in facts.hints[-1]


async def test_a_watched_private_channel_is_named_to_its_members_alone(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            await bot.desk.alert_channels.watch("G0PRIVATE1", ANA, watched=True)
            seen = {user: (await facts_for(bot.desk, user, "en")).alerts for user in (ANA, BEN)}
            assert seen == {ANA: ["#war-room: open incidents: 0"], BEN: []}


async def _found() -> Sequence[Finding]:
    return FOUND


async def test_what_is_missing_to_set_it_up_comes_as_hints(sqlite_database: Database) -> None:
    with emulator() as slack:
        slack.behaviour.scopes = set(slack.behaviour.scopes) - {"reactions:read"}
        async with answered_bot(slack, sqlite_database) as bot:

            async def nothing() -> Sequence[Finding]:
                return [Finding(name="logs", state="off", detail="not configured")]

            hints = (await facts_for(replace(bot.desk, health=nothing), ANA, "en")).hints
            assert any("reactions:read" in hint for hint in hints)
            assert any("nothing about your system can be proven" in hint for hint in hints)


async def test_the_messages_tab_publishes_no_home(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            slack.open_home("ana", "messages")
            await bot.settled()
            assert slack.home("ana") is None


async def test_sources_are_asked_once_a_minute_and_one_that_hangs_is_not_waited_for() -> None:
    now, asked, hangs = [0.0], [0], asyncio.Event()

    async def look() -> Sequence[Finding]:
        asked[0] += 1
        if asked[0] == 2:
            await hangs.wait()
        return FOUND[: asked[0]]

    health = Health(look, lambda: now[0], patience=0.01)
    assert len(await health()) == len(await health()) == asked[0] == 1
    now[0] = 61.0
    assert len(await health()) == 1
    hangs.set()
    assert len(await health()) == 2
    assert asked == [2]
