"""The bot, running: its parts put together, Slack connected, the line worked on; and how it stops."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

from bot.app import App, open_app, prepare
from bot.asking import nothing_to_look_at
from bot.budget import Budget, Ceilings
from bot.buttons.voting import early_votes
from bot.cases import Cases
from bot.charts.finding import Charts
from bot.connection import SocketConnection, http_door, slack_door, socket_mode
from bot.desk import Desk, load_talk
from bot.doctor.health import Health
from bot.doctor.systems import sources
from bot.door import Door
from bot.errors import ConfigError
from bot.hearing.context import completing
from bot.queue import Queue
from bot.report_thread import ReportPosting
from bot.schedule import Schedule
from bot.settings import Loaded, Settings
from bot.slack.client import SlackCalls, open_slack
from bot.slack.identity import Identity, access, check_tokens, identify, socket_address
from bot.slack.people import People
from bot.slack.turns import ChannelTurns
from bot.slack_app import build_app, warm_up
from bot.thread import thread_words
from bot.timetable.scheduled import schedule_of
from bot.triaging.loop import noting_ends
from bot.triaging.work import AlertWork, alert_work
from bot.waiting import ended
from bot.worker import Worker
from storage.budget import BudgetStore, Ceiling
from storage.database import answers
from storage.errors import StorageError
from storage.jobs import JobStore

Mode = Literal["socket", "http"]

GRACE_SECONDS = 20.0
SWITCH_SECONDS = 0.001

log = logging.getLogger(__name__)


@dataclass
class RunningBot:
    """`address` is where we listen, empty in Socket Mode without a health port."""

    app: App
    desk: Desk
    queue: Queue
    alerts: AlertWork
    charts: Charts
    schedule: Schedule
    sockets: SocketConnection | None = None
    address: str = ""
    stopping: bool = False
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def alive(self) -> bool:
        """The line is worked on: a process whose queue has died must be started anew."""
        return all(not task.done() for task in self.tasks)

    async def ready(self) -> str:
        if self.stopping:
            return "stopping"
        try:
            await self.app.database.call(answers, self.app.database)
        except StorageError as error:
            return str(error)
        if self.sockets is not None and not await self.sockets.is_up():
            return "Slack is not connected"
        return ""


async def serve(loaded: Loaded, mode: Mode, on_ready: Callable[[RunningBot], None] = lambda _: None) -> None:
    """Until SIGTERM or SIGINT. Raises the operator's errors at the start."""
    check_tokens(loaded.settings, mode)
    with told_to_stop() as stop:
        async with open_app(loaded) as app:
            await prepare(app)
            async with open_bot(app, mode) as bot:
                on_ready(bot)
                await _until(stop, bot)
                log.info("stopping: nothing more is taken, %d runs are under way", bot.queue.running)


@asynccontextmanager
async def open_bot(
    app: App, mode: Mode = "socket", *, grace_seconds: float = GRACE_SECONDS, clock: Callable[[], datetime] | None = None
) -> AsyncIterator[RunningBot]:
    """Connected and working. At the end it takes no more, gives what runs `grace_seconds`, and leaves the rest to
    whoever comes next. Raises ConfigError.

    `clock`: when that takes place which is asked about, where it is not now (a sample incident)."""
    check_tokens(app.settings, mode)
    _make_room_for_blocking_work(app.settings.max_runs)
    async with AsyncExitStack() as stack:
        stack.enter_context(_quick_switches())
        calls = await stack.enter_async_context(open_slack(access(app.settings)))
        address = await socket_address(calls, _secret(app.settings)) if mode == "socket" else ""
        bot = _put_together(app, calls, await identify(calls), clock)
        _say_what_is_missing(app, bot.desk.bot)
        bolt = build_app(bot.desk)
        await warm_up(bolt)
        work = (bot.queue.run(), bot.alerts.triaging.run(), bot.alerts.teller.run())
        bot.tasks += [asyncio.create_task(each) for each in work]
        stack.push_async_callback(_stopped, bot, grace_seconds)
        await bot.schedule.start()
        settings = app.settings
        if mode == "socket":
            bot.sockets = await stack.enter_async_context(socket_mode(bolt, bot.desk, address))
            if settings.health_port is not None:
                door = http_door(Door(bot), settings.http_host, settings.health_port)
                bot.address = await stack.enter_async_context(door)
        else:
            door = http_door(slack_door(bolt, bot.desk, bot), settings.http_host, settings.http_port)
            bot.address = await stack.enter_async_context(door)
            log.info("listening on %s for app %s, workspace %s", bot.address, bot.desk.bot.name, bot.desk.bot.team_name)
        stack.callback(_mark_stopping, bot)
        yield bot


def ceilings(settings: Settings) -> Ceilings:
    """Raises ConfigError for a ceiling on money that nobody could count."""
    money = [name for name in ("daily_cost", "daily_cost_per_person") if getattr(settings, name) is not None]
    if money and (settings.price_in is None or settings.price_out is None):
        raise ConfigError(f"{money[0]} needs price_in and price_out: without prices nobody knows what a day costs.")
    return Ceilings(
        workspace=Ceiling(settings.daily_tokens, settings.daily_cost),
        person=Ceiling(settings.daily_tokens_per_person, settings.daily_cost_per_person),
    )


# ---------------------------------------------------------------- starting


def _put_together(
    app: App, calls: SlackCalls, identity: Identity, clock: Callable[[], datetime] | None
) -> RunningBot:
    settings, work = app.settings, app.work
    calls.turns = ChannelTurns(app.database, identity.team)
    jobs, charts = JobStore(app.database), Charts(app.database, work.tools.prometheus)
    host = urlsplit(settings.prometheus_url).hostname
    worker = Worker(
        place=work,
        calls=calls,
        jobs=jobs,
        budget=Budget(BudgetStore(app.database), ceilings(settings), work.clock),
        words=thread_words(work.replies),
        link_hosts=(host,) if host else (),
        reports=ReportPosting(charts, settings.alerts_broadcast),
    )
    queue = Queue(worker, jobs, most_runs=settings.max_runs)
    desk = Desk(
        settings=settings,
        zone=app.zone.key,
        place=work,
        slack=calls,
        bot=identity,
        people=People(calls, identity.team, identity.enterprise),
        talk=load_talk(),
        wake=queue.wake,
        cancel=queue.cancel,
        library=Cases.of(app),
        health=Health(partial(sources, app)),
        clock=clock,
    )
    alerts = alert_work(desk, queue.wake)
    desk = replace(desk, alerts_changed=alerts.wake)
    worker.complete, worker.afterwards = completing(desk), noting_ends(desk, early_votes(desk))
    return RunningBot(app, desk, queue, alerts, charts, schedule_of(app, desk, queue.wake))


def _make_room_for_blocking_work(most_runs: int) -> None:
    """Look-ups of logs, changes and orders block a thread each. So does the look-up of Slack's address, and Slack waits
    for it: Python's own pool has four threads more than the machine has processors, which a few runs keep busy."""
    pool = ThreadPoolExecutor(8 + 4 * most_runs, thread_name_prefix="blocking")
    asyncio.get_running_loop().set_default_executor(pool)


@contextmanager
def _quick_switches() -> Iterator[None]:
    """A thread that only computes keeps the interpreter for 5 ms each time, and an acknowledgement needs it several times."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _say_what_is_missing(app: App, identity: Identity) -> None:
    for scope in identity.missing:
        log.warning("the scope %s is missing: %s. `proofthread manifest` has it.", scope.name, scope.without)
    for problem in app.tools.skills.problems:
        log.warning("a playbook was left out: %s", problem)
    if nothing_to_look_at(app):
        log.warning("no logs, metrics, orders or changes are configured: nothing about your system can be proven")


def _secret(settings: Settings) -> str:
    return settings.slack_app_token.get_secret_value().strip() if settings.slack_app_token else ""


# ---------------------------------------------------------------- running


async def _until(stop: asyncio.Event, bot: RunningBot) -> None:
    """A bot that would take questions and never work on them ends, with what was wrong."""
    told = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait({told, *bot.tasks}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    for task in done - {told}:
        task.result()


def _mark_stopping(bot: RunningBot) -> None:
    bot.stopping = True


async def _stopped(bot: RunningBot, grace_seconds: float) -> None:
    """The connection is closed by now."""
    await bot.schedule.stop()
    await bot.queue.stop(grace_seconds)
    await bot.charts.close()
    await bot.desk.later.drain()
    await ended(bot.tasks)


@contextmanager
def told_to_stop() -> Iterator[asyncio.Event]:
    """Set by SIGTERM or Ctrl-C. A second one ends the program at once."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)

    def told() -> None:
        stop.set()
        for each in signals:
            loop.remove_signal_handler(each)

    for each in signals:
        # Only the main thread of a process can be told of signals.
        with suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(each, told)
    try:
        yield stop
    finally:
        for each in signals:
            with suppress(ValueError, RuntimeError, NotImplementedError):
                loop.remove_signal_handler(each)
