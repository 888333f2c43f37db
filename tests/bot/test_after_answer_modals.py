"""Evidence and trace, opened at once and filled, for those who can read the channel; Stop."""

from __future__ import annotations

import pytest
from answered_bot import WHERE, Partly, answered_bot
from slack_worker import Incident, emulator
from small_incident import LOOK_UPS, POOL_LINE, looks

from agents.llm.base import ModelRequest
from agents.llm.scripted import Turn
from bot.buttons.clicks import Denied, about
from storage.engine import Database
from storage.retention import Retention


class WithManyLookUps(Incident):
    """Asks about many services before it looks at the right ones."""

    def _turn(self, request: ModelRequest) -> Turn:
        if request.role == "executor" and not request.exchanges:
            others = [("query_logs", f"{'very-long-name-of-a-' * 40}service-{number}") for number in range(14)]
            first = [(call.name, call.arguments["service"]) for call in LOOK_UPS.tool_calls]
            return looks(*first, *others)
        return super()._turn(request)


async def test_the_evidence_opens_as_loading_and_then_shows_the_lines(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            await bot.click(answer, "evidence")
            assert "Loading" in str(slack.calls("views.open")[0]["view"])
            shown = str(bot.modal()["blocks"])
            assert "HikariPool-1 Connection is not available" in shown
            assert POOL_LINE[:19] in shown
            assert bot.modal()["callback_id"] == "evidence"
            assert slack.refused == []


async def test_the_trace_shows_the_way_and_the_calls(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            await bot.click(await bot.ask(), "trace", "ben")
            shown = str(bot.modal("ben")["blocks"])
            assert "query_metrics" in shown
            assert "PLANNER" in shown
            assert slack.refused == []


async def test_the_evidence_of_a_private_channel_stays_with_its_members(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            private = await bot.ask(channel="war-room")
            public = await bot.ask()
            # The value of a button is no secret: a forged one may name another channel's run.
            with pytest.raises(Denied, match="not_readable"):
                await about(bot.desk, "U0BEN00001", private.run.run_id)
            assert (await about(bot.desk, "U0ANA00001", private.run.run_id)).run.run_id == private.run.run_id
            assert (await about(bot.desk, "U0BEN00001", public.run.run_id)).run.run_id == public.run.run_id


async def test_a_guest_sees_why_instead_of_the_evidence(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            await bot.click(await bot.ask(), "evidence", "guest")
            shown = str(bot.modal("guest")["blocks"])
            assert "Guests of this workspace" in shown
            assert "HikariPool" not in shown


async def test_the_evidence_of_a_deleted_run_is_gone(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database) as bot:
            answer = await bot.ask()
            Retention(sqlite_database).purge_run(answer.run.run_id)
            for button in ("evidence", "trace"):
                await bot.click(answer, button)
                assert "no longer stored" in str(bot.modal()["blocks"])


async def test_slacks_own_stop_ends_the_run_with_what_is_proven(sqlite_database: Database) -> None:
    model = Incident(waits_in="composer")
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, model) as bot:
            ts = slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?")
            await model.waiting.wait()
            slack.stop(WHERE, ts, "ana")
            answer = await bot.answer(WHERE, ts)
            assert answer.run.status == "CANCELLED"
            assert "HikariPool-1" in str(answer.message["blocks"])


async def test_our_stop_button_ends_the_run(sqlite_database: Database) -> None:
    model = Incident(waits_in="composer")
    with emulator() as slack:
        slack.behaviour.scopes = set(slack.behaviour.scopes) - {"assistant:write"}
        async with answered_bot(slack, sqlite_database, model) as bot:
            ts = slack.post(WHERE, "ana", f"{slack.mention} why is checkout slow?")
            await model.waiting.wait()
            progress = await slack.wait_for(
                lambda: next((each for each in slack.messages(WHERE, ts) if "'stop'" in str(each.get("blocks"))), None)
            )
            slack.click(WHERE, progress["ts"], "stop", "ana")
            assert (await bot.answer(WHERE, ts)).run.status == "CANCELLED"


async def test_a_long_trace_is_turned_page_by_page(sqlite_database: Database) -> None:
    with emulator() as slack:
        async with answered_bot(slack, sqlite_database, WithManyLookUps()) as bot:
            answer = await bot.ask()
            await bot.click(answer, "trace")
            assert "Page 1" in str(bot.modal()["blocks"])
            slack.click_view(bot.modal()["id"], "trace_next", "ana")
            await bot.settled()
            assert "Page 2" in str(bot.modal()["blocks"])
            slack.click_view(bot.modal()["id"], "trace_previous", "ana")
            await bot.settled()
            assert "Page 1" in str(bot.modal()["blocks"])
            assert slack.refused == []


async def test_without_the_scopes_to_look_members_up_who_clicks_in_a_channel_reads_it(sqlite_database: Database) -> None:
    with emulator() as slack:
        slack.behaviour.scopes = set(slack.behaviour.scopes) - {"channels:read", "groups:read", "im:read", "mpim:read"}
        async with answered_bot(slack, sqlite_database, Partly()) as bot:
            answer = await bot.ask()
            with pytest.raises(Denied, match="not_readable"):
                await about(bot.desk, "U0BEN00001", answer.run.run_id)
            await bot.click(answer, "ask_someone")
            await bot.submit({"person": "U0BEN00001", "question": "well?"})
            assert any("asks <@U0BEN00001>" in each.get("text", "") for each in slack.messages(WHERE, answer.thread_ts))
