"""A report with what its claim ids stand for: the same parts in the message and in the attached text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from agents.answer import marked
from agents.contracts import AiopsReport, Alert, AllowedClaim, BlastEntry, RunOutcome, Verdict
from bot.answers.statements import marks

RUNBOOK = "runbook"
_RUNBOOK_NOTES = ("runbook_url", "runbook", "runbookUrl")


@dataclass(frozen=True)
class ToldReport:
    outcome: RunOutcome
    report: AiopsReport

    @cached_property
    def _by_id(self) -> dict[str, AllowedClaim]:
        return {allowed.claim.claim_id: allowed for allowed in self.outcome.claims}

    def claims(self, ids: Iterable[str]) -> list[AllowedClaim]:
        """Those that the outcome holds, in the order of its numbers."""
        found = {id_: self._by_id[id_] for id_ in ids if id_ in self._by_id}
        return sorted(found.values(), key=lambda allowed: allowed.number)

    @property
    def causes(self) -> list[AllowedClaim]:
        return self.claims(self.report.probable_cause)

    @property
    def health(self) -> list[AllowedClaim]:
        return [allowed for allowed in self.outcome.claims if allowed.claim.claim_type == "healthy"]

    @property
    def conclusion(self) -> AllowedClaim | None:
        """The cause; for a proven verdict also the health that it rests on. What the answer leads with comes first."""
        proven = [*self.causes, *(self.health if self.outcome.verdict is Verdict.PASS else [])]
        led = marks(self.outcome.sections.lead)
        return min(proven, key=lambda allowed: allowed.number not in led, default=None)

    @property
    def changes(self) -> list[AllowedClaim]:
        """Those that are not the cause itself, unless nothing else is stated."""
        causes = {allowed.claim.claim_id for allowed in self.causes}
        found = [one for one in self.claims(self.report.changes) if one.claim.claim_id not in causes]
        return found if len(found) < len(self.outcome.claims) else []

    @property
    def stated(self) -> list[AllowedClaim]:
        """The conclusion first, without the changes."""
        changes = {allowed.claim.claim_id for allowed in self.changes}
        first = self.conclusion
        rest = [one for one in self.outcome.claims if one is not first and one.claim.claim_id not in changes]
        return [first, *rest] if first is not None else rest

    @property
    def finding(self) -> AllowedClaim | None:
        """The best that was found where no cause was: nothing that only says what was not found."""
        return next((one for one in self.stated if one.claim.claim_type != "gap"), None)

    @property
    def alert(self) -> Alert | None:
        """The one that the report stays on."""
        return next(iter(self.report.alerts), None)

    @property
    def steps(self) -> tuple[str, ...]:
        """Without those that only name a runbook: its link stands apart."""
        actions = (action.action_text for action in self.report.actions)
        others = (step for step in self.outcome.sections.next_steps if not any(url in step for url in self.runbooks))
        return _some((*actions, *others))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Those of the answer first: buttons count them."""
        return _some((*self.outcome.sections.gaps, *self.report.missing_info))

    @property
    def leads(self) -> tuple[str, ...]:
        """Hypotheses that no step speaks of."""
        texts = _some(one.hypothesis_text for one in self.outcome.hypotheses)
        return tuple(text for text in texts if not any(text in step for step in self.steps))

    @property
    def cases(self) -> tuple[str, ...]:
        shown = (": ".join(_some((case.title or case.case_id, case.detail))) for case in self.report.similar_cases)
        return _some(shown)

    @property
    def runbooks(self) -> tuple[str, ...]:
        return _some(link for alert in self.report.alerts for link in runbooks_of(alert))

    @property
    def alert_counts(self) -> list[tuple[str, int]]:
        """`KubePodNotReady · firing`, and how often, the first alert's first."""
        return list(Counter(alert_name(alert) for alert in self.report.alerts).items())

    def marks_of(self, entry: BlastEntry, most: int | None = None) -> str:
        """`[1][3]`; beyond `most` of them how many more there are."""
        marks = [f"[{allowed.number}]" for allowed in self.claims(entry.claim_ids)]
        shown = marks[:most]
        return "".join(shown) + (f" +{len(marks) - len(shown)}" if len(marks) > len(shown) else "")

    @property
    def marked_changes(self) -> list[str]:
        return [marked(allowed) for allowed in self.changes]


def alert_name(alert: Alert) -> str:
    return " · ".join(part for part in (alert.alert_name or alert.sender, alert.severity, alert.status) if part)


def runbooks_of(alert: Alert) -> list[str]:
    """The link that the post itself carries, or what its annotations name."""
    noted = [alert.annotations[name] for name in _RUNBOOK_NOTES if name in alert.annotations]
    return [alert.links[RUNBOOK]] if RUNBOOK in alert.links else noted[:1]


def _some(texts: Iterable[str]) -> tuple[str, ...]:
    """Each once, without blank ones."""
    return tuple(dict.fromkeys(text for text in texts if text.strip()))
