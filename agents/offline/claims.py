"""Claims from fixed sentences over copied values: what a claim says stands in its excerpt, by construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.contracts import ClaimType, DraftCitation, DraftClaim
from agents.llm.base import CitedRef
from agents.offline.causes import Changed, Explained, sentences
from agents.offline.evidence import Alert, Change, Chunk, LogKind, Row, Series
from agents.offline.quotes import excerpt, message, quote
from agents.offline.sentences import Sentences
from agents.offline.telling import Telling

OBJECT_FIELDS = ("pod_name", "resource_name", "app_name", "name", "pod", "workload", "id")


@dataclass(frozen=True)
class Statement:
    """A claim before it has its number; `weaker` is what to say where the proof of this form does not suffice."""

    claim_type: ClaimType
    text: str
    citations: tuple[DraftCitation, ...]
    weaker: Statement | None = None


class Stating:
    """Makes statements in one language."""

    def __init__(self, words: Sentences) -> None:
        self._words = words

    def cause(self, one: Explained) -> Statement:
        chunk = cite(one.chunk.cited, one.sentence)
        if one.kind is None or one.row is not None:
            source = one.row.cited if one.row else one.chunk.cited
            text = self._say("cause_record", code=one.code, quote=quote(one.sentence))
            return Statement("root_cause", text, (cite(source, one.code), chunk))
        text = self._say("cause_code", service=one.service, code=one.code, quote=quote(one.sentence))
        return Statement("root_cause", text, (cite(one.kind.cited, one.code), chunk), self.runbook(one.chunk, one.code))

    def cause_change(self, one: Changed) -> Statement:
        change = one.change
        text = self._say(
            "cause_change", service=change.service, time=_clock(change), quote=quote(change.text)
        )
        return Statement("root_cause", text, (cite(change.cited, change.text), cite(one.kind.cited)), self.change(change))

    def change(self, change: Change) -> Statement:
        text = self._say("change", service=change.service, time=_clock(change), quote=quote(change.text))
        return Statement("change", text, (cite(change.cited, change.text),))

    def kind(self, kind: LogKind, *, is_dated: bool = True) -> Statement:
        told = quote(message(kind.line))
        citations = _with_counts(kind.cited, told)
        claim_type: ClaimType = "impact" if _is_served_error(kind) else "symptom"
        if kind.count == 0:
            return Statement("symptom", self._say("gone_lines", service=kind.service, quote=told), citations)
        if is_dated and kind.is_new and kind.first is not None:
            name = "new_error" if kind.is_error else "new_line"
            text = self._say(name, service=kind.service, time=f"{kind.first:%H:%M}", quote=told)
            return Statement(claim_type, text, citations)
        name = "error_line" if kind.is_error else "more_lines"
        return Statement(claim_type, self._say(name, service=kind.service, quote=told), citations)

    def series(self, series: Series) -> Statement | None:
        before, after = series.written.get("before"), series.written.get("after")
        if series.change_at is None or before is None or after is None:
            return None
        claim = self._say(
            "moved" if series.service else "moved_plain",
            name=series.name,
            service=series.service,
            time=f"{series.change_at:%H:%M}",
            before=shown(before, series.written.get("unit")),
            after=shown(after, series.written.get("unit")),
        )
        return Statement("symptom", claim, (cite(series.cited, "change_at="),))

    def steady(self, series: Series) -> Statement:
        last = shown(series.written.get("last", "0"), series.written.get("unit"))
        text = self._say("steady", name=series.name, service=series.service, last=last)
        return Statement("symptom", text, (cite(series.cited, "change=none"),))

    def alert(self, alert: Alert) -> Statement:
        plain = self._quoting("symptom", "alert", alert.cited, quote(alert.cited.ref.text))
        if not (alert.name and alert.service and alert.state and alert.since):
            return plain
        text = self._say(
            "alert_since", name=alert.name, service=alert.service, state=alert.state, time=f"{alert.since:%H:%M}"
        )
        return Statement("symptom", text, (cite(alert.cited),), plain)

    def row(self, row: Row) -> Statement:
        return self._quoting("symptom", "row", row.cited, quote(row.text))

    def runbook(self, chunk: Chunk, code: str) -> Statement:
        told = next((sentence for sentence in sentences(chunk.text) if code in sentence), chunk.text)
        return self._quoting("symptom", "runbook", chunk.cited, quote(told))

    def log_line(self, cited: CitedRef) -> Statement:
        return self._quoting("symptom", "log", cited, quote(message(cited.ref.text)))

    def telling(self, line: Telling) -> Statement:
        """With the object that was asked about, where the call named one; as a cause only where the record states it."""
        told, cited = quote(line.cited.ref.text, at=line.at), line.cited
        claim_type: ClaimType = "change" if line.source == "change" else "symptom"
        name = "change_line" if line.source == "change" else line.source
        said = self._quoting(claim_type, name, cited, told)
        object_ = next((cited.ref.scope[key] for key in OBJECT_FIELDS if cited.ref.scope.get(key)), "")
        file = cited.ref.scope.get("file", "")
        if line.source == "added" and file:
            return Statement(claim_type, self._say("added_file", file=file, quote=told), (cite(cited, told),), said)
        if object_ and line.source in ("log", "event", "state"):
            said = self._of_object(claim_type, f"{name}_of", line, told, object_, said)
        if not line.states_cause:
            return said
        cause = replace(self._quoting("root_cause", "cause_record_itself", cited, told), weaker=said)
        return self._of_object("root_cause", "cause_record_of", line, told, object_, cause) if object_ else cause

    def cause_change_line(self, change: Telling, error: Telling) -> Statement:
        told, log = quote(change.cited.ref.text), quote(error.cited.ref.text, at=error.at)
        text = self._say("cause_change_line", quote=told, quote_log=log)
        return Statement("root_cause", text, (cite(change.cited, told), cite(error.cited, log)), self.telling(change))

    def _of_object(
        self, claim_type: ClaimType, name: str, line: Telling, told: str, object_: str, weaker: Statement
    ) -> Statement:
        text = self._say(name, object=object_, quote=told)
        return Statement(claim_type, text, (cite(line.cited, told),), weaker)

    def gap(self, cited: CitedRef) -> Statement:
        return self._quoting("gap", "gap", cited, quote(cited.ref.text))

    def _quoting(self, claim_type: ClaimType, name: str, cited: CitedRef, told: str) -> Statement:
        return Statement(claim_type, self._say(name, quote=told), (cite(cited, told),))

    def _say(self, sentence: str, /, **values: object) -> str:
        return self._words.say("claims", sentence, **values)


def cite(cited: CitedRef, around: str = "") -> DraftCitation:
    return DraftCitation(ref=cited.handle, excerpt=excerpt(cited.ref, around))


def _with_counts(cited: CitedRef, told: str) -> tuple[DraftCitation, ...]:
    """A line that holds what cannot be quoted has its words and its counts in two pieces of one text."""
    words = cite(cited, told)
    return (words,) if "count=" in words.excerpt else (words, cite(cited, "count="))


def draft_claim(statement: Statement, claim_id: str) -> DraftClaim:
    return DraftClaim(
        claim_id=claim_id,
        claim_type=statement.claim_type,
        claim_text=statement.text,
        support_level="direct",
        evidence=statement.citations,
    )


def _clock(change: Change) -> str:
    return f"{change.at:%H:%M}" if change.at else ""


def _is_served_error(kind: LogKind) -> bool:
    """An access line with a 5xx: what customers got."""
    words: Sequence[str] = kind.line.split()
    return any(len(word) == 3 and word.startswith("5") and word.isdigit() for word in words) and "HTTP/" in kind.line


def shown(raw: str, unit: str | None) -> str:
    """Three digits of a number where they keep two that say something, with its unit where people write one."""
    short = f"{float(raw):.3g}"
    digits = short.replace(".", "").lstrip("0")
    value = short if len(digits) >= 2 and "e" not in short else raw
    return f"{value} {unit}" if unit in ("s", "ms", "%") else value
