"""What was proven earlier in a thread, repeated by code with its time and a link: nothing is looked up again."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from agents.state import StateUnreadable
from bot.blocks.text import escape, split_text
from bot.desk import Desk
from bot.stored_answer import stored_answer
from bot.times import window_text
from storage.records import Run
from storage.sessions import Thread

MESSAGE_CHARS = 3_500

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Finding:
    claim: str
    at: datetime
    link: str


async def what_was_found(desk: Desk, thread: Thread, language: str, zone: str) -> None:
    """Posts into the thread."""
    runs = await desk.db.call(desk.sessions.runs, thread.session_id)
    found = [finding for run in runs for finding in _proven(run, await _link(desk, run))]
    lines = [desk.says(language, "recalled" if found else "recalled_none")]
    for finding in found:
        name = "recalled_line" if finding.link else "recalled_line_plain"
        when = window_text(finding.at.isoformat(), "", ZoneInfo(zone))
        lines.append(desk.says(language, name, claim=escape(finding.claim), when=when, link=finding.link))
    for part in split_text("\n".join(lines), MESSAGE_CHARS):
        await desk.slack.optional(
            "chat.postMessage", channel=thread.channel, thread_ts=thread.ts, text=part, unfurl_links=False
        )


def proven_claims(run: Run) -> tuple[str, ...]:
    """The claims that a run's answer stated; none where another version wrote the row."""
    try:
        return tuple(allowed.claim.claim_text for allowed in stored_answer(run).claims)
    except StateUnreadable as error:
        log.info("run %s is not read: %s", run.run_id, error)
        return ()


def _proven(run: Run, link: str) -> Iterator[Finding]:
    at = run.finished_at
    if at is not None:
        yield from (Finding(claim, at, link) for claim in proven_claims(run))


async def _link(desk: Desk, run: Run) -> str:
    posted = await desk.db.call(desk.jobs.messages, run.run_id)
    if not posted:
        return ""
    answer = await desk.slack.optional("chat.getPermalink", channel=posted[-1].channel, message_ts=posted[-1].ts)
    return str((answer or {}).get("permalink") or "")
