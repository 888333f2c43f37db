"""Bug reports of other bots about reactions that could not be resolved, or counted for the wrong thing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import Served, serving
from slack_worker import emulator

from bot.emulator.slack import SlackEmulator

MODES = pytest.mark.parametrize("mode", ["socket", "http"])


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with emulator() as running:
        yield running


def votes(served: Served) -> list[tuple[str, str | None]]:
    (run,) = served.runs
    return [(vote.user_id, vote.vote) for vote in served.bot.desk.feedback.votes(run.run_id)]


@MODES
async def test_a_reaction_on_a_thread_reply_finds_its_run(slack: SlackEmulator, tmp_path: Path, mode: Any) -> None:
    """tsg-ut/slackbot#330, liatrio/gratibot#50, langchain-ai/open-swe#1061: no thread_ts, and history is blind for replies."""
    async with serving(slack, tmp_path, mode) as served:
        ts = served.ask()
        answer = await served.answer_to("incidents", ts)
        slack.react("incidents", answer["ts"], "ana", "+1::skin-tone-4")
        await served.settled()
        assert votes(served) == [("U0ANA00001", "useful")]
        slack.unreact("incidents", answer["ts"], "ana", "+1::skin-tone-4")
        await served.settled()
        assert votes(served) in ([], [("U0ANA00001", None)])


@MODES
async def test_a_reaction_without_item_user_counts_and_one_on_anothers_message_does_not(
    slack: SlackEmulator, tmp_path: Path, mode: Any
) -> None:
    """lyft/omnibot#114: item_user may be missing."""
    slack.behaviour.with_item_user = False
    async with serving(slack, tmp_path, mode) as served:
        ts = served.ask()
        answer = await served.answer_to("incidents", ts)
        aside = slack.post("incidents", "ben", "I think it is the pool", thread_ts=ts)
        for message in (ts, aside):
            slack.react("incidents", message, "ben", "+1")
        await served.settled()
        assert votes(served) == []
        slack.react("incidents", answer["ts"], "ben", "-1")
        await served.settled()
        assert votes(served) == [("U0BEN00001", "not_useful")]
