"""Which built-in look-ups come next, given what has been answered: alerts, logs, changes, metrics, knowledge, records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from agents.llm.base import Exchange, ToolOffer
from agents.offline.business_queries import query_about
from agents.offline.evidence import Evidence
from agents.offline.question import Question, codes_of
from agents.offline.ranking import kind_score, ranked_services, telling_kinds
from agents.offline.reading import collect, is_history, moment_in
from agents.offline.skill_steps import filled, steps_of
from agents.offline.times import Window
from agents.offline.topology import asked_services, callees, depths

MAX_CALLS = 17
MAX_SUSPECTS = 3
MAX_OWN = 2
MAX_CODES = 6
LOG_LIMIT = 25
DEFAULT_MINUTES = 60
SATURATION = "cpu memory"
CHANGES_BEFORE = timedelta(hours=3)
SHORT = timedelta(minutes=20)
HISTORY = timedelta(hours=6)
HISTORIES_AT_ONCE, MAX_HISTORIES = 4, 8
WIDER = timedelta(hours=4)

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Look:
    """`round` 2 looks over a wider window for what the first did not prove."""

    question: Question
    offers: Sequence[ToolOffer]
    exchanges: Sequence[Exchange]
    now: datetime
    skill: str | None
    round: int = 1

    def next_calls(self) -> list[Call]:
        """The first batch of which something is still to do; empty when all is asked or the share of calls is spent."""
        made = [exchange for exchange in self.exchanges if exchange.node_round == self.round and self._is_ours(exchange)]
        left = MAX_CALLS - len(made)
        for stage in self._stages():
            fresh = self._fresh(stage)
            if fresh:
                return fresh[: max(0, left)]
        return []

    def _stages(self) -> Iterator[Iterable[Call]]:
        evidence = collect(self.exchanges)
        yield self._first()
        yield self._logs(evidence)
        yield self._history(evidence)
        yield self._around(evidence)
        yield self._skill_steps(evidence)
        yield self._knowledge(evidence)

    # ---------------------------------------------------------------- stages

    def _first(self) -> Iterator[Call]:
        if self.skill:
            yield "read_skill", {"name": self.skill}
        yield "query_metrics", {"mode": "alerts"}
        if self.question.alert:
            yield "lookup_knowledge", {"query": self.question.alert, "limit": 8}
        for record in self.question.records[:2]:
            yield "query_order", {"order": record}

    def _logs(self, evidence: Evidence) -> Iterator[Call]:
        window = self._window(evidence)
        times = _times(window)
        yield "query_logs", {"compare": True, "limit": LOG_LIMIT, **times}
        yield "query_logs", {"level": "ERROR", "compare": True, "limit": LOG_LIMIT, **times}
        for record in self.question.records[:2]:
            yield "query_logs", {"text": record, "compare": False, **times}
        yield from self._business(evidence)
        yield "query_changes", {**_times(Window(window.since - CHANGES_BEFORE, window.until))}

    def _business(self, evidence: Evidence) -> Iterator[Call]:
        """A fact about business rows has its answer in the query that the operator made for it. A wider window would
        answer another question, so there is one look in all."""
        times = _times(replace(self, round=1)._window(evidence))
        offer = next((offer for offer in self.offers if offer.name == "query_order"), None)
        if offer and not self.question.records and self.question.ask in ("count", "fact", "listing"):
            call = query_about(self.question, offer, times)
            if call:
                yield "query_order", call

    def _history(self, evidence: Evidence) -> Iterator[Call]:
        """Over a short window a line may look new that only comes now and then: what do the hours before say?"""
        window = self._window(evidence)
        if (window.until or self.now) - window.since >= SHORT:
            return
        older = _times(Window(window.since - HISTORY, window.since))
        made = [(one.call.arguments or {}).get("service") for one in self._made("query_logs") if is_history(one)]
        new = [kind.service for kind in telling_kinds(evidence.kinds) if kind.is_new and kind.service not in made]
        for service in list(dict.fromkeys(new))[: min(HISTORIES_AT_ONCE, MAX_HISTORIES - len(made))]:
            yield "query_logs", {"service": service, "compare": False, "limit": 50, **older}

    def _around(self, evidence: Evidence) -> Iterator[Call]:
        times = _times(self._window(evidence))
        if not asked_services(self.question, evidence):
            yield "query_metrics", {"mode": "range", "match": SATURATION, "limit": 30, **times}
        for service in dict.fromkeys([*self._own_things(), *self._suspects(evidence)]):
            yield "query_metrics", {"mode": "range", "match": service, **times}
        for service in self._suspects(evidence)[:2]:
            yield "query_logs", {"service": service, "compare": True, **times}
        yield from self._knowledge(evidence)

    def _knowledge(self, evidence: Evidence) -> Iterator[Call]:
        codes = self._codes(evidence)
        asked = " ".join(str((one.call.arguments or {}).get("query")) for one in self._made("lookup_knowledge"))
        unasked = [code for code in codes if code not in asked]
        if unasked:
            yield "lookup_knowledge", {"query": " ".join(unasked), "limit": 8}
        elif not codes and self.question.text.strip():
            yield "lookup_knowledge", {"query": self.question.text.strip()[:400]}

    def _skill_steps(self, evidence: Evidence) -> Iterator[Call]:
        """Steps of the playbook that the standard order does not hold already: searches for its own words."""
        suspects, times = self._suspects(evidence), _times(self._window(evidence))
        values = {"service": next(iter(suspects), ""), "order": next(iter(self.question.records), "")}
        for tool, arguments in self._playbook():
            call = filled(arguments, values)
            if call and tool == "query_logs" and ("text" in call or "regex" in call):
                yield tool, {**call, **times}

    def _playbook(self) -> list[Call]:
        bodies = [str(exchange.payload.get("body", "")) for exchange in self._made("read_skill")]
        return [step for body in bodies for step in steps_of(body)]

    # ---------------------------------------------------------------- what they ask about

    def _window(self, evidence: Evidence) -> Window:
        """The question's own, else from before the oldest active alert or around the record asked for."""
        window = self.question.window or self._window_of_record(evidence) or self._window_of_alerts(evidence)
        return window if self.round == 1 else Window(window.since - WIDER, window.until)

    def _window_of_record(self, evidence: Evidence) -> Window | None:
        moments = [moment for row in evidence.rows if (moment := moment_in(row.text))]
        if not moments or not self.question.records:
            return None
        until = min(moments) + timedelta(hours=1)
        return Window(min(moments) - timedelta(minutes=15), min(until, self.now))

    def _window_of_alerts(self, evidence: Evidence) -> Window:
        start = self.now - timedelta(minutes=DEFAULT_MINUTES)
        asked = set(asked_services(self.question, evidence))
        active = [alert.since for alert in evidence.alerts if alert.since and (not asked or alert.service in asked)]
        oldest = min(active, default=self.now) - timedelta(minutes=30)
        return Window(max(min(start, oldest), self.now - timedelta(hours=24)))

    def _suspects(self, evidence: Evidence) -> list[str]:
        """Asked services and those on their troubled path; where none is asked, those whose lines changed most."""
        reached = depths(self.question, evidence)
        ranked = [piece.service for piece in ranked_services(evidence)]
        if not asked_services(self.question, evidence):
            return self._with_callees(ranked, evidence)
        order = sorted(reached, key=lambda name: (-reached[name], ranked.index(name) if name in ranked else len(ranked)))
        return order[:MAX_SUSPECTS]

    def _own_things(self) -> list[str]:
        """What an alert's labels name: a host or a pod is no service, and has its series all the same."""
        return list(dict.fromkeys(one.name for one in self.question.subjects))[:MAX_OWN]

    def _with_callees(self, ranked: Sequence[str], evidence: Evidence) -> list[str]:
        named = [other for name in ranked[:2] for other in callees(name, evidence.kinds, evidence.services)]
        return list(dict.fromkeys([*ranked[:2], *named, *ranked[2:]]))[:MAX_SUSPECTS]

    def _codes(self, evidence: Evidence) -> list[str]:
        """Codes and exceptions of the question, of its records, and of the errors near it, most surprising first."""
        reached = depths(self.question, evidence)
        unknown = [kind for kind in evidence.kinds if kind.is_error and kind.before is None]
        kinds = [kind for kind in (*telling_kinds(evidence.kinds), *unknown) if kind.service in reached and kind.count]
        kinds.sort(key=lambda kind: (not kind.is_error, -reached[kind.service], -kind_score(kind)))
        found = [code for kind in kinds for code in kind.codes]
        return list(dict.fromkeys([*self.question.codes, *_row_codes(evidence), *found]))[:MAX_CODES]

    # ---------------------------------------------------------------- what is done

    def _is_ours(self, exchange: Exchange) -> bool:
        return any(offer.name == exchange.call.name and offer.origin == "builtin" for offer in self.offers)

    def _made(self, tool: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.call.name == tool]

    def _fresh(self, stage: Iterable[Call]) -> list[Call]:
        """Calls of tools that are offered, cut to fields that they have, and not made yet."""
        offered = {offer.name: offer for offer in self.offers if offer.origin == "builtin"}
        made = [(exchange.call.name, exchange.call.arguments) for exchange in self.exchanges]
        fresh: list[Call] = []
        for tool, arguments in stage:
            if tool in offered:
                known = offered[tool].parameters.get("properties", {})
                call = (tool, {name: value for name, value in arguments.items() if name in known})
                if call not in made and call not in fresh:
                    fresh.append(call)
        return fresh


def _row_codes(evidence: Evidence) -> list[str]:
    return [code for row in evidence.rows for code in codes_of(row.text)]


def _times(window: Window) -> dict[str, str]:
    times = {"since": _stamp(window.since)}
    return times | ({"until": _stamp(window.until)} if window.until else {})


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
