"""A file beside a question, answered without a model in the middle of the sample incident."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.contracts import HistoryTurn, RunOutcome
from agents.state import RunRequest
from bot.asking import carried_out
from bot.demo import open_sample
from bot.evaluation.samples import sample
from bot.settings import load_settings
from tools.contracts import Addition

GATEWAY = """2026-11-30T09:01:02Z INFO gateway starting worker 7
2026-11-30T09:02:10Z ERROR gateway upstream tls handshake failed: certificate has expired
2026-11-30T09:02:11Z INFO gateway retrying in 5 s"""
ABOUT_ORDERS = "2026-11-30T08:44:01Z ERROR order-service ORD-5031 order SO-1 was not stored: no database connection"
EARLIER = (HistoryTurn(role="user", text="Why is checkout slow?"),)


async def asked(
    text: str, folder: Path, added: str = GATEWAY, language: str = "en", history: tuple[HistoryTurn, ...] = ()
) -> RunOutcome:
    loaded = load_settings({"PROOFTHREAD_MODEL": "offline", "PROOFTHREAD_DATA_DIR": str(folder / "data")}, folder)
    async with open_sample(loaded, sample(), datetime.now(UTC)) as world:
        file = Addition(text=added, by="Ana", at=world.now, name="gateway.log")
        request = RunRequest(
            session_id="s1", question=text, language=language, zone="UTC", now=world.now, history=history, additions=(file,)
        )
        return await carried_out(world.app, request, lambda event: None)


@pytest.mark.parametrize(
    ("text", "language", "first"),
    [
        ("What does this log say?", "en", "The file gateway.log says:"),
        ("What is in the attached file?", "en", "The file gateway.log says:"),
        ("Explain this stack trace", "en", "The file gateway.log says:"),
        ("这份日志说明了什么？", "zh", "文件 gateway.log 写道："),
        ("附件里有什么错误？", "zh", "文件 gateway.log 写道："),
    ],
)
async def test_a_question_about_a_file_is_answered_from_the_file_alone(
    text: str, language: str, first: str, tmp_path: Path
) -> None:
    outcome = await asked(text, tmp_path, language=language)
    assert outcome.claims[0].claim.claim_text.startswith(first)
    assert "certificate has expired" in outcome.claims[0].claim.claim_text
    assert {proof.tool_name for one in outcome.claims for proof in one.evidence} == {"added_context"}
    assert "order-service" not in f"{outcome.sections.lead} {outcome.sections.next_steps}"


async def test_what_the_file_does_not_speak_of_is_looked_up_elsewhere(tmp_path: Path) -> None:
    outcome = await asked("Does the log say why ORD-5031 came up?", tmp_path)
    assert any("HikariPool-1" in one.claim.claim_text for one in outcome.claims)


async def test_a_file_without_a_line_to_quote_does_not_end_the_search(tmp_path: Path) -> None:
    outcome = await asked("What does this log say?", tmp_path, added="-\n")
    assert outcome.claims
    assert outcome.status == "SUCCESS"


async def test_a_file_posted_into_an_older_thread_is_not_read_as_if_about_its_subject(tmp_path: Path) -> None:
    outcome = await asked("What does this log say?", tmp_path, history=EARLIER)
    assert "certificate has expired" in outcome.claims[0].claim.claim_text


async def test_a_why_that_names_something_is_still_about_that_with_a_file_beside_it(tmp_path: Path) -> None:
    outcome = await asked("Why is checkout slow? The log is attached.", tmp_path)
    assert outcome.claims[0].claim.claim_type == "root_cause"
    assert "order-service" in outcome.claims[0].claim.claim_text


@pytest.mark.parametrize(("added", "kind"), [(ABOUT_ORDERS, "root_cause"), (GATEWAY, "symptom")])
async def test_the_known_cause_explains_a_file_only_where_the_file_speaks_of_it(
    added: str, kind: str, tmp_path: Path
) -> None:
    outcome = await asked("Why does this log show errors?", tmp_path, added)
    assert outcome.claims[0].claim.claim_type == kind
