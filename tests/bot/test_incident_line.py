"""What an incident's thread shows, and that it shows it once: against the loopback Slack, on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from alert_posts import START, Channel, ends, fires
from slack_worker import CHANNEL, emulator

from agents.replies import Replies
from bot.blocks.incident import IncidentView, incident_line, incident_words, reaction_of
from bot.blocks.reader import Reader
from bot.data import data_folder
from bot.emulator.slack import SlackEmulator
from bot.incidents.intake import Intake
from bot.slack.client import SlackAccess, SlackCalls, open_slack
from bot.slack.turns import ChannelTurns
from bot.triaging.line import IncidentTeller, TellerTimes, Telling
from bot.triaging.told_thread import EVENT_TYPE
from storage.engine import Database
from storage.incidents import Incident, IncidentStore

QUICK = TellerTimes(poll=0.02, busy=0.0, edit_pace=0.0, reaction_pace=0.0, rest=0.0, retry=0.0, settle=0.0, heal=0.0)
BOT = "U0BOT"


def reader(language: str = "en", zone: str = "UTC") -> Reader:
    return Reader(incident_words(Replies.load(data_folder("prompts") / "replies")), language, ZoneInfo(zone))


@dataclass
class Told:
    """One alert channel in the loopback Slack, and a teller."""

    slack: SlackEmulator
    store: IncidentStore
    channel: Channel
    teller: IncidentTeller
    root: str
    calls: SlackCalls
    database: Database

    def post(self, *alerts: Any, **more: Any) -> Incident:
        """Into the incident of the root."""
        taken = self.channel.post(*alerts, **more)
        assert taken[0].incident is not None
        return taken[0].incident

    def lines(self, root: str | None = None) -> list[str]:
        messages = self.slack.messages(CHANNEL, root or self.root)
        return [each["text"] for each in messages if each["ts"] != (root or self.root)]

    def reactions(self, root: str | None = None) -> list[str]:
        found = self.slack.message(CHANNEL, root or self.root) or {}
        return [each["name"] for each in found.get("reactions", ())]

    def another(self, owner: str, times: TellerTimes = QUICK) -> IncidentTeller:
        return IncidentTeller(self.calls, self.database, in_english, owner, times=times)


async def in_english(_: Incident, __: object) -> Telling:
    return Telling(reader())


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


@pytest.fixture
async def told(slack: SlackEmulator, database: Database) -> AsyncIterator[Told]:
    store, numbers = IncidentStore(database), count(1)
    channel = Channel(Intake(store, new_id=lambda: f"i{next(numbers)}"), channel=CHANNEL)
    access = SlackAccess(slack.bot_token, slack.api_url, timeout_seconds=5.0, post_gap=0.0, edit_gap=0.0)
    async with open_slack(access) as calls:
        teller = IncidentTeller(calls, database, in_english, "me", times=QUICK)
        root = slack.post(CHANNEL, "ana", "[FIRING:1] HighErrorRate")
        yield Told(slack, store, channel, teller, root, calls, database)


def looked_at(told: Told, verdict: str | None = None) -> None:
    told.store.attach_run("i1", 1, "r1")
    if verdict:
        told.store.ended("r1", verdict)


# ---------------------------------------------------------------- what is said


async def test_one_alert_that_is_looked_at_gets_a_reaction_and_no_word(told: Told) -> None:
    told.post(fires(), ts=told.root)
    looked_at(told)
    await told.teller.look()
    assert (told.lines(), told.reactions()) == ([], ["eyes"])


async def test_a_storm_is_one_line_that_is_edited(told: Told) -> None:
    told.post(fires("A", service="s"), ts=told.root)
    looked_at(told)
    for number in range(36):
        told.post(fires(f"B{number}", service="s"), at=number)
        await told.teller.look()
    assert told.lines() == ["37 alerts joined · all still firing · since 08:43 UTC"]
    for number in range(2, 36):
        told.post(ends(f"B{number}", service="s"), at=600 + number)
    await told.teller.look()
    (line,) = told.lines()
    assert line == "37 alerts joined · 3 still firing · since 08:43 UTC · over: B35 after 10 min, B34 after 10 min, B33 after 10 min, and 31 more"
    assert len(told.slack.calls("chat.postMessage")) == 1


async def test_what_is_not_looked_at_says_so_once(told: Told) -> None:
    told.post(fires(), ts=told.root)
    told.store.skipped("i1", 1, "tokens:warning")
    for _ in range(3):
        told.store.decide("T1", "C1", lambda book: book.save(book.incident("i1")))
        await told.teller.look()
    expected = "Firing · since 08:43 UTC · not looked at: daily budget for warnings spent; mention me to run it"
    assert (told.lines(), told.reactions()) == ([expected], ["zzz"])
    assert len(told.slack.calls("chat.update")) == 0


async def test_the_place_in_line_is_shown(told: Told) -> None:
    told.post(fires(), ts=told.root)
    for place, said in ((3, "number 3 in line"), (1, "next in line")):
        told.store.waits("i1", 1, place)
        await told.teller.look()
        assert told.lines() == [f"Firing · since 08:43 UTC · {said}"]
    looked_at(told)
    await told.teller.look()
    assert told.lines() == ["Firing · since 08:43 UTC"]


@pytest.mark.parametrize(
    ("verdict", "name"), [("PASS", "white_check_mark"), ("LOW_CONFID", "warning"), ("REJECT", "question")]
)
async def test_the_reaction_follows_the_state_and_is_the_only_one(told: Told, verdict: str, name: str) -> None:
    told.slack.react(CHANNEL, told.root, "ben", "eyes")
    told.post(fires(), ts=told.root)
    looked_at(told)
    await told.teller.look()
    told.store.ended("r1", verdict)
    await told.teller.look()
    assert sorted(told.reactions()) == sorted(["eyes", name])  # ben's own stays
    told.post(ends(), at=720)
    await told.teller.look()
    assert sorted(told.reactions()) == ["ballot_box_with_check", "eyes"]


async def test_an_end_says_how_long_it_lasted_and_what_was_true(told: Told) -> None:
    told.post(fires(value="97 %"), ts=told.root)
    looked_at(told, "PASS")
    told.post(ends(value="12 %"), at=720)
    await told.teller.look()
    (line,) = told.lines()
    assert "It lasted at least 12 min and" in line
    message = told.slack.messages(CHANNEL, told.root)[-1]
    assert "HighErrorRate: 12 %" in str(message["blocks"])


async def test_the_start_that_an_alert_states_counts_and_not_its_first_post(told: Told) -> None:
    began = {"starts_at": "2026-11-30T06:43:00Z"}
    told.post(fires().model_copy(update=began), ts=told.root)
    looked_at(told, "PASS")
    told.post(ends().model_copy(update=began), at=60)
    await told.teller.look()
    (said,) = told.lines()
    assert "It lasted 2 h 1 min and" in said


async def test_what_ended_before_anybody_looked_leaves_a_mark_and_no_word(told: Told) -> None:
    told.post(fires(), ts=told.root)
    told.post(ends(), at=9)
    await told.teller.look()
    assert (told.lines(), told.reactions()) == ([], ["ballot_box_with_check"])


async def test_flapping_and_a_new_start_are_named(told: Told) -> None:
    for number in range(4):
        told.post(fires(), at=120 * number, ts=told.root if number == 0 else None)
        if number == 0:
            looked_at(told, "PASS")
        if number < 3:
            told.post(ends(), at=120 * number + 60)
    await told.teller.look()
    (line,) = told.lines()
    assert line.startswith("Flapping: 3 new starts within half an hour · firing · since 08:49 UTC · start number 4")
    assert "the last report is fresh" in str(told.slack.messages(CHANNEL, told.root)[-1]["blocks"])
    assert told.reactions() == ["white_check_mark"]


async def test_an_incident_that_became_part_of_another_says_of_which(told: Told) -> None:
    told.post(fires("A", host="web-1"), ts=told.root)
    told.store.skipped("i1", 1, "hour:warning")
    await told.teller.look()
    other = told.slack.post(CHANNEL, "ana", "other")
    told.post(fires("B", service="checkout"), at=5, ts=other)
    told.store.attach_run("i2", 1, "r2")
    told.post(fires("C", service="checkout", host="web-1"), at=6)
    await told.teller.look()
    assert (told.lines(), told.reactions()) == (["Part of checkout: B"], ["heavy_plus_sign"])


async def test_chinese_for_a_chinese_channel(told: Told) -> None:
    async def in_chinese(_: Incident, __: object) -> Telling:
        return Telling(reader("zh", "Asia/Shanghai"))

    told.post(fires("订单超时", service="s"), fires("库存不足", service="s"), ts=told.root)
    told.store.skipped("i1", 1, "tokens:warning")
    await IncidentTeller(told.calls, told.database, in_chinese, "me", times=QUICK).look()
    assert told.lines() == [
        "已合并 2 条告警 · 全部仍在告警 · 自 16:43 CST (08:43 UTC) 起 · 未查看：今天用于警告的预算已用完；@我即可运行"
    ]


async def test_a_channel_on_trial_hears_nothing(told: Told) -> None:
    async def silent(_: Incident, __: object) -> Telling:
        return Telling(reader(), is_silent=True)

    told.post(fires(), fires("B"), ts=told.root)
    told.store.skipped("i1", 1, "hour:warning")
    assert await IncidentTeller(told.calls, told.database, silent, "me", times=QUICK).look() == 1
    assert (told.lines(), told.reactions(), told.store.dirty(9)) == ([], [], [])


async def test_what_stands_there_stays_true_in_a_quiet_time(told: Told) -> None:
    async def silent(_: Incident, __: object) -> Telling:
        return Telling(reader(), is_silent=True)

    told.post(fires(), fires("B"), ts=told.root)
    looked_at(told)
    await told.teller.look()
    told.post(ends(), ends("B"), at=60)
    await IncidentTeller(told.calls, told.database, silent, "me", times=QUICK).look()
    assert len(told.lines()) == 1
    assert "all still firing" not in told.lines()[0]
    assert told.reactions() == ["ballot_box_with_check"]


async def test_words_of_an_alert_ping_nobody(told: Told) -> None:
    nasty = "<!channel> *bold* <https://evil.example|click> " + "x" * 400
    told.post(fires(nasty, service="s"), fires("B", service="s"), ts=told.root)
    looked_at(told)
    told.post(ends(nasty, service="s"), at=60)
    await told.teller.look()
    (line,) = told.lines()
    assert "<!channel>" not in line
    assert len(line) <= 170
    assert told.slack.refused == []
    told.post(ends("B", service="s"), at=90)
    await told.teller.look()
    assert "<!channel>" not in told.lines()[0]
    assert told.slack.refused == []


# ---------------------------------------------------------------- once, whatever happens


async def test_a_line_whose_answer_was_lost_is_found_and_not_posted_again(told: Told) -> None:
    told.post(fires("A", service="s"), fires("B", service="s"), ts=told.root)
    looked_at(told)
    told.slack.fail("chat.postMessage", drop_reply=True)
    assert [await told.teller.look() for _ in range(2)] == [0, 1]
    assert len(told.lines()) == len(told.slack.calls("chat.postMessage")) == 1


async def test_a_teller_that_died_after_its_post_is_taken_over_without_a_second_one(told: Told) -> None:
    incident = told.post(fires("A", service="s"), fires("B", service="s"), ts=told.root)
    looked_at(told)
    assert told.store.take_telling("i1", "dead", -1)
    told.store.note_told("i1", "dead", {"posting": True, "reactions": ["eyes"]})
    payload = {"event_type": EVENT_TYPE, "event_payload": {"incident": incident.incident_id, "part": "line"}}
    await told.calls.call("chat.postMessage", channel=CHANNEL, thread_ts=told.root, text="old", metadata=payload)
    await told.calls.call("reactions.add", channel=CHANNEL, timestamp=told.root, name="eyes")
    await told.teller.look()
    assert (told.lines(), told.reactions()) == (["2 alerts joined · all still firing · since 08:43 UTC"], ["eyes"])


async def test_a_teller_that_died_before_its_post_is_taken_over(told: Told) -> None:
    told.post(fires("A", service="s"), fires("B", service="s"), ts=told.root)
    looked_at(told)
    told.store.take_telling("i1", "dead", -1)
    told.store.note_told("i1", "dead", {"posting": True})
    await told.teller.look()
    assert len(told.lines()) == 1


async def test_two_tellers_tell_once(told: Told) -> None:
    roots = [told.root, *(told.slack.post(CHANNEL, "ana", f"alert {number}") for number in range(5))]
    for number, root in enumerate(roots):
        told.post(fires("A", service=f"s{number}"), fires("B", service=f"s{number}"), ts=root)
        told.store.skipped(f"i{number + 1}", 1, "hour:warning")
    tellers = [told.another("one"), told.another("two")]
    async with asyncio.timeout(20):
        while told.store.dirty(9):
            await asyncio.gather(*(teller.look() for teller in tellers))
    assert [len(told.lines(root)) for root in roots] == [1] * 6
    assert [told.reactions(root) for root in roots] == [["zzz"]] * 6


async def test_a_channel_gets_one_message_a_gap_from_all_processes(told: Told) -> None:
    roots = [told.root, told.slack.post(CHANNEL, "ana", "another")]
    for number, root in enumerate(roots):
        told.post(fires("A", service=f"s{number}"), ts=root)
        told.store.skipped(f"i{number + 1}", 1, "hour:warning")
    told.calls.turns = ChannelTurns(told.database, "T1", gap=60.0)
    for owner in ("one", "two"):
        await told.another(owner).look()
    assert sum(len(told.lines(root)) for root in roots) == 1
    assert [told.reactions(root) for root in roots] == [["zzz"], ["zzz"]]


async def test_a_line_that_somebody_deleted_stays_away(told: Told) -> None:
    told.post(fires("A", service="s"), fires("B", service="s"), ts=told.root)
    looked_at(told)
    await told.teller.look()
    line = told.slack.messages(CHANNEL, told.root)[-1]
    told.slack.delete(CHANNEL, line["ts"])
    for number in range(2):
        told.post(fires(f"C{number}", service="s"), at=60)
        await told.teller.look()
    assert (told.lines(), told.store.dirty(9)) == ([], [])


async def test_slack_that_is_away_is_waited_out(told: Told) -> None:
    told.post(fires(), ts=told.root)
    told.store.skipped("i1", 1, "hour:warning")
    told.slack.fail("reactions.add", status=503, times=1)
    assert await told.teller.look() == 0
    assert await told.teller.look() == 1
    assert (len(told.lines()), told.reactions()) == (1, ["zzz"])


async def test_a_channel_that_takes_nothing_is_given_up(told: Told) -> None:
    told.post(fires(), ts=told.root)
    told.store.skipped("i1", 1, "hour:warning")
    told.slack.archive(CHANNEL)
    await told.teller.look()
    assert told.store.dirty(9) == []


async def test_a_run_that_ended_unheard_is_heard_of(told: Told) -> None:
    told.post(fires(), ts=told.root)
    looked_at(told)
    make_ended_run(told)
    await run_until(told.teller, lambda: "warning" in told.reactions())


LEFT = {
    "en": "Nothing heard for 24 h, taken as over; no resolved notice came · last heard of 2026-11-30 08:43 UTC",
    "zh": "24 小时没有任何消息，按已结束处理；未收到恢复通知 · 最后一次消息：2026-11-30 08:43 UTC",
}


async def run_until(teller: IncidentTeller, is_done: Callable[[], bool]) -> None:
    running = asyncio.create_task(teller.run())
    async with asyncio.timeout(10):
        while not is_done():
            await asyncio.sleep(0.02)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_an_incident_of_which_nothing_is_heard_for_a_day_is_taken_as_over(told: Told) -> None:
    told.post(fires("A", service="a"), ts=told.root)
    looked_at(told, "PASS")
    fresh = told.channel.post(fires("B", service="b"), at=1)[0].incident
    assert fresh is not None
    teller = IncidentTeller(
        told.calls, told.database, in_english, "me", clock=lambda: START + timedelta(days=1, seconds=1), times=QUICK
    )
    await run_until(teller, lambda: "ballot_box_with_check" in told.reactions() and bool(told.lines()))
    assert told.lines() == [LEFT["en"]]
    left = told.store.get("i1")
    assert left is not None
    assert (left.status, left.resolved_at, left.was_left) == ("resolved", START, True)
    assert [one.incident_id for one in told.store.open()] == [fresh.incident_id]
    again = told.channel.post(fires("A", service="a"), at=86_410)[0]
    assert (again.what, again.incident is not None and again.incident.previous_id) == ("opened", "i1")


async def test_what_is_heard_of_again_within_the_day_stays_open(told: Told) -> None:
    told.post(fires("A", service="a"), ts=told.root)
    told.post(fires("A", service="a"), at=600)
    assert told.store.leave(START + timedelta(seconds=600)) == 0
    told.post(ends("A", service="a"), at=700)
    assert told.store.leave(START + timedelta(days=9)) == 0
    ended = told.store.get("i1")
    assert ended is not None
    assert not ended.was_left


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_end_that_nobody_told_of_is_no_good_news(told: Told, language: str) -> None:
    one = replace(told.post(fires(), ts=told.root), status="resolved", resolved_at=START)
    line = incident_line(IncidentView(one, has_line=True), reader(language))
    assert line is not None
    assert line.text == LEFT[language]


def make_ended_run(told: Told) -> None:
    from sqlalchemy import update

    from storage.jobs import JobKey, JobStore, NewJob
    from storage.models import diagnosis_run
    from storage.records import NewRun

    one = told.store.get("i1")
    assert one is not None
    run = NewRun("r1", one.thread.session_id, "AI_OPS", "q", "en", "UTC", "{}", "supervisor", 300)
    JobStore(told.database).add(NewJob(JobKey("T1", CHANNEL, told.root, "alert:1"), run, one.thread, None))
    ended = {"status": "SUCCESS", "verdict": "LOW_CONFID", "finished_at": START}
    with told.database.begin() as connection:
        connection.execute(update(diagnosis_run).where(diagnosis_run.c.run_id == "r1").values(ended))


# ---------------------------------------------------------------- pure


def test_nothing_is_said_while_alerts_still_gather() -> None:
    one = Incident("i", 1, "T", "C", "1.1", "open", "t", None, "f", {}, 5, 5, 5, START, START, START, due_at=START)
    assert incident_line(IncidentView(one), reader()) is None
    assert reaction_of(one, reader()) == "eyes"


def test_a_report_without_a_verdict_takes_the_eyes_away() -> None:
    one = Incident("i", 1, "T", "C", "1.1", "open", "t", None, "f", {}, 1, 1, 1, START, START, START, run_id="r")
    assert reaction_of(replace(one, reported_at=START), reader()) is None
    assert reaction_of(replace(one, not_run_reason="muted", run_id=None), reader()) is None


def test_a_long_incident_says_its_day() -> None:
    late = START + timedelta(days=2)
    one = Incident("i", 1, "T", "C", "1.1", "open", "t", None, "f", {}, 2, 5, 1, START, late, START, run_id="r")
    said = incident_line(IncidentView(one), reader())
    assert said is not None
    assert said.text == "2 alerts joined · 1 still firing · since 2026-11-30 08:43 UTC"
