"""An incident's one line in its thread: how many alerts, since when, what closed, and why it was not looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agents.replies import Replies
from bot.blocks.parts import context, paragraph
from bot.blocks.reader import Reader, slack_words
from bot.blocks.reasons import reason_text
from bot.blocks.resolved import Resolved, resolved_message, span_text
from bot.blocks.rich import Block
from bot.blocks.text import escaped_line, phone_line
from storage.incidents import Incident, StoredAlert

NAMED, NAME_CHARS, END_CHARS, TEXT_CHARS = 3, 60, 200, 150
# The reaction on the alert's own post, by state.
LOOKING, OVER, PART, ASLEEP = "eyes", "ballot_box_with_check", "heavy_plus_sign", "zzz"
VERDICTS = {"PASS": "white_check_mark", "LOW_CONFID": "warning", "REJECT": "question"}
REACTIONS = frozenset({LOOKING, OVER, PART, ASLEEP, *VERDICTS.values()})


@dataclass(frozen=True)
class IncidentView:
    """`alerts` are the incident's; `flapping_from` so many new starts is flapping; `whole` is the title of the incident that
    it became part of; `has_line`: the thread has a line, which must stay true."""

    incident: Incident
    alerts: Sequence[StoredAlert] = ()
    flapping_from: int = 3
    whole: str | None = None
    has_line: bool = False


@dataclass(frozen=True)
class IncidentLine:
    """`text` is what a notification shows, escaped."""

    text: str
    blocks: list[Block]


def incident_words(replies: Replies) -> Replies:
    """The fixed words of answers, of blocks and of an incident's line, as one."""
    blocks, ours = slack_words(replies), Replies.load(Path(__file__).parent / "incident_words")
    return Replies({name: {**blocks.by_language[name], **entries} for name, entries in ours.by_language.items()})


def incident_line(view: IncidentView, reader: Reader) -> IncidentLine | None:
    """None as long as there is nothing to say: one alert that is being looked at speaks for itself."""
    one = view.incident
    if view.whole is not None:
        return _line([reader.say("part_of", title=view.whole)], [], reader) if view.has_line else None
    reason = reason_text(one.not_run_reason, reader) if one.not_run_reason else None
    if not one.is_open:
        return _over(view, reason, reader) if view.has_line or one.placed_at is not None or reason else None
    if not view.has_line and not _is_news(view, reason):
        return None
    return _line(list(_state(view, reader)), [reason or "", _closed(view, reader)], reader)


def reaction_of(incident: Incident, reader: Reader) -> str | None:
    """The name of the one reaction for its state; None where it has none."""
    if incident.merged_into is not None:
        return PART
    if not incident.is_open:
        return OVER
    verdict = VERDICTS.get(incident.verdict or "")
    if incident.not_run_reason is None:
        is_done = incident.run_id is not None and incident.reported_at is not None
        return verdict if verdict is not None or is_done else LOOKING
    return verdict or (ASLEEP if reason_text(incident.not_run_reason, reader) else None)


def short_time(moment: datetime, reader: Reader) -> str:
    """`16:43 CST (08:43 UTC)`, or `08:43 UTC` where that is the reader's own."""
    local, there = moment.astimezone(reader.zone), moment.astimezone(UTC)
    if local.utcoffset() == there.utcoffset():
        return f"{there:%H:%M} UTC"
    return f"{local:%H:%M %Z} ({there:%H:%M} UTC)"


# ---------------------------------------------------------------- while it is open


def _is_news(view: IncidentView, reason: str | None) -> bool:
    """Nothing is posted while alerts still gather."""
    one = view.incident
    if reason or one.queue_position:
        return True
    return one.run_id is not None and (one.alert_count > 1 or one.occurrence > 1)


def _state(view: IncidentView, reader: Reader) -> Iterator[str]:
    one = view.incident
    if one.flaps >= view.flapping_from:
        yield reader.say("flapping", count=one.flaps)
    if one.alert_count > 1:
        yield reader.say("alerts_joined", count=one.alert_count)
    if one.firing_count < one.alert_count:
        yield reader.say("some_firing", count=one.firing_count)
    else:
        yield reader.say("all_firing" if one.alert_count > 1 else "one_firing")
    began = _began(view)
    is_long = one.last_seen_at - began > timedelta(hours=18)
    yield reader.say("since", time=reader.at(began) if is_long else short_time(began, reader))
    if any(alert.status == "acknowledged" for alert in view.alerts):
        yield reader.say("acknowledged")
    if one.occurrence > 1:
        yield reader.say("again", number=one.occurrence)
    if one.queue_position:
        yield reader.say("next_in_line") if one.queue_position == 1 else reader.say("in_line", place=one.queue_position)


def _began(view: IncidentView) -> datetime:
    """By what the alerts state themselves, which may be long before their first post here."""
    return min([view.incident.opened_at, *(start for start in _starts(view) if start is not None)])


def _starts(view: IncidentView) -> list[datetime | None]:
    """Of the alerts of this occurrence."""
    return [_start(alert) for alert in view.alerts if alert.last_seen_at >= view.incident.opened_at]


def _start(alert: StoredAlert) -> datetime | None:
    """None where the post states no time, or one whose zone nobody knows."""
    try:
        moment = datetime.fromisoformat(str(alert.document.get("starts_at") or ""))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def _closed(view: IncidentView, reader: Reader) -> str:
    over = [alert for alert in view.alerts if not alert.is_firing and alert.resolved_at is not None]
    over.sort(key=lambda alert: str(alert.resolved_at), reverse=True)
    if not over:
        return ""
    names = [_closed_one(alert, reader) for alert in over[:NAMED]]
    names += [reader.say("and_more", count=len(over) - NAMED)] if len(over) > NAMED else []
    return reader.say("closed", names=", ".join(names))


def _closed_one(alert: StoredAlert, reader: Reader) -> str:
    assert alert.resolved_at is not None
    lasted = max(alert.resolved_at - (_start(alert) or alert.first_seen_at), timedelta())
    return reader.say("closed_one", name=_name(alert), duration=span_text(lasted, reader))


# ---------------------------------------------------------------- once it is over


def _over(view: IncidentView, reason: str | None, reader: Reader) -> IncidentLine:
    one = view.incident
    if one.was_left:
        since = reader.say("heard_last", time=reader.at(one.last_seen_at))
        return _line([reader.say("left"), since], [reason or "", _closed(view, reader)], reader)
    ended = one.resolved_at or one.last_seen_at
    at_end = [f"{_name(alert)}: {phone_line(str(alert.document['value']), END_CHARS)}" for alert in view.alerts if _has_value(alert)]
    said = Resolved(
        one.title,
        ended,
        ended - _began(view),
        at_end,
        alerts=one.alert_count,
        turns=one.flaps,
        at_least=None in _starts(view) or not view.alerts,
    )
    shown = resolved_message(said, reader)
    return IncidentLine(shown.text, [*shown.blocks, *([context(reason)] if reason else [])])


def _has_value(alert: StoredAlert) -> bool:
    return bool(alert.document.get("value")) and not alert.is_firing


def _name(alert: StoredAlert) -> str:
    return phone_line(str(alert.document.get("alert_name") or alert.document.get("sender") or ""), NAME_CHARS)


def _line(state: Sequence[str], more: Sequence[str], reader: Reader) -> IncidentLine:
    said = " · ".join(state)
    said = said[:1].upper() + said[1:]
    small = [text for text in more if text]
    blocks: list[Block] = [paragraph(said, reader), *([context(*small)] if small else [])]
    return IncidentLine(escaped_line(" · ".join([said, *small]), TEXT_CHARS), blocks)
