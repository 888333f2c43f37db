"""App Home: what happened, what the bot may read and where, and what is missing to set it up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.blocks.parts import divider, header, line
from bot.blocks.reader import Reader
from bot.blocks.rich import Block, Span, bullets, rich, spans
from bot.blocks.text import phone_line
from bot.blocks.usage import money

HomeView = dict[str, Any]

_RUNS, _LISTED, _LINE_CHARS = 15, 20, 200


@dataclass(frozen=True)
class HomeRun:
    """`verdict` None: still running. `link` is the permalink of its thread."""

    question: str
    verdict: str | None
    at: datetime
    link: str | None = None


@dataclass(frozen=True)
class HomeSource:
    """`healthy` None: not looked at yet."""

    name: str
    healthy: bool | None
    detail: str = ""


@dataclass(frozen=True)
class HomeModel:
    """`endpoint` is the host that the question and the evidence are sent to."""

    name: str
    endpoint: str


@dataclass(frozen=True)
class HomeBudget:
    """Today's. A limit of None is no limit, a cost of None an unknown price."""

    tokens: int
    token_limit: int | None
    cost: float | None = None
    cost_limit: float | None = None


@dataclass(frozen=True)
class HomeFacts:
    """Only what this person may read in their channels. `alerts`: a line a watched channel. Empty `channels` or `people` means all; `model` None: rules."""

    runs: Sequence[HomeRun] = ()
    open_questions: Sequence[str] = ()
    verdicts: dict[str, int] = field(default_factory=dict)
    sources: Sequence[HomeSource] = ()
    alerts: Sequence[str] = ()
    channels: Sequence[str] = ()
    people: Sequence[str] = ()
    useful: int = 0
    not_useful: int = 0
    model: HomeModel | None = None
    budget: HomeBudget | None = None
    hints: Sequence[str] = ()


def home_view(facts: HomeFacts, reader: Reader) -> HomeView:
    blocks: list[Block] = []
    if facts.hints:
        blocks += _part("home_setup", facts.hints, reader)
    blocks += _runs(facts.runs, reader)
    if facts.open_questions:
        blocks += _part("home_open", facts.open_questions, reader)
    if facts.alerts:
        blocks += _part("home_alerts", facts.alerts, reader)
    if facts.verdicts:
        blocks += _part("home_verdicts", [_mix(facts.verdicts, reader)], reader)
    blocks += [divider(), *_part("home_votes", [_votes(facts, reader)], reader)]
    blocks += _part("home_sources", list(_sources(facts.sources, reader)), reader)
    blocks += _part("home_where", list(_allowed(facts, reader)), reader)
    blocks += _part("home_model", [_model(facts.model, reader)], reader)
    if facts.budget is not None:
        blocks += _part("home_budget", list(_budget(facts.budget, reader)), reader)
    return {"type": "home", "callback_id": "home", "blocks": blocks}


def _part(heading: str, lines: Sequence[str], reader: Reader) -> list[Block]:
    shown = [spans(phone_line(text, _LINE_CHARS * 2), reader.link_hosts) for text in lines if text.strip()]
    more = len(shown) - _LISTED
    items = shown[:_LISTED] + ([spans(f"+ {more}")] if more > 0 else [])
    return [header(reader.say(heading)), rich(bullets(items))] if items else []


def _runs(runs: Sequence[HomeRun], reader: Reader) -> list[Block]:
    title = header(reader.say("home_recent"))
    if not runs:
        return [title, rich(line(reader.say("home_recent_none"), reader))]
    return [title, rich(bullets(_run(run, reader) for run in runs[:_RUNS]))]


def _run(run: HomeRun, reader: Reader) -> list[Span]:
    when = reader.at(run.at)
    # The label is a time: it cannot pass for another address.
    linked: list[Span] = [{"type": "link", "url": run.link, "text": when}] if run.link else spans(when)
    question = phone_line(run.question, _LINE_CHARS)
    return [*spans(_verdict(run.verdict, reader), bold=True), *spans(f" · {question} · "), *linked]


def _verdict(verdict: str | None, reader: Reader) -> str:
    return reader.say("home_running" if verdict is None else f"verdict_{verdict.lower()}")


def _mix(verdicts: dict[str, int], reader: Reader) -> str:
    return " · ".join(f"{_verdict(verdict, reader)} {count}" for verdict, count in verdicts.items())


def _votes(facts: HomeFacts, reader: Reader) -> str:
    total = facts.useful + facts.not_useful
    if not total:
        return reader.say("home_votes_none")
    share = round(100 * facts.useful / total)
    return reader.say("home_votes_text", useful=facts.useful, not_useful=facts.not_useful, share=share)


def _sources(sources: Sequence[HomeSource], reader: Reader) -> Iterator[str]:
    if not sources:
        yield reader.say("home_sources_none")
    keys = {True: "home_healthy", False: "home_unhealthy", None: "home_unknown"}
    for source in sources:
        name = reader.say(keys[source.healthy], name=source.name)
        yield reader.say("home_source", name=name, detail=source.detail) if source.detail else name


def _allowed(facts: HomeFacts, reader: Reader) -> Iterator[str]:
    anyone = reader.say("home_anyone")
    yield reader.say("home_channels", names=", ".join(facts.channels) or anyone)
    yield reader.say("home_people", names=", ".join(facts.people) or anyone)


def _model(model: HomeModel | None, reader: Reader) -> str:
    if model is None:
        return reader.say("home_model_none")
    return reader.say("home_model_text", name=model.name, endpoint=model.endpoint, sent=reader.say("home_model_sent"))


def _budget(budget: HomeBudget, reader: Reader) -> Iterator[str]:
    limit = "∞" if budget.token_limit is None else f"{budget.token_limit:,}"
    yield reader.say("home_budget_tokens", used=f"{budget.tokens:,}", limit=limit)
    if budget.cost is not None:
        most = "∞" if budget.cost_limit is None else money(budget.cost_limit)
        yield reader.say("home_budget_cost", used=money(budget.cost) if budget.cost else "0", limit=most)
