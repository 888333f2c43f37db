"""The case library: what useful runs found, and what a person made of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Executable, and_, bindparam, false, insert, or_, select, update

from storage.audience import Audience
from storage.database import Database
from storage.errors import CaseNotFound, RunNotFound
from storage.feedback import LOCK, tally
from storage.models_slack import case_library
from storage.readable import readable
from storage.types import database_now, encodable

Status = Literal["active", "draft", "retracted"]
SYSTEM = "system"
TITLE_CHARS = 100


@dataclass(frozen=True)
class CaseText:
    """What a person may edit. A title longer than 100 characters is cut."""

    title: str
    root_cause: str
    solution: str
    fault_category: str = "GENERAL"


@dataclass(frozen=True)
class NewCase:
    """What a run gives: `active` where its verdict was PASS, else `draft` until a person edits it. `is_private` keeps
    it inside its channel. `case_id` counts where the run has no case yet."""

    case_id: str
    run_id: str
    text: CaseText
    status: Literal["active", "draft"]
    verdict: str
    language: str
    team: str | None
    channel: str | None
    thread_ts: str | None
    is_private: bool


@dataclass(frozen=True)
class Case:
    """A row of case_library. `diagnosis_id` is the run's id; `source_type` AUTO or EDITED."""

    case_id: str
    diagnosis_id: str
    source_type: str
    fault_category: str
    title: str
    root_cause: str
    solution: str
    created_by: str
    status: Status
    retracted_by: str | None
    voted_down: bool
    verdict: str
    language: str
    team: str | None
    channel: str | None
    thread_ts: str | None
    is_private: bool
    created_at: datetime
    updated_at: datetime

    @property
    def is_edited(self) -> bool:
        return self.source_type == "EDITED"

    @property
    def is_offered(self) -> bool:
        """Whether later runs may find it."""
        return self.status == "active" and not self.voted_down

    @property
    def text(self) -> CaseText:
        return CaseText(self.title, self.root_cause, self.solution, self.fault_category)


Cases = list[Case]

row = case_library.c
CASES = select(*(row[field.name] for field in fields(Case)))
OF_RUN = CASES.where(row.diagnosis_id == bindparam("the_run"))
NAMED = CASES.where(or_(row.case_id == bindparam("the_name"), row.diagnosis_id == bindparam("the_name")))
OFFERED = and_(row.status == "active", row.voted_down == false())


class CaseStore:
    def __init__(self, db: Database) -> None:
        self._db = db

    # ---------------------------------------------------------------- writing

    def save(self, new: NewCase) -> Case:
        """The run's case: made where there is none, taken up again where the system had retracted it, else left as it
        is. Raises RunNotFound for a run that is gone."""
        return self._db.transact(lambda connection: _saved(connection, new))

    def save_edited(self, new: NewCase, text: CaseText, editor: str) -> Case:
        """`save` with a person's words: active, whatever the verdict."""

        def work(connection: Connection) -> Case:
            return _edited(connection, _saved(connection, new).case_id, text, editor)

        return self._db.transact(work)

    def edit(self, name: str, text: CaseText, editor: str) -> Case:
        """A person's words make a case active. `name` is its id or its run's. Raises CaseNotFound."""
        return self._db.transact(lambda connection: _edited(connection, _named(connection, name).case_id, text, editor))

    def retract(self, name: str, by: str) -> Case:
        """A person takes the case back: votes do not bring it up again, editing does. Raises CaseNotFound."""

        def work(connection: Connection) -> Case:
            case_id = _named(connection, name).case_id
            return _changed(connection, case_id, status="retracted", retracted_by=by)

        return self._db.transact(work)

    def follow_votes(self, new: NewCase) -> Case | None:
        """Bring the run's case into line with the votes as they stand: `save` where somebody finds the run useful; else
        it is retracted, unless a person edited it. None where there is no case. Raises RunNotFound."""

        def work(connection: Connection) -> Case | None:
            _lock(connection, new.run_id)
            if tally(connection, new.run_id, changed=False).useful:
                return _saved(connection, new)
            case = _first(connection, OF_RUN, the_run=new.run_id)
            if case is None or case.is_edited or case.status == "retracted":
                return case
            return _changed(connection, case.case_id, status="retracted", retracted_by=SYSTEM)

        return self._db.transact(work)

    # ---------------------------------------------------------------- reading

    def get(self, name: str) -> Case:
        """By its id, or its run's. Raises CaseNotFound."""
        with self._db.read() as connection:
            return _named(connection, name)

    def of_run(self, run_id: str) -> Case | None:
        with self._db.read() as connection:
            return _first(connection, OF_RUN, the_run=run_id)

    def list(self, status: Status | None = None, limit: int = 100) -> Cases:
        """Newest first; of one status, or of all."""
        query = CASES if status is None else CASES.where(row.status == status)
        return self._cases(query.order_by(row.id.desc()).limit(limit))

    def searchable(self, audience: Audience, limit: int = 1000) -> Cases:
        """What runs for this audience may find: active, not voted down, of their workspace, and a private channel's in
        that channel alone. Newest first."""
        query = CASES.where(OFFERED, readable(case_library, audience)).order_by(row.id.desc())
        return self._cases(query.limit(limit))

    def searchable_ids(self, audience: Audience) -> set[str]:
        query = select(row.case_id).where(OFFERED, readable(case_library, audience))
        with self._db.read() as connection:
            return set(connection.execute(query).scalars())

    def _cases(self, query: Executable) -> Cases:
        with self._db.read() as connection:
            return [Case(*one) for one in connection.execute(query)]


def _saved(connection: Connection, new: NewCase) -> Case:
    _lock(connection, new.run_id)
    case = _first(connection, OF_RUN, the_run=new.run_id)
    if case is None:
        return _added(connection, new)
    if case.status == "retracted" and case.retracted_by == SYSTEM:
        return _changed(connection, case.case_id, status=new.status, retracted_by=None)
    return case


def _lock(connection: Connection, run_id: str) -> None:
    """Of two votes at once one makes the case and the other finds it."""
    if connection.execute(LOCK, {"the_run": run_id}).first() is None:
        raise RunNotFound(f"Run {run_id!r} is no longer stored: no case can be made of it.")


def _added(connection: Connection, new: NewCase) -> Case:
    values = asdict(new)
    values |= _columns(new.text) | {
        "diagnosis_id": values.pop("run_id"),
        "source_type": "AUTO",
        "created_by": SYSTEM,
        "voted_down": tally(connection, new.run_id, changed=False).voted_down,
        "created_at": database_now(),
        "updated_at": database_now(),
    }
    values.pop("text")
    connection.execute(insert(case_library).values(values))
    return _named(connection, values["case_id"])


def _edited(connection: Connection, case_id: str, text: CaseText, editor: str) -> Case:
    by = {"source_type": "EDITED", "created_by": editor, "status": "active", "retracted_by": None}
    return _changed(connection, case_id, **_columns(text), **by)


def _columns(text: CaseText) -> dict[str, str]:
    return asdict(text) | {"title": encodable(text.title)[:TITLE_CHARS]}


def _changed(connection: Connection, case_id: str, **values: Any) -> Case:
    change = update(case_library).where(row.case_id == case_id)
    connection.execute(change.values(**values, updated_at=database_now()))
    return _named(connection, case_id)


def _named(connection: Connection, name: str) -> Case:
    case = _first(connection, NAMED, the_name=name)
    if case is None:
        raise CaseNotFound(f"No case {name!r} is stored: `proofthread cases list` shows them.")
    return case


def _first(connection: Connection, query: Executable, **values: str) -> Case | None:
    found = connection.execute(query, values).first()
    return None if found is None else Case(*found)
