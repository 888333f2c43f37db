"""Claims about an alert's thing: health, its return, what loads a database, two sources that agree."""

from __future__ import annotations

from dataclasses import replace

from agents.contracts import ClaimType
from agents.llm.base import CitedRef
from agents.offline.alert_words import alert_words
from agents.offline.claims import Statement, Stating, cite, shown
from agents.offline.databases import Load
from agents.offline.evidence import Series
from agents.offline.quotes import MAX_QUOTE, quote
from agents.offline.records import Mood, Record, condition_in, object_of, told_of
from agents.offline.telling import Telling

ROW_CHARS = 90


class AlertStating(Stating):
    """Makes statements about an alert in one language."""

    def well(self, record: Record) -> Statement:
        """The conclusion that nothing is wrong, from the record that shows it best."""
        told = told_of(record.cited) if record.mood == "back" else condition_of(record.cited)
        if record.mood == "none":
            return self._of("healthy", "healthy_list", record.cited, told)
        plain = self._of("healthy", "healthy_tool", record.cited, told)
        if not record.about:
            return plain
        name = "healthy_back" if record.mood == "back" else "healthy_now"
        return replace(self._of("healthy", name, record.cited, told, object=record.about), weaker=plain)

    def also_well(self, record: Record) -> Statement:
        told = condition_of(record.cited)
        if record.mood == "none" or not record.about:
            return self.well(record)
        return self._of("healthy", "healthy_of", record.cited, told, object=record.about)

    def over(self, record: Record) -> Statement:
        return self._of("symptom", "over", record.cited, told_of(record.cited))

    def happened(self, record: Record) -> Statement:
        """A scaling, a rollback, a restart in good order: no trouble."""
        name = "event_of" if record.about else "event"
        return self._of("change", name, record.cited, told_of(record.cited), object=record.about)

    def meant_to_fire(self, cited: CitedRef, at: int) -> Statement:
        return self._of("healthy", "meant_to_fire", cited, quote(cited.ref.text, at=at))

    def steady_well(self, series: Series) -> Statement:
        """An alert's metric at its usual level; as a symptom where nothing else shows that all is well."""
        said, last = self.steady(series), shown(series.written.get("last", "0"), series.written.get("unit"))
        text = self._say("healthy_steady", name=series.name, service=series.service, last=last)
        return Statement("healthy", text, said.citations, said)

    def load(self, load: Load, *, is_first: bool) -> Statement:
        heavy = "load_writes_much" if alert_words().wait(load.wait) in ("wal", "write") else "load_writes"
        name = "load_beside" if not is_first else heavy if load.writes else "load_reads"
        return self._of("symptom", name, load.cited, quote(load.statement))

    def wait(self, load: Load) -> Statement | None:
        gloss = alert_words().wait(load.wait)
        if gloss is None:
            return None
        told = quote(load.waits[0].ref.text)
        text = self._say(f"wait_{gloss}", quote=told)
        return Statement("symptom", text, (cite(load.waits[0], told), cite(load.cited)))

    def pair(self, line: Telling, other: CitedRef, told_other: str) -> Statement:
        """Two tools' records of one thing; alone, the first says what it says."""
        told = told_of(line.cited, line.at)
        text = self._say("cause_pair", quote=told, quote_other=told_other)
        return Statement("root_cause", text, (cite(line.cited, told), cite(other, told_other)), self.telling(line))

    def pair_state(self, line: Telling, record: Record) -> Statement:
        """A record, and the condition of the thing in another tool."""
        told, state = told_of(line.cited, line.at), self.standing(record)
        text = self._say("cause_state", quote=told, state=state.text[:1].lower() + state.text[1:])
        return Statement("root_cause", text, (cite(line.cited, told), *state.citations), self.telling(line))

    def pair_level(self, line: Telling, series: Series) -> Statement | None:
        """A record and the level that moved with it."""
        level, told = self.series(series), told_of(line.cited, line.at)
        if level is None:
            return None
        text = self._say("cause_level", quote=told, level=level.text)
        return Statement("root_cause", text, (cite(line.cited, told), *level.citations), self.telling(line))

    def load_level(self, series: Series, load: Load) -> Statement | None:
        """The level that the alert is about, and the statement that loads the database."""
        level, told = self.series(series), quote(load.statement)
        if level is None:
            return None
        text = self._say("cause_load", quote=told, level=level.text)
        return Statement("root_cause", text, (*level.citations, cite(load.cited, told)), level)

    def standing(self, record: Record) -> Statement:
        """A condition that is not as it should be."""
        told = told_of(record.cited) if record.at else bad_in(record.cited)
        name = "state_of" if record.about else "state"
        return self._of("symptom", name, record.cited, told, object=record.about)

    def telling(self, line: Telling) -> Statement:
        """By the message that a record carries, where it carries one: its other fields are for machines."""
        told, cited, source = told_of(line.cited, line.at), line.cited, line.source
        object_ = object_of(cited)
        if told == quote(cited.ref.text, at=line.at) or source in ("added", "change", "count", "record"):
            return super().telling(line)
        said = self._of("symptom", f"{source}_of" if object_ else source, cited, told, object=object_)
        said = replace(said, weaker=super().telling(line)) if not line.states_cause else said
        if not line.states_cause:
            return said
        name = "cause_record_of" if object_ else "cause_record_itself"
        return replace(self._of("root_cause", name, cited, told, object=object_), weaker=said)

    def _of(self, kind: ClaimType, name: str, cited: CitedRef, told: str, **values: str) -> Statement:
        return Statement(kind, self._say(name, quote=told, **values), (cite(cited, told),))


def bad_in(cited: CitedRef) -> str:
    """The whole record where it is short, else the field that says what is wrong."""
    return _field(cited, "bad")


def condition_of(cited: CitedRef) -> str:
    """The whole record where it is short, else the field that says how the thing is."""
    return _field(cited, "good")


def _field(cited: CitedRef, mood: Mood) -> str:
    """Of a table's row, which has no fields, the first cells."""
    text = cited.ref.text
    if len(text) <= MAX_QUOTE:
        return quote(text)
    return (condition_in(text, mood) if "columns" not in cited.ref.scope else "") or quote(text, ROW_CHARS)
