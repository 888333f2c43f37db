"""What is not proven: hypotheses with the evidence they need, next steps, and what is missing with the tool that has it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.contracts import DraftAction, Hypothesis
from agents.llm.base import Exchange
from agents.offline.causes import CASES, advice
from agents.offline.claims import cite
from agents.offline.evidence import LogKind
from agents.offline.external_calls import is_external, unfilled
from agents.offline.findings import Findings
from agents.offline.quotes import message, quote
from agents.offline.ranking import ranked_services
from agents.offline.records import told_of
from agents.offline.sentences import Sentences
from agents.offline.telling import COUNT_LINE, counts_asked
from tools.contracts import EvidenceStatus

_STANDARD_TOOLS = ("query_logs", "query_metrics", "query_changes", "lookup_knowledge")
_FAILURES = {
    "access": re.compile(r"forbidden|unauthori[sz]ed|permission|access denied|\b40[13]\b", re.IGNORECASE),
    "missing": re.compile(r"not ?found|no such|doesn't have a resource|\b404\b", re.IGNORECASE),
    "time": re.compile(r"time[d -]?out|deadline", re.IGNORECASE),
}
# The look-up itself went wrong: that says nothing of what was looked at.
_REFUSED = re.compile(r"^(Error from server \(|Unable to connect to the server|error: )")
MAX_HYPOTHESES = 2
MAX_MISSING = 6
MAX_UNSEEN = 2  # of the many names of a storm
_NOT_READ = " was not read: "


def hypotheses(found: Findings, sentences: Sentences) -> Iterator[Hypothesis]:
    """None where a cause is named: a lead beside a proven cause only distracts."""
    if found.explained or found.changed or found.changed_line or any(line.states_cause for line in found.telling):
        return
    for kind in found.kinds()[:MAX_HYPOTHESES]:
        if kind.is_error:
            yield _of_kind(kind, sentences)
    change = found.last_change()
    if change:
        yield Hypothesis(
            hypothesis_text=sentences.say("hypotheses", "change", quote=quote(change.text)),
            basis=sentences.say("hypotheses", "change_basis"),
            needed_evidence=(sentences.say("hypotheses", "change_needs"),),
        )
    if found.question.ask in ("why", "health"):
        yield from _of_lines(found, sentences)


def _of_kind(kind: LogKind, sentences: Sentences) -> Hypothesis:
    needs = [sentences.say("hypotheses", "error_needs_runbook", code=code) for code in kind.codes[:1]]
    return Hypothesis(
        hypothesis_text=sentences.say("hypotheses", "error", service=kind.service, quote=quote(message(kind.line))),
        basis=sentences.say("hypotheses", "error_basis"),
        needed_evidence=(*needs, sentences.say("hypotheses", "error_needs_change", service=kind.service)),
    )


def _of_lines(found: Findings, sentences: Sentences) -> Iterator[Hypothesis]:
    changes = [line for line in found.telling if line.source == "change"][:1]
    for line in changes:
        yield Hypothesis(
            hypothesis_text=sentences.say("hypotheses", "change", quote=quote(line.cited.ref.text)),
            basis=sentences.say("hypotheses", "line_basis", tool=line.cited.tool_name),
            needed_evidence=(sentences.say("hypotheses", "change_needs"),),
        )
    told = [line for line in found.telling if line.weight >= 4 and line not in changes]
    for line in [line for line in told if not _REFUSED.search(line.cited.ref.text)][:1]:
        yield Hypothesis(
            hypothesis_text=sentences.say("hypotheses", "line", quote=told_of(line.cited)),
            basis=sentences.say("hypotheses", "line_basis", tool=line.cited.tool_name),
            needed_evidence=(sentences.say("hypotheses", "line_needs"),),
        )


def actions(found: Findings, sentences: Sentences) -> Iterator[DraftAction]:
    """None where a number or a time was asked for: nobody asked what to do."""
    if found.question.ask == "count" or found.question.asks_when:
        return
    if found.explained:
        best = found.explained[0]
        chunks = [best.chunk, *(chunk for chunk in found.evidence.chunks if chunk.title == best.chunk.title)]
        for chunk, sentence in advice(chunks, best.code):
            text = sentences.say("actions", "runbook", advice=sentence)
            yield DraftAction(
                action_text=text,
                reason=sentences.say("actions", "runbook_reason"),
                evidence=(cite(chunk.cited, sentence),),
            )
    change = found.explained[0].change if found.explained else found.changed[0].change if found.changed else None
    if change:
        yield DraftAction(
            action_text=sentences.say("actions", "undo", quote=quote(change.text)),
            reason=sentences.say("actions", "undo_reason"),
            evidence=(cite(change.cited, change.text),),
        )
    if not found.explained and not found.changed:
        yield from _look(found, sentences)
    if not found.question.alert:  # an alert's report lists them by itself
        yield from _cases(found, sentences)


def _cases(found: Findings, sentences: Sentences) -> Iterator[DraftAction]:
    """An earlier case that the look-up found, in its own words: what to compare with, never what is true today."""
    for chunk in [chunk for chunk in found.evidence.chunks if chunk.domain == CASES][:1]:
        yield DraftAction(
            action_text=sentences.say("actions", "case", quote=quote(chunk.text)),
            reason=sentences.say("actions", "case_reason"),
            evidence=(cite(chunk.cited),),
        )


def _look(found: Findings, sentences: Sentences) -> Iterator[DraftAction]:
    ranked = [piece for piece in ranked_services(found.evidence) if piece.service in found.reached]
    for piece in ranked[:1]:
        yield DraftAction(
            action_text=sentences.say("actions", "look", service=piece.service),
            reason=sentences.say("actions", "look_reason"),
            evidence=(cite(piece.cited),),
        )


def missing(found: Findings, sentences: Sentences) -> Iterator[str]:
    """What could not be found out. That no model looked is no gap that anybody could fill: the answer's foot says it."""
    yield from list(dict.fromkeys(_missing(found, sentences)))[:MAX_MISSING]


def _missing(found: Findings, sentences: Sentences) -> Iterator[str]:
    yield from _empty(found, sentences)
    yield from _unseen(found, sentences)
    if found.question.asks_when:
        yield from _undated(found, sentences)
    if _has_unread(found):
        yield sentences.say("missing", "unread")
    untold = unfilled(found.question, found.offers, found.exchanges)
    if untold:
        name = "alert_names_nothing" if found.question.alert else "nothing_named"
        yield sentences.say("missing", name, tools=", ".join(untold))
    if found.evidence.kinds and not found.explained and found.question.ask == "why":
        yield from _unexplained(found, sentences)
    offered = {offer.name for offer in found.offers} | {exchange.call.name for exchange in found.exchanges}
    absent = [tool for tool in _STANDARD_TOOLS if tool not in offered]
    if absent and not found.offers and not _asked_outside(found):
        yield sentences.say("missing", "calls_spent")
    elif not any(offer.origin == "external" for offer in found.offers):
        for tool in absent:
            yield sentences.say("missing", "not_offered", tool=tool, what=sentences.say("missing", f"what_{tool}"))


def _empty(found: Findings, sentences: Sentences) -> Iterator[str]:
    """Outside tools that failed or never answered, and answers that were empty for the very kind that was asked for."""
    answered = {one.call.name for one in found.exchanges if one.evidence_status is EvidenceStatus.SUPPORTED}
    for exchange in found.exchanges:
        if exchange.evidence_status is EvidenceStatus.FAILED and is_external(exchange, found.offers):
            reason = sentences.say("missing", f"failed_{_kind_of(exchange.error or '')}")
            name = "failed" if exchange.call.arguments else "failed_bare"
            yield sentences.say("missing", name, tool=exchange.call.name, what=_asked(exchange), reason=reason)
    asked: dict[str, list[str]] = {}
    for exchange in found.empty():
        asked_kind = found.question.kind is not None and found.question.kind in (exchange.call.arguments or {}).values()
        if exchange.call.name not in _STANDARD_TOOLS and (exchange.call.name not in answered or asked_kind):
            asked.setdefault(exchange.call.name, []).append(_asked(exchange))
    for tool, what in asked.items():
        yield sentences.say("missing", "no_lines" if "log" in tool.lower() else "empty", tool=tool, what="; ".join(what))


def _asked_outside(found: Findings) -> bool:
    return any(is_external(one, found.offers) for one in found.exchanges)


def _has_unread(found: Findings) -> bool:
    """Log files that are there and could not be read."""
    looks = [one.payload.get("notes") for one in found.exchanges if one.call.name == "query_logs"]
    return any(_NOT_READ in str(note) for look in looks if isinstance(look, list) for note in look)


def _unseen(found: Findings, sentences: Sentences) -> Iterator[str]:
    """What the question names and no answer speaks of: the rest is then about something else."""
    answered = [one for one in found.exchanges if one.evidence_status is EvidenceStatus.SUPPORTED]
    texts = [f"{cited.ref.text} {' '.join(cited.ref.scope.values())}" for one in answered for cited in one.refs]
    told = [str(one.call.arguments) for one in found.exchanges if is_external(one, found.offers)]  # said above
    named = (*found.question.records, *found.question.identifiers)
    for name in named[:MAX_UNSEEN] if found.question.alert else named:
        if answered and not any(name in text for text in [*texts, *told]):
            yield sentences.say("missing", "unseen", name=name)
    if found.question.ask == "count":
        yield from _uncounted(found, answered, sentences)


def _undated(found: Findings, sentences: Sentences) -> Iterator[str]:
    if not found.question.names_something:
        yield sentences.say("missing", "no_subject")
    elif not (any(kind.is_new for kind in found.kinds()) or found.series() or found.alerts()):
        yield sentences.say("missing", "no_onset")


def _uncounted(found: Findings, answered: Sequence[Exchange], sentences: Sentences) -> Iterator[str]:
    parts = [row for row in found.rows() if counts_asked(found.question, row.text)]
    if len(parts) > 1:
        yield sentences.say("missing", "parts")
    elif not parts and not any(COUNT_LINE.search(cited.ref.text) for one in answered for cited in one.refs):
        yield sentences.say("missing", "no_count")


def _kind_of(error: str) -> str:
    return next((kind for kind, pattern in _FAILURES.items() if pattern.search(error)), "other")


def _unexplained(found: Findings, sentences: Sentences) -> Iterator[str]:
    errors = [kind for kind in found.kinds() if kind.is_error]
    if any(kind.before is None for kind in errors):
        yield sentences.say("missing", "no_comparison")
    for code in dict.fromkeys(code for kind in errors for code in kind.codes[:1]):
        if not any(code in chunk.text for chunk in found.evidence.chunks):
            yield sentences.say("missing", "no_runbook", code=code)
    for kind in errors[:1]:
        if not any(change.service == kind.service for change in found.evidence.changes):
            yield sentences.say("missing", "no_change", service=kind.service)
    if not errors:
        yield sentences.say("missing", "no_traces")


def _asked(exchange: Exchange) -> str:
    values = [str(value) for value in (exchange.call.arguments or {}).values() if isinstance(value, str)]
    return " ".join(values) or "{}"
