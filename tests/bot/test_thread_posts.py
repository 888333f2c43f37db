"""Each part of a run stands once in its thread, whatever gets lost on the way."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator

import pytest
from slack_worker import CHANNEL, Bench, bench, emulator, part_of

from bot.blocks.snippet import Snippet
from bot.emulator.slack import SlackEmulator
from bot.slack.client import SlackAway, SlackRefused
from storage.engine import Database

SNIPPET = Snippet("answer-run.txt", "The whole answer", "a long line\n" * 3_000)


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


@pytest.fixture
async def bot(slack: SlackEmulator, sqlite_database: Database) -> AsyncIterator[Bench]:
    async with bench(slack, sqlite_database, started=False) as made:
        yield made


async def test_a_post_carries_its_run_and_part_and_is_remembered(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    ts = await bot.posts(job).post("answer", text="hello https://example.org")
    (message,) = bot.parts(job)
    assert part_of(message) == ("answer", job.run_id)
    assert bot.jobs.run_of_message(CHANNEL, ts) == job.run_id
    assert slack.calls("chat.postMessage")[0]["unfurl_links"] is False


async def test_a_part_is_posted_once(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    posts = bot.posts(job)
    assert await posts.post("answer", text="hello") == await posts.post("answer", text="hello")
    assert len(bot.parts(job)) == 1


async def test_after_a_lost_reply_the_thread_is_read_before_posting_again(slack: SlackEmulator, bot: Bench) -> None:
    slack.fail("chat.postMessage", drop_reply=True)
    job = bot.ask()
    ts = await bot.posts(job).post("answer", text="hello")
    assert [message["ts"] for message in bot.parts(job)] == [ts]
    assert slack.calls("conversations.replies")[0]["include_all_metadata"] in (True, "1", "true")


async def test_a_post_that_never_arrived_is_posted_again(slack: SlackEmulator, bot: Bench) -> None:
    slack.fail("chat.postMessage", status=503)
    job = bot.ask()
    await bot.posts(job).post("answer", text="hello")
    assert len(bot.parts(job)) == 1
    assert len(slack.calls("chat.postMessage")) == 2


async def test_of_many_lost_replies_none_makes_a_second_post(slack: SlackEmulator, bot: Bench) -> None:
    slack.fail("chat.postMessage", drop_reply=True, rate=0.3)
    job = bot.ask()
    posts = bot.posts(job)
    for number in range(40):
        await posts.post(f"part-{number}", text=f"part {number}")
    found = Counter(part_of(message)[0] for message in bot.parts(job))
    assert found == {f"part-{number}": 1 for number in range(40)}


async def test_while_the_thread_cannot_be_read_nothing_is_posted_again(slack: SlackEmulator, bot: Bench) -> None:
    slack.fail("chat.postMessage", drop_reply=True)
    slack.fail("conversations.replies", error="internal_error", times=1)
    job = bot.ask()
    posts = bot.posts(job)
    with pytest.raises(SlackAway):
        await posts.post("answer", text="hello")
    await posts.post("answer", text="hello")
    assert len(bot.parts(job)) == 1


async def test_what_a_process_posted_before_it_died_is_found(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    ts = await bot.posts(job).post("answer", text="hello")
    bot.jobs.unposted(CHANNEL, ts)
    after = bot.posts(job)
    await after.load(look=True)
    assert await after.post("answer", text="hello") == ts
    assert bot.jobs.run_of_message(CHANNEL, ts) == job.run_id


async def test_the_parts_of_another_run_and_of_other_apps_are_not_ours(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    other = bot.ask(under=job.thread_ts)
    await bot.posts(other).post("answer", text="theirs")
    forged = {"event_type": "proofthread_part", "event_payload": {"run_id": job.run_id, "part": "answer"}}
    slack.post_as_bot(CHANNEL, {"text": "forged", "metadata": forged, "thread_ts": job.thread_ts})
    posts = bot.posts(job)
    await posts.load(look=True)
    assert posts.ts("answer") is None


async def test_a_refusal_is_told(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    slack.archive(CHANNEL)
    with pytest.raises(SlackRefused, match="is_archived"):
        await bot.posts(job).post("answer", text="hello")


# ---------------------------------------------------------------- files


async def test_a_file_goes_into_the_thread_and_its_message_is_remembered(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    await bot.posts(job).attach("overflow", SNIPPET, "more")
    (message,) = bot.parts(job)
    assert [file["name"] for file in message["files"]] == [SNIPPET.filename]
    assert slack.files()[0].content == SNIPPET.content.encode()
    assert bot.jobs.run_of_message(CHANNEL, message["ts"]) == job.run_id


async def test_a_lost_reply_makes_no_second_file(slack: SlackEmulator, bot: Bench) -> None:
    slack.fail("files.completeUploadExternal", drop_reply=True)
    job = bot.ask()
    posts = bot.posts(job)
    with pytest.raises(SlackAway):
        await posts.attach("overflow", SNIPPET, "more")
    await posts.attach("overflow", SNIPPET, "more")
    assert len(bot.parts(job)) == 1


async def test_without_the_scope_for_files_the_text_is_posted(slack: SlackEmulator, bot: Bench) -> None:
    slack.behaviour.scopes.discard("files:write")
    job = bot.ask()
    await bot.posts(job).attach("overflow", SNIPPET, "more")
    text = "".join(
        piece["text"]
        for message in bot.parts(job)
        for piece in message["blocks"][0]["elements"][0]["elements"]
    )
    assert text == SNIPPET.content


async def test_a_text_of_very_many_messages_ends_in_a_word_about_the_rest(slack: SlackEmulator, bot: Bench) -> None:
    slack.behaviour.scopes.discard("files:write")
    job = bot.ask()
    whole = Snippet("answer.txt", "The whole answer", "a long line\n" * 30_000)
    await bot.posts(job).attach("overflow", whole, "The rest stands in Evidence.")
    messages = bot.parts(job)
    assert len(messages) == 6
    assert messages[-1]["blocks"][0]["elements"][0]["elements"][0]["text"] == "The rest stands in Evidence."


async def test_a_stream_that_a_process_left_without_a_note_of_it_is_found(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    started = await bot.calls.call(
        "chat.startStream",
        channel=CHANNEL,
        thread_ts=job.thread_ts,
        recipient_team_id=slack.team_id,
        recipient_user_id="U0ANA00001",
        markdown_text="looking",
    )
    posts = bot.posts(job)
    await posts.load(look=True)
    assert posts.ts("progress") == started["ts"]
    other = bot.posts(bot.ask(under=job.thread_ts))
    await other.load(look=True)
    assert other.ts("progress") is None


async def test_two_looks_at_once_note_everything_once(slack: SlackEmulator, bot: Bench) -> None:
    job = bot.ask()
    for part in ("progress", "answer"):
        await bot.posts(job).post(part, text=part)
    posts = bot.posts(job)
    await asyncio.gather(*(posts.load(look=True) for _ in range(5)))
    assert len(bot.jobs.messages(job.run_id)) == 2
