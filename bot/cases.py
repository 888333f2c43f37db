"""From a useful run to a case: what it says, when it stands, and how later runs find it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass

from agents.answer import actions, allowed_claims
from agents.contracts import Verdict
from agents.state import RunState, StateUnreadable, load_state
from bot.app import App
from bot.errors import ConfigError
from bot.evaluation.frozen import freeze
from bot.knowledge import sync_deps
from storage.cases import TITLE_CHARS, Case, CaseStore, CaseText, NewCase
from storage.engine import Database
from storage.errors import CaseNotFound, RunNotFound, StorageError
from storage.frozen import FrozenScenarios
from storage.sessions import SessionStore
from storage.trace import Run, TraceStore
from tools.case_index import forget_cases, index_case
from tools.ingest import SyncDeps
from tools.skills import SkillRegistry

GENERAL = "GENERAL"
TRIES = 5

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cases:
    """The case library as the bot uses it. All methods raise StorageError where the database is away."""

    db: Database
    knowledge: SyncDeps
    skills: SkillRegistry
    redact: Callable[[str], str]
    new_id: Callable[[], str]

    @classmethod
    def of(cls, app: App) -> Cases:
        work = app.work
        return cls(app.database, sync_deps(app, with_vectors=True), app.tools.skills, work.redactor.text, work.new_id)

    async def after_vote(self, run_id: str, *, is_private: bool) -> Case | None:
        """Bring the run's case, the search and its frozen scenario into line with the votes, however often it is called
        and from however many processes. Call it after each change, and once when the run has ended.

        `is_private`: whether the run's channel is (a direct message is too). Gives the case as it stands; None where
        there is none, since nobody finds the run useful or it has not ended. Raises RunNotFound.
        """
        case = await self.db.call(self._settled, run_id, is_private)
        return case and await self._indexed(case)

    async def draft(self, run_id: str) -> CaseText:
        """What a person sees to edit: the case's words, or those that the run gives. Raises RunNotFound."""
        return await self.db.call(self._draft, run_id)

    async def edit(self, name: str, text: CaseText, editor: str, *, is_private: bool = True) -> Case:
        """A person's words, secrets masked; active from now on. `name` is the case's id or its run's; a run without a
        case gets one. Raises CaseNotFound, and RunNotFound for a run that is gone."""
        title, root_cause, solution = map(self.redact, (text.title, text.root_cause, text.solution))
        masked = CaseText(title, root_cause, solution, text.fault_category)
        case = await self.db.call(self._edited, name, masked, editor, is_private)
        return await self._indexed(case)

    async def retract(self, name: str, by: str) -> Case:
        """Raises CaseNotFound."""
        case = await self.db.call(CaseStore(self.db).retract, name, by)
        return await self._indexed(case)

    async def forget(self, case_ids: Collection[str]) -> None:
        """Purged cases leave the search as well."""
        await forget_cases(case_ids, self.knowledge)

    async def _indexed(self, case: Case) -> Case:
        """The case once the search holds it as it stands: somebody may have changed it in between."""
        for _ in range(TRIES):
            await index_case(case, self.knowledge)
            now = await self.db.call(CaseStore(self.db).of_run, case.diagnosis_id)
            if now is None or now == case:
                break
            case = now
        return case

    # ---------------------------------------------------------------- in the database's threads

    def _settled(self, run_id: str, is_private: bool) -> Case | None:
        run = TraceStore(self.db).run(run_id)
        if run.finished_at is None:
            return None
        case = CaseStore(self.db).follow_votes(self._new_case(run, is_private))
        if case is None or case.status == "retracted":
            FrozenScenarios(self.db).thaw(run_id)
        else:
            self._freeze(run_id)
        return case

    def _freeze(self, run_id: str) -> None:
        """A run that cannot be frozen (another version wrote it, it is too large, it is gone) is a case all the same."""
        try:
            freeze(self.db, run_id)
        except RunNotFound:
            return
        except (ConfigError, StorageError) as error:
            log.warning("run %s was not frozen: %s", run_id, error)

    def _draft(self, run_id: str) -> CaseText:
        case = CaseStore(self.db).of_run(run_id)
        return case.text if case else case_text(TraceStore(self.db).run(run_id), self.skills)

    def _edited(self, name: str, text: CaseText, editor: str, is_private: bool) -> Case:
        cases = CaseStore(self.db)
        try:
            case = cases.edit(name, text, editor)
        except CaseNotFound:
            case = cases.save_edited(self._new_case(TraceStore(self.db).run(name), is_private), text, editor)
        self._freeze(case.diagnosis_id)
        return case

    def _new_case(self, run: Run, is_private: bool) -> NewCase:
        session = SessionStore(self.db).get(run.session_id)
        return NewCase(
            case_id=self.new_id(),
            run_id=run.run_id,
            text=case_text(run, self.skills),
            status="active" if run.verdict == Verdict.PASS else "draft",
            verdict=run.verdict or "",
            language=run.language,
            team=session.team if session else None,
            channel=session.channel if session else None,
            thread_ts=session.thread_ts if session else None,
            is_private=is_private,
        )


def case_text(run: Run, skills: SkillRegistry) -> CaseText:
    """Title: the question's beginning, an alert's name. Root cause and solution: the verified causes and the recommended
    actions, the answer where there are none. The category is that of the skill that led to a cause."""
    title, answer = _title(run.query), run.answer or ""
    try:
        state = load_state(run.state)
    except StateUnreadable:
        return CaseText(title, answer, answer, GENERAL)
    found = [allowed.claim for allowed in allowed_claims(state)]
    causes = [claim.claim_text for claim in found if claim.claim_type == "root_cause"]
    solution = [action.action_text for action in actions(state)]
    category = _category(state, skills) if causes else GENERAL
    named = next((alert.alert_name for alert in state.alerts if alert.alert_name), None)
    return CaseText(_title(named) if named else title, "\n".join(causes) or answer, "\n".join(solution) or answer, category)


def _title(text: str) -> str:
    return " ".join(text.split())[:TITLE_CHARS]


def _category(state: RunState, skills: SkillRegistry) -> str:
    plan = state.aiops_plan or state.plan
    skill = skills.read(plan.selected_skill) if plan and plan.selected_skill else None
    return (skill.metadata.get("fault_category") if skill else None) or GENERAL
