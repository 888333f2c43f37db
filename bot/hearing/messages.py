"""What a message starts: a run, a second look later, a short reply, a stop, or nothing. The same for app_mention and message events."""

from __future__ import annotations

from bot.desk import Asked, Desk
from bot.greetings import asks_to_stop, asks_what_was_found, reply_to
from bot.hearing.incidents import incident_meant, is_under_way, triage_now
from bot.hearing.look_again import plan_look, wished_wait
from bot.hearing.recall import what_was_found
from bot.jobs import MAX_QUESTION_CHARS, RequestRefused
from bot.slack.attention import is_follow_up
from bot.slack.incoming import MENTION, Incoming
from bot.slack.people import Person
from bot.worker import QUIET
from storage.incidents import Incident
from storage.jobs import Added


async def hear(desk: Desk, message: Incoming) -> None:
    """Raises StorageError and LookupFailed: the event must stay unacknowledged then."""
    if message.starts_nothing:
        if message.deleted_ts:
            await _taken_back(desk, message)
        await desk.note(_event_key(message))
    elif message.is_mention or message.is_direct:
        await _addressed(desk, message)
    else:
        await _overheard(desk, message)


async def _taken_back(desk: Desk, message: Incoming) -> None:
    """A question that was deleted needs no answer, and one that nobody has begun to work on no word either."""
    for job in await desk.db.call(desk.jobs.unfinished, message.thread):
        if job.ts == message.deleted_ts and job.trigger == MENTION:
            if job.attempt == 0:
                await desk.db.call(desk.trace.put_evaluation, job.run_id, QUIET, {"why": "deleted"})
            await desk.cancel(job.run_id)


async def _overheard(desk: Desk, message: Incoming) -> None:
    """A message without a mention counts only in a thread that the bot has joined."""
    session = await desk.db.call(desk.sessions.of_thread, message.thread) if message.thread_ts else None
    if session is None:
        await desk.note(_event_key(message))
        return
    follows = is_follow_up(message, session, desk.bot.name, desk.settings.follow_up_seconds)
    if asks_to_stop(message.text) and await desk.refusal(message.user, message.channel) is None:
        await _stop(desk, message, aloud=False)
    elif follows and reply_to(message.text) is None and await desk.refusal(message.user, message.channel) is None:
        person = await desk.people.person(message.user)
        if asks_what_was_found(message.text):
            await _recall(desk, message, person)
        elif wait := wished_wait(message.text):
            await _say_once(desk, message, await plan_look(desk, message, person, wait))
        else:
            await _answer(desk, message, person, "follow_up")
    else:
        await desk.db.call(desk.sessions.spoke, session.session_id, message.user, message.at)


async def _addressed(desk: Desk, message: Incoming) -> None:
    refused = await desk.refusal(message.user, message.channel)
    person = await desk.people.person(message.user) if refused != "refused_channel" else Person(message.user)
    if person.is_bot:
        await desk.note(_event_key(message))
    elif refused:
        await _whisper_once(desk, message, desk.says(desk.language(person, message.text), refused))
    elif asks_to_stop(message.text):
        await _stop(desk, message, aloud=True)
    elif asks_what_was_found(message.text):
        await _recall(desk, message, person)
    elif (incident := await incident_meant(desk, message)) is not None:
        await _triage(desk, message, person, incident)
    elif wait := wished_wait(message.text):
        await _say_once(desk, message, await plan_look(desk, message, person, wait))
    elif (reply := _small_talk(desk, message, person)) is not None:
        await _say_once(desk, message, reply)
    else:
        await _answer(desk, message, person, "direct" if message.is_direct else "mention")


def _small_talk(desk: Desk, message: Incoming, person: Person) -> str | None:
    language = desk.language(person, message.text)
    if not message.text:
        return desk.says(language, "files_only") if message.has_files else desk.usage(language)
    return reply_to(message.text)


async def _answer(desk: Desk, message: Incoming, person: Person, trigger: str) -> None:
    asked = Asked(
        key=message.key,
        thread=message.thread,
        person=person,
        question=message.text,
        at=message.at,
        event_id=message.event_id or None,
        details={"trigger": trigger, "kind": message.kind, "user_team": person.team},
    )
    try:
        result = await desk.submit(asked)
    except RequestRefused as error:
        await _say_once(desk, message, str(error))
        return
    if isinstance(result, Added) and len(message.text) > MAX_QUESTION_CHARS:
        cut = {"length": len(message.text), "limit": MAX_QUESTION_CHARS}
        desk.post_later(message.channel, message.thread.ts, desk.says(desk.language(person, message.text), "cut", **cut))


async def _triage(desk: Desk, message: Incoming, person: Person, incident: Incident) -> None:
    if await is_under_way(desk, message):
        await _say_once(desk, message, desk.says(desk.language(person, message.text), "triage_running"))
    else:
        await triage_now(desk, message, person, incident)


async def _stop(desk: Desk, message: Incoming, *, aloud: bool) -> None:
    """Asking a run to stop twice is asking once. Where nothing runs, only who spoke to the bot hears of it."""
    count = await desk.stop_thread(message.thread)
    if not await desk.note(_request_key(message)):
        return
    language = desk.language(await desk.people.person(message.user), message.text)
    if count:
        desk.post_later(message.channel, message.thread.ts, desk.says(language, "stopping"))
    elif aloud:
        desk.post_later(message.channel, message.thread.ts, desk.says(language, "nothing_to_stop"))


async def _recall(desk: Desk, message: Incoming, person: Person) -> None:
    if await desk.note(_request_key(message)):
        language = desk.language(person, message.text)
        desk.later.start(what_was_found(desk, message.thread, language, person.zone or desk.zone))


async def _say_once(desk: Desk, message: Incoming, text: str) -> None:
    if await desk.note(_request_key(message)):
        desk.post_later(message.channel, message.thread.ts, text)


async def _whisper_once(desk: Desk, message: Incoming, text: str) -> None:
    if await desk.note(_request_key(message)):
        desk.whisper_later(message.channel, message.user, message.thread_ts, text)


def _request_key(message: Incoming) -> str:
    """One key for the two events of a mention: it gets one reply."""
    return f"{message.team}:{message.channel}:{message.ts}:said"


def _event_key(message: Incoming) -> str:
    return message.event_id or _request_key(message)
