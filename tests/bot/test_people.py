"""Who asks and where: asked for once an hour, remembered while Slack is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from bot.admission import Admission
from bot.emulator.slack import SlackEmulator
from bot.slack.client import SlackAccess, open_slack
from bot.slack.people import FRESH_SECONDS, LookupFailed, People, Person


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def people(slack: SlackEmulator, clock: Clock | None = None, enterprise: str = "") -> AsyncIterator[People]:
    access = SlackAccess(slack.bot_token, slack.api_url, failure_tries=0, rate_limit_tries=0)
    async with open_slack(access) as calls:
        yield People(calls, slack.team_id, enterprise, clock or Clock())


async def test_a_person_is_asked_for_once_however_many_ask_at_the_same_time() -> None:
    with SlackEmulator() as slack:
        async with people(slack) as known:
            found = await asyncio.gather(*(known.person("U0BEN00001") for _ in range(20)))
            assert {(one.zone, one.language, one.is_guest) for one in found} == {("Asia/Shanghai", "zh", False)}
            assert len(slack.calls("users.info")) == 1


async def test_after_an_hour_a_person_is_asked_for_again_and_kept_while_slack_is_away() -> None:
    clock = Clock()
    with SlackEmulator() as slack:
        async with people(slack, clock) as known:
            before = await known.person("U0ANA00001")
            clock.now = FRESH_SECONDS + 1
            slack.fail("users.info", status=503, times=None)
            assert await known.person("U0ANA00001") == before
            assert len(slack.calls("users.info")) == 2
            with pytest.raises(LookupFailed, match="U0BEN00001"):
                await known.person("U0BEN00001")


async def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    with SlackEmulator() as slack:
        slack.fail("users.info", delay=2.5, times=1)
        async with people(slack) as known:
            with pytest.raises(LookupFailed):
                await known.person("U0ANA00001")


async def test_somebody_whom_slack_does_not_know_is_a_stranger() -> None:
    with SlackEmulator() as slack:
        async with people(slack) as known:
            assert (await known.person("U0NOBODY01")).is_stranger


async def test_a_zone_that_we_do_not_know_is_left_out() -> None:
    with SlackEmulator() as slack:
        user = slack.add_user("zoe", tz="Mars/Olympus", locale="fr-FR")
        async with people(slack) as known:
            person = await known.person(user)
            assert (person.zone, person.language) == ("", "en")


async def test_a_place_tells_whether_the_bot_is_in_it() -> None:
    with SlackEmulator() as slack:
        async with people(slack) as known:
            places = [await known.place(name) for name in ("C0INCIDENT", "C0RANDOM01", "G0PRIVATE1", "C0NOWHERE1")]
            assert [(place.is_member, place.is_private) for place in places] == [
                (True, False), (False, False), (True, True), (False, False),
            ]  # fmt: skip


@pytest.mark.parametrize(
    ("admission", "person", "refused"),
    [
        (Admission(), Person("U1"), None),
        (Admission(), Person("U1", is_guest=True), "refused_guest"),
        (Admission(guests=True), Person("U1", is_guest=True), None),
        (Admission(), Person("U1", team="T2", is_stranger=True), "refused_stranger"),
        (Admission(teams=frozenset({"T2"})), Person("U1", team="T2", is_stranger=True), None),
        (Admission(guests=True), Person("U1", team="T2", is_stranger=True, is_guest=True), "refused_stranger"),
        (Admission(users=frozenset({"U2"})), Person("U1"), "refused_user"),
        (Admission(users=frozenset({"U1"})), Person("U1", is_guest=True), None),
    ],
)
def test_who_may_ask(admission: Admission, person: Person, refused: str | None) -> None:
    assert admission.refuses_person(person) == refused


def test_a_direct_message_is_never_on_the_list_of_channels() -> None:
    admission = Admission(channels=frozenset({"C1"}))
    assert [admission.refuses_channel(name) for name in ("C1", "C2", "D9")] == [None, "refused_channel", None]
