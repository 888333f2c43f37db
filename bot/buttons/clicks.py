"""A click on a button, read once at the border, and the run that it is about: for those who can read its channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.state import StateUnreadable
from bot.answers.stored_answer import stored_answer
from bot.blocks.modal import View, loading_view, modal
from bot.blocks.parts import paragraph
from bot.blocks.reader import Reader
from bot.desk import Desk
from bot.slack.client import SlackAway, SlackRefused
from bot.slack.incoming import instant
from bot.slack.people import LookupFailed, Person
from storage.errors import RunNotFound, StorageError
from storage.jobs import Job
from storage.records import Run

GONE = "run_gone"


@dataclass(frozen=True)
class Click:
    """`channel` and `message_ts` are empty where the button stands in a modal, `view_id` where it stands in a message.
    `words` are those of the message: what language the person reads."""

    user: str
    value: str
    at: datetime
    trigger_id: str
    channel: str = ""
    message_ts: str = ""
    thread_ts: str | None = None
    view_id: str = ""
    words: str = ""


@dataclass(frozen=True)
class Subject:
    """What a click is about, and who clicked."""

    job: Job
    run: Run
    person: Person

    @property
    def gaps(self) -> tuple[str, ...]:
        """None where another version wrote the run."""
        try:
            return stored_answer(self.run).gaps
        except StateUnreadable:
            return ()

    def gap(self, number: int) -> str:
        return self.gaps[number] if number < len(self.gaps) else ""


class Denied(Exception):
    """Why nothing comes of a click: `key` names the sentence in bot/talk."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def read_click(body: Mapping[str, Any]) -> Click:
    """From a block_actions payload."""
    action: Mapping[str, Any] = (body.get("actions") or [{}])[0]
    where: Mapping[str, Any] = body.get("container") or {}
    message: Mapping[str, Any] = body.get("message") or {}
    return Click(
        user=str(body["user"]["id"]),
        value=str(action.get("value") or ""),
        at=instant(str(action.get("action_ts") or "")),
        trigger_id=str(body.get("trigger_id") or ""),
        channel=str((body.get("channel") or {}).get("id") or where.get("channel_id") or ""),
        message_ts=str(where.get("message_ts") or message.get("ts") or ""),
        thread_ts=str(where.get("thread_ts") or message.get("thread_ts") or "") or None,
        view_id=str((body.get("view") or {}).get("id") or ""),
        words=str(message.get("text") or ""),
    )


async def about(desk: Desk, user: str, run_id: str, seen_in: str = "") -> Subject:
    """The run with its job. `seen_in` is the channel where the person clicked, empty for a modal. Raises Denied where
    the run is gone, or is none of this person's business."""
    try:
        job, run = await desk.db.call(_stored, desk, run_id)
    except RunNotFound as error:
        raise Denied(GONE) from error
    refused = await desk.refusal(user, job.channel)
    if refused:
        raise Denied(refused)
    if seen_in == job.channel:
        desk.people.saw(user, seen_in)
    if not await desk.people.may_read(user, job.channel):
        raise Denied("not_readable")
    return Subject(job, run, await desk.people.person(user))


def _stored(desk: Desk, run_id: str) -> tuple[Job, Run]:
    return desk.jobs.job(run_id), desk.trace.run(run_id)


def say(desk: Desk, click: Click, name: str, **values: object) -> None:
    """To the one who clicked a button of a message, alone."""
    text = desk.says(desk.language(Person(click.user), click.words), name, **values)
    desk.whisper_later(click.channel, click.user, click.thread_ts, text)


# ---------------------------------------------------------------- modals

Fill = Callable[[Subject, Reader], Awaitable[View]]


async def open_modal(desk: Desk, click: Click, run_id: str, fill: Fill, loading: Callable[[Reader], View] | None = None) -> None:
    """A modal that says at once that it loads, since a trigger lives three seconds; then what `fill` makes of the run,
    or why there is nothing to see."""
    reader = desk.reader(desk.language(Person(click.user), click.words))
    shown = loading(reader) if loading else loading_view("loading", reader)
    opened = await desk.slack.optional("views.open", trigger_id=click.trigger_id, view=shown)
    if opened is None:
        say(desk, click, "slack_busy")
        return
    desk.later.start(_filled(desk, click, str(opened["view"]["id"]), run_id, fill, reader))


def turn_page(desk: Desk, click: Click, run_id: str, fill: Fill, language: str) -> None:
    """The same modal, filled anew."""
    desk.later.start(_filled(desk, click, click.view_id, run_id, fill, desk.reader(language)))


async def _filled(desk: Desk, click: Click, view_id: str, run_id: str, fill: Fill, reader: Reader) -> None:
    view = await _view(desk, click, run_id, fill, reader)
    try:
        await desk.slack.call("views.update", view_id=view_id, view=view)
    except (SlackAway, SlackRefused) as error:
        if isinstance(error, SlackRefused) and error.error == "not_found":
            return  # the person closed it
        raise


async def _view(desk: Desk, click: Click, run_id: str, fill: Fill, reader: Reader) -> View:
    try:
        subject = await about(desk, click.user, run_id, click.channel)
        mine = desk.reader(subject.run.language, subject.person.zone or desk.zone)
        return await fill(subject, mine)
    except Denied as error:
        return note_view(reader, desk.says(reader.language, error.key))
    except (StateUnreadable, RunNotFound):
        return note_view(reader, desk.says(reader.language, GONE))
    except (StorageError, LookupFailed):
        return note_view(reader, desk.says(reader.language, "not_now"))


def note_view(reader: Reader, text: str) -> View:
    """A modal that only says something."""
    return modal("note", reader.say("note_title"), [paragraph(text, reader)], reader)
