"""The disk of our own database fills up in the middle of a run: it says so, says what is proven, and can go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from zoneinfo import ZoneInfo

import pytest
from slack_worker import Incident, bench, emulator
from small_alert import alert_request, good_triage
from small_incident import good_run, request, scripted, world

from agents.contracts import RunOutcome, Verdict
from agents.cut_short import CutShort
from agents.events import RunEvent
from agents.ledger import RunLimits
from bot.commands.ended import show_end
from bot.jobs import execute, submit
from storage.engine import Database
from storage.errors import StorageUnavailable

UTC = ZoneInfo("UTC")
PLENTY = 1_000_000
SHORT = RunLimits(poll_seconds=0.01, lease_seconds=0)


class SmallDisk:
    """A database on one connection, so that SQLite's own bound of its size holds for all of it."""

    def __init__(self, url: str) -> None:
        self.db = Database(url, pool_size=1)

    def bound(self, pages: int) -> None:
        """No more pages than that, or than there are."""
        with self.db.read() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def full_at(self, kind: str, name: str) -> Callable[[RunEvent], None]:
        def on_event(event: RunEvent) -> None:
            if (event.kind, event.name) == (kind, name):
                self.bound(1)

        return on_event


@pytest.fixture
def disk(sqlite_url: str) -> Iterator[SmallDisk]:
    made = SmallDisk(sqlite_url)
    yield made
    made.db.close()


@pytest.mark.parametrize("node", ["VERIFIER", "COMPOSER"])
async def test_what_was_proven_is_told_and_the_run_goes_on_once_there_is_room(disk: SmallDisk, node: str) -> None:
    here = world(disk.db, scripted(*good_run()), limits=SHORT)
    run_id = await submit(request(), here.place)
    with pytest.raises(CutShort, match="database or disk is full; free space on the disk") as caught:
        await execute(run_id, here.place, disk.full_at("node_started", node))
    so_far = caught.value.so_far
    assert [one.claim.claim_type for one in so_far.claims] == ["root_cause", "change"]
    assert so_far.verdict is not Verdict.PASS
    assert any("My own database took no more" in gap for gap in so_far.sections.gaps)

    disk.bound(PLENTY)
    later = world(disk.db, scripted(*good_run()), limits=SHORT, prefix="later")
    assert (await execute(run_id, later.place)).verdict is Verdict.PASS


async def test_an_answer_whose_end_alone_could_not_be_stored_is_told_as_it_is(disk: SmallDisk) -> None:
    here = world(disk.db, scripted(*good_run()), limits=SHORT)
    run_id = await submit(request(), here.place)
    with pytest.raises(CutShort) as caught:
        await execute(run_id, here.place, disk.full_at("node_finished", "COMPOSER"))
    assert caught.value.so_far.verdict is Verdict.PASS
    assert "HikariPool-1" in caught.value.so_far.answer


async def test_a_triage_tells_what_is_proven_too(disk: SmallDisk) -> None:
    here = world(disk.db, scripted(*good_triage()), limits=SHORT)
    run_id = await submit(alert_request(), here.place)
    with pytest.raises(CutShort) as caught:
        await execute(run_id, here.place, disk.full_at("node_started", "REPORT"))
    assert caught.value.so_far.report is not None
    assert caught.value.so_far.claims


# ---------------------------------------------------------------- where people read it


@pytest.mark.parametrize("as_json", [False, True])
def test_the_terminal_says_what_happened_what_is_proven_and_how_to_go_on(
    outcome: RunOutcome, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    async def cut() -> RunOutcome:
        raise CutShort("proofthread.db: database or disk is full; free space on the disk.", outcome)

    with pytest.raises(StorageUnavailable, match=r"disk is full; free space.*ask --resume run-1 --sample$"):
        show_end(cut(), UTC, as_json=as_json, sample=True)
    assert ("HikariPool-1" in capsys.readouterr().out) is not as_json


async def test_the_thread_says_it_once_and_has_the_answer_once_there_is_room(disk: SmallDisk) -> None:
    model = Incident(waits_in="verifier")
    with emulator() as slack:
        async with bench(slack, disk.db, model, lease_seconds=0) as bot:
            job = bot.ask()
            bot.queue.wake(job.run_id)
            await model.waiting.wait()
            disk.bound(1)
            model.gate.set()
            await slack.wait_for(lambda: "I had to pause" in slack.thread_text(job.channel, job.thread_ts))
            text = slack.thread_text(job.channel, job.thread_ts)
            assert text.count("I had to pause") == 1
            assert "HikariPool-1" in text
            disk.bound(PLENTY)
            await bot.answered(job)
            assert "I had to pause" not in slack.thread_text(job.channel, job.thread_ts)
            assert len(bot.answers(job)) == 1
            # Whoever takes a run up cannot know that its stream has been ended.
            assert {call.method for call in slack.refused} <= {"chat.stopStream"}
