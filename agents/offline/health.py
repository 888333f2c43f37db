"""What of the trouble still stands, and what evidence shows that a thing is well.

Health is claimed only where nothing that was read stands against it: no bad condition, no event or line of trouble that
nothing later ends, no series that left its level, and at least one record that says that the thing is well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.offline.alert_subject import spoken
from agents.offline.evidence import Series
from agents.offline.question import Question
from agents.offline.records import Record, health_words

MOVED = 1.5  # a level that changed by less is noise
FULL = 85.0  # percent of a resource
LOOP, STAYS_UP = 3, timedelta(minutes=10)
_RESTARTS = re.compile(r"\brestart_?count\"?[=:]\s?\"?(\d{1,6})", re.IGNORECASE)
_SHARES = ("percent", "%")
# alerts about whether a thing runs and answers: its state is what they are about
_OF_STATE = re.compile(
    r"\b(pods?|deployments?|replicas?|nodes?|kubelet|containers?|workloads?|statefulsets?|daemonsets?|jobs?|rollout|host|target|service|endpoint|instance)\b.*"
    r"\b(not ready|ready|restart\w*|crash\w*|back off|unhealthy|down|unavailable|mismatch|evict\w*|oom\w*|missing|pending|unschedulable|waiting|stuck|failed)\b"
    r"|\bhealth ?check\b|\bwarning event\b|\b(crash|restart)\w* ?loop\w*|\bdown$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{4,}")
_STEM = 6
_SAYS_LITTLE = frozenset({
    "kube", "kubernetes", "high", "critical", "warning", "alert", "database", "service", "customer", "elevated", "instance", "level",
    "cluster", "prometheus", "detected", "rate", "increase", "increased", "drop", "spike", "anomaly",
})  # fmt: skip
_RESOURCES = ("cpu", "memory", "disk", "storage", "connections", "utilization", "usage")


@dataclass(frozen=True)
class Health:
    """`standing` trouble, `past` trouble and signs of its end, `well` conditions; `moved` series off their level; `events`
    are all that event tools told."""

    standing: tuple[Record, ...]
    past: tuple[Record, ...]
    well: tuple[Record, ...]
    moved: tuple[Series, ...]
    steady: tuple[Series, ...]
    events: tuple[Record, ...] = ()

    def is_proven_for(self, subject: Question) -> bool:
        """Whether what is shown to be well is what the alert is about: a pod that is ready says nothing of its CPU."""
        if not self._is_quiet:
            return False
        told = [one.cited.ref.text for one in (*self.well, *self.past)] + [one.name for one in self.steady]
        return self.is_of_state(subject) or any(is_about(subject, text) for text in told)

    @staticmethod
    def is_of_state(subject: Question) -> bool:
        """Whether the alert is about whether a thing runs and answers."""
        return _OF_STATE.search(spoken(subject.alert)) is not None

    @property
    def _is_quiet(self) -> bool:
        shown = bool(self.well or any(one.mood == "back" for one in self.past))
        quiet = any(one.mood == "none" for one in self.well) and bool(self.steady)
        named = any(one.mood != "none" for one in self.well) or bool(self.past)
        return not self.standing and not self.moved and shown and (named or quiet)


def is_about(subject: Question, text: str) -> bool:
    """Whether the text speaks of what the alert's name says: connections, latency, storage."""
    words = (word.lower() for word in _WORD.findall(spoken(subject.alert)))
    return any(word[:_STEM] in text.lower() for word in words if word not in _SAYS_LITTLE)


def health_of(found: Sequence[Record], series: Sequence[Series]) -> Health:
    present = max((one.at for one in found if one.at), default=None)
    held = [one for one in found if one.mood != "good" or not _may_fall(one, present)]
    trouble = [one for one in found if one.mood == "trouble"]
    over = [one for one in trouble if _is_over(one, held)]
    bad = [one for one in found if one.mood == "bad"]
    return Health(
        standing=(*bad, *(one for one in trouble if one not in over)),
        past=(*over, *(one for one in found if one.mood == "back")),
        well=tuple(one for one in held if one.mood in ("good", "none")),
        moved=tuple(one for one in series if is_off(one)),
        steady=tuple(one for one in series if not is_off(one)),
        events=tuple(one for one in found if one.at is not None and "event" in one.tool.lower()),
    )


def is_off(series: Series) -> bool:
    """Left its level and did not come back, for the worse; or a share of a resource that is nearly full."""
    numbers = series.numbers
    before, after = numbers.get("before"), numbers.get("after")
    is_share = series.written.get("unit", "").lower() in _SHARES
    if is_share and any(word in series.name.lower() for word in _RESOURCES) and numbers.get("last", 0.0) >= FULL:
        return True
    if series.change_at is None or before is None or after is None:
        return False
    low, high = sorted((abs(before), abs(after)))
    rose_well = after > before and health_words().more_is_better.search(series.name) is not None
    return high > MOVED * low and not rose_well


def _may_fall(record: Record, present: datetime | None) -> bool:
    """Up, but after several restarts, and nothing that was read is so much later that it has shown to stay up: between
    two crashes a container is ready too."""
    restarts = _RESTARTS.search(record.cited.ref.text)
    if restarts is None or int(restarts[1]) < LOOP:
        return False
    return record.since is None or present is None or present - record.since < STAYS_UP


def _is_over(trouble: Record, found: Sequence[Record]) -> bool:
    """A later record says that it is over, or its own thing has been well since."""
    if trouble.at is None:
        return False
    later = [one for one in found if one.mood == "back" and one.at and one.at >= trouble.at]
    if any(_same(trouble, one) for one in later):
        return True
    own = [one for one in found if one.mood == "good" and one.about and one.about == trouble.about]
    return any(one.since is not None and one.since >= trouble.at for one in own)


def _same(trouble: Record, other: Record) -> bool:
    """Of one thing, of a pod and its workload, or of a thing that the other's words name."""
    mine, theirs = trouble.about, other.about
    if not mine or not theirs or mine in other.cited.ref.text or theirs in trouble.cited.ref.text:
        return True
    return mine.startswith(theirs) or theirs.startswith(mine)
