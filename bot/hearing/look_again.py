"""`look again in 15 minutes`, `15分钟后再看`: when somebody wants a second look, and what is planned then."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.blocks.reader import Reader
from bot.desk import Desk
from bot.hearing.wished_times import NoTime, until_of
from bot.slack.incoming import Incoming
from bot.slack.people import Person
from bot.timetable.language import schedule_words
from storage.rechecks import NewRecheck, RecheckStore

LEAST, MOST = timedelta(minutes=1), timedelta(days=7)
_TIME = r"(?P<time>(?:\d+(?:\.\d+)?|an?|half an?|a quarter of an)\s*[a-z]+)"
_AGAIN = r"(?:(?:look|check|try|ask|have a look)(?:\s+(?:at\s+)?(?:it|this|that))?\s+(?:again|back)|re-?check(?:\s+(?:it|this))?|again)"
# Somebody may be called by name first.
_CALLED = r"(?:@?[\w-]+\s*[,:，：]\s*)?"
_ENGLISH = re.compile(
    rf"{_CALLED}(?:please\s+|can you\s+|could you\s+)*(?:{_AGAIN}\s+(?:in|after)\s+{_TIME}|(?:in|after)\s+{_TIME.replace('time', 'then')}\s*,?\s*{_AGAIN})"
    r"(?:\s+please)?\s*(?:$|[.,;!?]|\band\b|\bto see\b|\bwhether\b|\bif\b)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    rf"{_CALLED}(?:请|麻烦)?(?:你)?(?:过|在)?(?P<time>半个?小时|[\d一二两三四五六七八九十]+\s*个?\s*(?:分钟|分|小时|天|日))(?:以后|之后|后)?"
    r"(?:请|你|帮我)*(?:再|重新|回来)(?:来)?(?:看|查|检查|确认)"
)
_WORDED = {"half an": "30 minutes", "half a": "30 minutes", "a quarter of an": "15 minutes"}
_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}


def wished_wait(text: str) -> timedelta | None:
    """How long until the second look that is asked for; None where none is."""
    said = " ".join(text.split())
    match = _ENGLISH.match(said) or _CHINESE.match(said)
    if match is None:
        return None
    named = match.groupdict()
    epoch = datetime.fromtimestamp(0, UTC)
    try:
        return until_of(_plain(named.get("time") or named.get("then") or ""), epoch, ZoneInfo("UTC")) - epoch
    except NoTime:
        return None


async def plan_look(desk: Desk, message: Incoming, person: Person, wait: timedelta) -> str:
    """What the person is told. Raises StorageError."""
    language, zone = desk.language(person, message.text), ZoneInfo(person.zone or desk.zone)
    reader = Reader(schedule_words(desk.place.replies), language, zone)
    if not LEAST <= wait <= MOST:
        return reader.say("look_again_how")
    run_id = await desk.db.call(_subject, desk, message)
    if run_id is None:
        return reader.say("look_again_nothing")
    thread, due = message.thread, message.at + wait
    key = f"ask:{thread.team}:{thread.channel}:{message.ts}"
    new = NewRecheck(key, thread.team, thread.channel, thread.ts, run_id or None, person.id, message.at, due)
    await desk.db.call(RecheckStore(desk.db).add, new)
    return reader.say("look_again_taken", when=reader.at(due))


def _subject(desk: Desk, message: Incoming) -> str | None:
    """The run that the thread is about, empty for an incident that has none; None where nothing was looked at."""
    thread = message.thread
    incident = desk.incidents.of_thread(thread.team, thread.channel, thread.ts)
    if incident is not None:
        return incident.run_id or ""
    runs = desk.sessions.runs(thread.session_id)
    return next((run.run_id for run in reversed(runs) if run.agent_flow == "CHAT"), None)


def _plain(said: str) -> str:
    """`half an hour` and `十五分钟` as numbers."""
    text = said.lower().strip()
    for words, plain in _WORDED.items():
        if text.startswith(f"{words} "):
            return plain
    text = re.sub(r"^an?\s+", "1 ", text)
    return re.sub(r"[一二两三四五六七八九十]+", lambda match: str(_number(match[0])), text)


def _number(han: str) -> int:
    """Up to 99, as people say it: 五, 十五, 二十, 三十五."""
    tens, ten, ones = han.rpartition("十")
    if not ten:
        return _DIGITS.get(han[-1], 0)
    return 10 * (_DIGITS.get(tens[-1], 0) if tens else 1) + (_DIGITS.get(ones[-1], 0) if ones else 0)
