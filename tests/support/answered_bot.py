"""The bot from event to answer and beyond: listeners, line, worker and case library against the loopback Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from slack_bot import Well, slack_settings
from slack_worker import Bench, Incident, bench, part_of
from small_incident import claim, draft, skills, specs, votes

from agents.llm.base import Model, ModelRequest
from agents.llm.scripted import ScriptedCall, Turn
from bot.buttons.voting import early_votes
from bot.cases import Cases
from bot.connection import http_door, slack_door
from bot.desk import Desk, load_talk
from bot.emulator.slack import SlackEmulator
from bot.hearing.context import completing
from bot.jobs import Workplace
from bot.slack.identity import identify
from bot.slack.people import People
from bot.slack_app import build_app, warm_up
from storage.cases import Case
from storage.engine import Database
from storage.records import Run
from tools.builtin import added_context
from tools.ingest import SyncDeps
from tools.registry import ToolRegistry

WHERE = "incidents"


class Partly(Incident):
    """Proves what it says, and says that it is not the whole answer: LOW_CONFID."""

    def _turn(self, request: ModelRequest) -> Turn:
        if request.role == "verifier":
            return votes(("r1-c1", "direct_evidence"), ("r1-c2", "direct_evidence"), answered=False)
        return super()._turn(request)


ADDED = "2026-11-30 08:42:07 ERROR proxy upstream reset, token=ghp_0123456789abcdefghijABCDEFGHIJ012345"


class Reader(Partly):
    """Calls added_context where it is offered, and quotes the first line that somebody added."""

    def _turn(self, request: ModelRequest) -> Turn:
        offered = {tool.name for tool in request.tools}
        if request.role == "executor" and "added_context" in offered and not request.exchanges:
            return Turn(role="executor", tool_calls=(ScriptedCall(name="added_context", arguments={}),))
        if request.role == "executor" and any(one.call.name == "added_context" for one in request.exchanges):
            return draft(claim(1, "symptom", "proxy reported ERROR upstream reset", ("E1", "ERROR proxy upstream reset")))
        return super()._turn(request)


@dataclass
class Answer:
    """One of our messages, and the run that it answers."""

    ts: str
    thread_ts: str
    run: Run
    message: dict[str, Any]


@dataclass
class AnsweredBot:
    desk: Desk
    slack: SlackEmulator
    bench: Bench

    @property
    def runs(self) -> list[Run]:
        """Oldest first."""
        return self.desk.trace.recent_runs(100)[::-1]

    def votes(self, run: Run) -> dict[str, str | None]:
        return {one.user_id: one.vote for one in self.desk.feedback.votes(run.run_id)}

    def case(self, run: Run) -> Case | None:
        return self.desk.cases.of_run(run.run_id)

    async def ask(self, text: str = "why is checkout slow?", user: str = "ana", channel: str = WHERE) -> Answer:
        ts = self.slack.post(channel, user, f"{self.slack.mention} {text}")
        return await self.answer(channel, ts)

    async def answer(self, channel: str, thread_ts: str, number: int = 1) -> Answer:
        """The thread's answer of that number, once it stands and nothing is under way."""

        def found() -> list[dict[str, Any]]:
            thread = self.slack.messages(channel, thread_ts)
            return [each for each in thread if part_of(each)[0] == "answer"]

        await self.slack.wait_for(lambda: len(found()) >= number)
        await self.settled()
        message = found()[number - 1]
        return Answer(message["ts"], thread_ts, self.desk.trace.run(part_of(message)[1]), message)

    async def settled(self) -> None:
        """Every event and click is taken, what was to follow has followed, nothing runs."""
        await self.slack.wait_for(lambda: all(one.outcome != "pending" for one in self.slack.deliveries))
        await self.desk.later.idle()
        await self.slack.wait_for(lambda: self.bench.queue.idle and not self.desk.jobs.unfinished())

    async def click(self, answer: Answer, action_id: str, user: str = "ana", value: Any = None) -> None:
        self.slack.click(WHERE, answer.ts, action_id, user, value)
        await self.settled()

    async def vote(self, answer: Answer, choice: str, user: str = "ana") -> None:
        await self.click(answer, "feedback", user, "positive" if choice == "useful" else "negative")

    def modal(self, user: str = "ana") -> dict[str, Any]:
        return self.slack.views(user)[-1]

    async def submit(self, values: dict[str, Any], user: str = "ana") -> None:
        self.slack.submit_view(self.modal(user)["id"], user, values)
        await self.settled()

    def whispers(self, user: str = "ana") -> list[str]:
        return [each["text"] for each in self.slack.ephemerals(WHERE, user)]


@asynccontextmanager
async def answered_bot(
    slack: SlackEmulator,
    db: Database,
    model: Model | None = None,
    changed: Callable[[Workplace], Workplace] = lambda place: place,
    **settings: Any,
) -> AsyncIterator[AnsweredBot]:
    async with bench(slack, db, model) as made:
        registry = ToolRegistry([*specs(), added_context.TOOL])
        place = changed(replace(made.place, registry=registry))
        made.worker.place = place
        identity = await identify(made.calls)
        desk = Desk(
            settings=slack_settings(slack, **settings),
            zone="UTC",
            place=place,
            slack=made.calls,
            bot=identity,
            people=People(made.calls, identity.team, identity.enterprise),
            talk=load_talk(),
            wake=made.queue.wake,
            cancel=made.queue.cancel,
            library=Cases(db, SyncDeps(db, str, "test"), skills(), place.redactor.text, place.new_id),
        )
        made.worker.complete, made.worker.afterwards = completing(desk), early_votes(desk)
        app = build_app(desk)
        await warm_up(app)
        async with http_door(slack_door(app, desk, Well()), "127.0.0.1", 0) as address:
            slack.deliver_to(f"{address}/slack/events")
            yield AnsweredBot(desk, slack, made)
        await desk.later.drain()
