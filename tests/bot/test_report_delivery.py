"""An alert's run from the line to its thread: the report once, its chart once under it, and what its buttons open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from answered_bot import Answer, AnsweredBot, answered_bot
from slack_worker import CHANNEL, Bench, Incident, bench, emulator
from small_alert import ALERT, alert_draft, alert_plan, alert_request
from small_alert import LOOK_UPS as ALERT_LOOK_UPS
from small_incident import CAUSE, CHANGE, POOL_LINE, claim

from agents.contracts import RunOutcome
from agents.llm.base import ModelRequest
from agents.llm.scripted import Turn
from agents.state import dump_state, load_state
from bot.blocks.reader import Reader
from bot.cases import case_text
from bot.charts.drawing import ChartData
from bot.charts.finding import Charts, FoundChart
from bot.emulator.prometheus import PrometheusServer
from bot.emulator.series import MetricsFile
from bot.emulator.slack import SlackEmulator
from bot.jobs import new_run
from bot.report_thread import ReportPosting
from storage.engine import Database
from storage.jobs import Job, JobKey, NewJob
from storage.sessions import Thread
from tools.clients.prometheus import PrometheusClient
from tools.skills import Skill, SkillRegistry

DATA = ChartData("CheckoutSlow · order-service\ncheckout_latency_seconds", "s", ((1.0, 0.2), (61.0, 4.8)), threshold=1.0)
POOL = "HikariPool-1 Connection is not available"
NO_CHART = "No chart of the metric: Prometheus took too long."


class Triage(Incident):
    """Works through the small incident's alert rightly."""

    def _turn(self, request: ModelRequest) -> Turn:
        if request.role == "aiops_planner":
            return alert_plan(skill="connection-pool")
        if request.role == "aiops_executor":
            return alert_draft(CAUSE, CHANGE) if request.exchanges else ALERT_LOOK_UPS
        return super()._turn(request)


class Unsure(Triage):
    """Finds a symptom and no cause."""

    def _turn(self, request: ModelRequest) -> Turn:
        if request.role == "aiops_executor" and request.exchanges:
            return alert_draft(claim(1, "symptom", POOL, ("E1", POOL)))
        return super()._turn(request)


@dataclass
class Drawn(Charts):
    """Finds what it is told, and counts what it draws."""

    found: FoundChart = FoundChart(DATA)
    drawn: int = 0

    async def find(self, outcome: RunOutcome, reader: Reader) -> FoundChart:
        return self.found

    async def draw(self, data: ChartData) -> bytes | None:
        self.drawn += 1
        return b"\x89PNG a picture"


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


def triage(bot: Bench, channel: str = CHANNEL, **details: Any) -> Job:
    """An alert's post, and the job of its run, which nobody asked for."""
    ts = bot.slack.post_as_bot(channel, {"text": "[FIRING:1] CheckoutSlow", "username": "Alertmanager"})
    thread = Thread(bot.slack.team_id, channel, ts)
    run = new_run(alert_request(session_id=thread.session_id), bot.place)
    bot.jobs.add(NewJob(JobKey(bot.slack.team_id, channel, ts, "alert:occ-1"), run, thread, None, details=details))
    return bot.job(run.run_id)


async def reported(bot: Bench, **details: Any) -> Job:
    job = triage(bot, **details)
    bot.queue.wake(job.run_id)
    await bot.answered(job)
    return job


def pictures(bot: Bench, job: Job) -> list[str]:
    return [file["name"] for message in bot.parts(job) for file in message.get("files") or ()]


async def test_a_report_and_its_chart_stand_once_under_the_alert(slack: SlackEmulator, sqlite_database: Database) -> None:
    charts = Drawn(sqlite_database)
    async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(charts)) as bot:
        job = await reported(bot)
        (answer,) = bot.answers(job)
        assert answer["text"].startswith("✅ Cause proven: CheckoutSlow: order-service ran out of connections")
        assert "Alertmanager reports: CheckoutSlow is firing" in slack.thread_text(CHANNEL, job.thread_ts)
        assert pictures(bot, job) == [f"chart-{job.run_id}.png"]
        uploads = slack.calls("files.getUploadURLExternal")
        assert "CheckoutSlow" in str(uploads[0]["alt_txt"])
        assert slack.files()[0].content == b"\x89PNG a picture"
        assert "4.8 s" in str(uploads[0]["alt_txt"])
        assert [call.error for call in slack.refused] == []


@pytest.mark.parametrize("method", ["files.completeUploadExternal", "chat.postMessage", "files.getUploadURLExternal"])
async def test_of_lost_replies_none_makes_a_second_chart(slack: SlackEmulator, sqlite_database: Database, method: str) -> None:
    slack.fail(method, drop_reply=True)
    async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(Drawn(sqlite_database))) as bot:
        job = await reported(bot)
        assert len(bot.answers(job)) == 1
        assert pictures(bot, job) == [f"chart-{job.run_id}.png"]


async def test_another_process_finds_the_chart_that_one_posted_before_it_died(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(Drawn(sqlite_database))) as bot:
        job = await reported(bot)
        for message in bot.parts(job):
            bot.jobs.unposted(CHANNEL, message["ts"])
        await bot.worker._deliver(job, look=True)
        assert (len(bot.answers(job)), len(pictures(bot, job))) == (1, 1)


async def test_a_chart_that_slack_refuses_or_nobody_can_draw_costs_no_report(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    slack.fail("files.getUploadURLExternal", error="missing_scope")
    async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(Drawn(sqlite_database))) as bot:
        job = await reported(bot)
        assert len(bot.answers(job)) == 1
        assert pictures(bot, job) == []


async def test_why_there_is_no_chart_is_said_in_the_report(slack: SlackEmulator, sqlite_database: Database) -> None:
    charts = Drawn(sqlite_database, found=FoundChart(missing=NO_CHART))
    async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(charts)) as bot:
        job = await reported(bot)
        assert NO_CHART in slack.thread_text(CHANNEL, job.thread_ts)
        assert charts.drawn == 0


async def test_without_a_source_of_metrics_nothing_is_said_of_a_chart(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(Charts(sqlite_database))) as bot:
        job = await reported(bot)
        assert "chart" not in slack.thread_text(CHANNEL, job.thread_ts).lower()


@pytest.mark.parametrize(("setting", "trial", "shown"), [(True, False, True), (False, False, False), (True, True, False)])
async def test_a_critical_proven_report_shows_in_the_channel_by_setting_alone(
    slack: SlackEmulator, sqlite_database: Database, setting: bool, trial: bool, shown: bool
) -> None:
    async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(broadcasts=setting)) as bot:
        there = {"channel": CHANNEL, "ts": slack.post_as_bot(CHANNEL, {"text": "Trial"})}
        await reported(bot, **({"trial": there} if trial else {}))
        sent = [call for call in slack.calls("chat.postMessage") if call.get("reply_broadcast")]
        assert bool(sent) is shown


# ---------------------------------------------------------------- its buttons


async def report(bot: AnsweredBot) -> Answer:
    job = triage(bot.bench)
    bot.bench.queue.wake(job.run_id)
    return await bot.answer(CHANNEL, job.thread_ts)


async def test_evidence_and_trace_of_a_report_open(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with answered_bot(slack, sqlite_database, Triage()) as bot:
        answer = await report(bot)
        await bot.click(answer, "evidence")
        assert POOL_LINE[:19] in str(bot.modal()["blocks"])
        await bot.click(answer, "trace", "ben")
        trace = str(bot.modal("ben")["blocks"])
        assert "AIOPS_EXECUTOR" in trace
        assert "cause or health verified" in trace
        assert slack.refused == []


async def test_a_gap_of_a_report_can_be_looked_into_from_its_buttons(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with answered_bot(slack, sqlite_database, Unsure()) as bot:
        answer = await report(bot)
        assert answer.run.verdict == "LOW_CONFID"
        await bot.click(answer, "look_wider")
        wider = await bot.answer(CHANNEL, answer.thread_ts, 2)
        assert "CheckoutSlow" in wider.run.query
        await bot.click(answer, "add_context")
        assert "No traces were available" in str(bot.modal()["blocks"])
        assert slack.refused == []


async def test_a_useful_report_becomes_a_case_under_the_alerts_name(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with answered_bot(slack, sqlite_database, Triage()) as bot:
        answer = await report(bot)
        await bot.vote(answer, "useful")
        case = bot.case(answer.run)
        assert case is not None
        assert (case.title, case.status, case.solution) == ("CheckoutSlow", "active", "Set maximum-pool-size back")
        assert case.root_cause.startswith("order-service ran out of connections")
        pool = Skill("connection-pool", "Pool exhaustion", "body", {"fault_category": "CONNECTION_POOL"}, Path("SKILL.md"))
        assert case_text(answer.run, SkillRegistry([pool])).fault_category == "CONNECTION_POOL"


async def test_an_alert_without_a_name_gives_a_case_its_summary(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with answered_bot(slack, sqlite_database, Triage()) as bot:
        run = (await report(bot)).run
        nameless = replace(load_state(run.state), alerts=(ALERT.model_copy(update={"alert_name": None}),))
        text = case_text(replace(run, state=dump_state(nameless)), SkillRegistry([]))
        assert text.title == "CheckoutSlow · critical · order-service: p99 of order-service above 2 s"


async def test_a_prometheus_that_knows_no_such_rule_is_named_in_the_report(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    with PrometheusServer(MetricsFile((), ()), 0.0) as server:
        client = PrometheusClient(server.url)
        async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(Charts(sqlite_database, client))) as bot:
            job = await reported(bot)
            said = slack.thread_text(CHANNEL, job.thread_ts)
        await client.close()
    assert "No chart of the metric: Prometheus has no alerting rule named CheckoutSlow" in said


async def test_a_prometheus_that_hangs_holds_no_report_back(slack: SlackEmulator, sqlite_database: Database) -> None:
    async with silent_server() as url:
        client = PrometheusClient(url)
        charts = Charts(sqlite_database, client, find_seconds=0.05)
        async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(charts)) as bot:
            job = await reported(bot)
            assert "No chart of the metric: Prometheus took too long." in slack.thread_text(CHANNEL, job.thread_ts)
        await client.close()


async def test_a_prometheus_that_answers_nonsense_holds_no_report_back(
    slack: SlackEmulator, sqlite_database: Database
) -> None:
    with PrometheusServer(MetricsFile((), ()), 0.0) as server:
        client = Nonsense(server.url)
        async with bench(slack, sqlite_database, Triage(), reports=ReportPosting(Charts(sqlite_database, client))) as bot:
            job = await reported(bot)
            said = slack.thread_text(CHANNEL, job.thread_ts)
    assert "No chart of the metric: what Prometheus answered could not be read." in said


class Nonsense(PrometheusClient):
    async def rules(self, name: str) -> list[dict[str, Any]]:
        return [{"name": name, "alerts": 7}]


@asynccontextmanager
async def silent_server() -> AsyncIterator[str]:
    """Takes connections and never answers."""

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
