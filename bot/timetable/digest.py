"""The calibration digest: how far a verdict can be trusted, by what people voted; and what it cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.blocks.reader import Reader
from bot.blocks.rich import Block, bullets, rich, section, spans
from bot.blocks.text import phone_line
from bot.blocks.usage import money
from bot.desk import Desk
from bot.terminal.lines import Line
from bot.timetable.language import schedule_reader
from storage.calibration import EndedRun, ended_runs

PASS, LOW, REJECT = "PASS", "LOW_CONFID", "REJECT"
QUESTIONS, PATROLS, BY_COMMAND, UNNAMED = "#questions", "#patrols", "#by_command", "#unnamed"
PERIOD = timedelta(days=7)
TYPES_SHOWN = 10
POSTED, NOTHING = "posted", "no runs, nothing posted"


@dataclass
class Outcomes:
    """Runs of one verdict. `voted` are those with a vote, `useful` those whose votes say so: more for than against."""

    runs: int = 0
    voted: int = 0
    useful: int = 0


@dataclass
class Kind:
    """Runs about one alert by its name; questions, patrols and alerts without a name are kinds of their own."""

    name: str
    runs: int = 0
    verdicts: dict[str, Outcomes] = field(default_factory=lambda: {name: Outcomes() for name in (PASS, LOW, REJECT)})

    @property
    def useful(self) -> int:
        return sum(one.useful for one in self.verdicts.values())

    @property
    def not_useful(self) -> int:
        return sum(one.voted - one.useful for one in self.verdicts.values())

    def add(self, run: EndedRun) -> None:
        self.runs += 1
        one = self.verdicts[run.verdict if run.verdict in self.verdicts else REJECT]
        one.runs += 1
        one.voted += bool(run.useful or run.not_useful)
        one.useful += run.useful > run.not_useful


@dataclass(frozen=True)
class Digest:
    """`precision` is the share of voted PASS runs that were found useful, `reject_share` that of REJECT among all; None
    where there is nothing to divide by. `cost` None = no price is known. Durations in milliseconds. `cancelled` runs are
    counted here alone, and what they spent in the sums."""

    since: datetime
    until: datetime
    whole: Kind
    kinds: tuple[Kind, ...]
    cancelled: int
    tokens: int
    cost: float | None
    p50_ms: int | None
    p95_ms: int | None

    @property
    def precision(self) -> float | None:
        return _share(self.whole.verdicts[PASS].useful, self.whole.verdicts[PASS].voted)

    @property
    def reject_share(self) -> float | None:
        return _share(self.whole.verdicts[REJECT].runs, self.whole.runs)


def digest_of(runs: Sequence[EndedRun], since: datetime, until: datetime) -> Digest:
    ended = [run for run in runs if run.status != "CANCELLED"]
    whole, kinds = Kind("all"), defaultdict[str, Kind](lambda: Kind(""))
    for run in ended:
        whole.add(run)
        name = _kind(run)
        kinds[name].name = name
        kinds[name].add(run)
    costs = [run.cost for run in runs if run.cost is not None]
    durations = sorted(run.duration_ms for run in ended)
    return Digest(
        since=since,
        until=until,
        whole=whole,
        kinds=tuple(sorted(kinds.values(), key=lambda kind: (-kind.runs, kind.name))),
        cancelled=len(runs) - len(ended),
        tokens=sum(run.tokens for run in runs),
        cost=math.fsum(costs) if costs else None,
        p50_ms=_percentile(durations, 0.5),
        p95_ms=_percentile(durations, 0.95),
    )


async def post_digest(desk: Desk, channel: str, slot: datetime) -> str:
    """What came of the slot. Raises SlackAway, SlackRefused and StorageError."""
    digest = digest_of(await desk.db.call(ended_runs, desk.db, slot - PERIOD, slot), slot - PERIOD, slot)
    if not digest.whole.runs and not digest.cancelled:
        return NOTHING
    reader = schedule_reader(desk)
    content = {"text": digest_texts(digest, reader)[0], "blocks": digest_blocks(digest, reader)}
    await desk.slack.call("chat.postMessage", channel=channel, unfurl_links=False, unfurl_media=False, **content)
    return POSTED


# ---------------------------------------------------------------- what is shown


def digest_texts(digest: Digest, reader: Reader) -> list[str]:
    """The title, then a sentence each."""
    title = reader.say("digest_title", since=f"{digest.since:%Y-%m-%d}", until=f"{digest.until:%Y-%m-%d}")
    if not digest.whole.runs:
        return [title, reader.say("digest_nothing"), *_cancelled(digest, reader)]
    return [title, _counts(digest, reader), *_cancelled(digest, reader), *_votes(digest, reader), _spent(digest, reader)]


def digest_kinds(digest: Digest, reader: Reader) -> list[str]:
    """One line a kind, the most frequent first."""
    shown = [_kind_text(kind, reader) for kind in digest.kinds[:TYPES_SHOWN]]
    left = len(digest.kinds) - TYPES_SHOWN
    return [*shown, reader.say("digest_more_types", count=left)] if left > 0 else shown


def digest_blocks(digest: Digest, reader: Reader) -> list[Block]:
    title, *texts = digest_texts(digest, reader)
    blocks = [rich(section(spans(title, bold=True))), rich(*(section(spans(f"{text}\n")) for text in texts))]
    kinds = digest_kinds(digest, reader)
    if kinds:
        blocks.append(rich(section(spans(reader.say("digest_by_type"))), bullets(spans(text) for text in kinds)))
    return blocks


def digest_lines(digest: Digest, reader: Reader) -> list[Line]:
    title, *texts = digest_texts(digest, reader)
    kinds = [Line(text, lead="  • ") for text in digest_kinds(digest, reader)]
    head = [Line(reader.say("digest_by_type"))] if kinds else []
    return [Line(title, style="bold"), *(Line(text) for text in texts), *head, *kinds]


def digest_json(digest: Digest) -> dict[str, Any]:
    return asdict(digest) | {
        "since": digest.since.isoformat(),
        "until": digest.until.isoformat(),
        "precision": digest.precision,
        "reject_share": digest.reject_share,
    }


def _counts(digest: Digest, reader: Reader) -> str:
    passed, low, rejected = (digest.whole.verdicts[name].runs for name in (PASS, LOW, REJECT))
    share = _percent(digest.reject_share)
    return reader.say("digest_runs", runs=digest.whole.runs, passed=passed, low=low, rejected=rejected, share=share)


def _cancelled(digest: Digest, reader: Reader) -> list[str]:
    return [reader.say("digest_cancelled", count=digest.cancelled)] if digest.cancelled else []


def _votes(digest: Digest, reader: Reader) -> Iterable[str]:
    passed, low, rejected = (digest.whole.verdicts[name] for name in (PASS, LOW, REJECT))
    if passed.voted:
        share = _percent(digest.precision)
        yield reader.say("digest_precision", voted=passed.voted, useful=passed.useful, share=share)
    else:
        yield reader.say("digest_no_votes")
    if low.voted or rejected.voted:
        numbers = {"low_useful": low.useful, "low_voted": low.voted}
        numbers |= {"reject_useful": rejected.useful, "reject_voted": rejected.voted}
        yield reader.say("digest_others", **numbers)


def _spent(digest: Digest, reader: Reader) -> str:
    cost = "" if digest.cost is None else reader.say("digest_cost", amount=money(digest.cost) if digest.cost else "0")
    p50, p95 = _seconds(digest.p50_ms), _seconds(digest.p95_ms)
    return reader.say("digest_spent", tokens=f"{digest.tokens:,}", cost=cost, p50=p50, p95=p95)


def _kind_text(kind: Kind, reader: Reader) -> str:
    words = {QUESTIONS: "digest_questions", PATROLS: "digest_patrols", BY_COMMAND: "digest_by_command", UNNAMED: "digest_unnamed"}
    name = reader.say(words[kind.name]) if kind.name in words else phone_line(kind.name, 120)
    passed, low, rejected = (kind.verdicts[verdict].runs for verdict in (PASS, LOW, REJECT))
    counts = {"runs": kind.runs, "passed": passed, "low": low, "rejected": rejected}
    return reader.say("digest_type", name=name, useful=kind.useful, not_useful=kind.not_useful, **counts)


# ---------------------------------------------------------------- numbers


def _kind(run: EndedRun) -> str:
    if run.agent_flow != "AI_OPS":
        return QUESTIONS
    if not run.is_alert:
        return PATROLS if run.from_slack else BY_COMMAND
    return run.alert_name or UNNAMED


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}%"


def _percentile(ordered: Sequence[int], share: float) -> int | None:
    """The smallest value that so large a share of all does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _seconds(milliseconds: int | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds / 1000:.1f} s"
