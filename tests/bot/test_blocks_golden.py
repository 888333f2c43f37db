"""One payload a verdict and a block kind as files: reviewed by people, and sent to Slack's own blocks.validate by doctor.

PROOFTHREAD_TEST_UPDATE=1 rewrites them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from golden import check_golden
from slack_schema import block_problems, chunk_problems, view_problems

from agents.replies import Replies
from bot.blocks.cards import cards_of
from bot.blocks.evidence import proofs_of
from bot.blocks.incident import incident_words
from bot.blocks.progress import progress_chunks, progress_markdown
from bot.blocks.reader import Reader, slack_words
from bot.blocks.sample_run import sample_call, sample_events, sample_outcome, sample_proofs
from bot.blocks.samples import Sample, samples
from bot.slack.validator import check

FOLDER = Path(__file__).parent / "golden"
WORDS = slack_words(Replies.load(Path(__file__).parents[2] / "prompts" / "replies"))
SAMPLES = samples(incident_words(Replies.load(Path(__file__).parents[2] / "prompts" / "replies")))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_payload_looks_as_reviewed_and_is_taken(sample: Sample) -> None:
    if sample.kind == "message":
        assert check("chat.postMessage", {"channel": "C1", **sample.payload}) == []
        assert block_problems(sample.payload["blocks"]) == []
    else:
        home = sample.payload["type"] == "home"
        call = {"user_id": "U1"} if home else {"trigger_id": "1.2"}
        assert check("views.publish" if home else "views.open", {**call, "view": sample.payload}) == []
        assert view_problems(sample.payload) == []
    assert check("blocks.validate", {sample.kind: sample.payload}) == []
    golden(sample.name, sample.payload)


def test_a_stream_looks_as_reviewed() -> None:
    events, reader = sample_events(), Reader(WORDS, "en", ZoneInfo("UTC"))
    sent = [
        progress_chunks(cards_of(events[:end], reader), cards_of(events[: end + 1], reader), reader)
        for end in range(len(events))
    ]
    assert not chunk_problems([chunk for chunks in sent for chunk in chunks])
    golden("stream", sent)
    golden("progress_markdown", progress_markdown(cards_of(events, reader), reader).splitlines())


def golden(name: str, payload: Any) -> None:
    check_golden(FOLDER / f"{name}.json", json.dumps(payload, ensure_ascii=False, indent=1) + "\n")


def test_every_state_of_an_incidents_line_has_a_sample_in_both_languages() -> None:
    states = ("firing", "waiting", "not_looked", "over", "left", "part")
    wanted = {f"incident_{state}{suffix}" for state in states for suffix in ("", "_zh")}
    assert {sample.name for sample in SAMPLES if sample.name.startswith("incident_")} == wanted


def test_the_line_round_a_quote_comes_from_the_stored_call() -> None:
    assert list(proofs_of(sample_outcome().claims, [sample_call()])) == sample_proofs()
