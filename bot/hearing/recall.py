"""What was proven earlier in a thread, repeated by code with its time and a link: nothing is looked up again."""

from __future__ import annotations

import logging
from zoneinfo import ZoneInfo

from agents.state import StateUnreadable
from bot.answers.stored_answer import stored_answer
from bot.answers.times import window_text
from bot.blocks.text import escape, split_text
from bot.desk import Desk
from storage.records import Run
from storage.sessions import Thread

MESSAGE_CHARS = 3_500

log = logging.getLogger(__name__)


async def what_was_found(desk: Desk, thread: Thread, language: str, zone: str) -> None:
    """Posts into the thread: run by run, oldest first, its time and link once."""
    runs = await desk.db.call(desk.sessions.runs, thread.session_id)
    told = [await _told(desk, run, language, ZoneInfo(zone)) for run in runs if run.finished_at is not None]
    parts = [part for part in told if part]
    text = "\n\n".join([desk.says(language, "recalled" if parts else "recalled_none"), *parts])
    for piece in split_text(text, MESSAGE_CHARS):
        await desk.slack.optional(
            "chat.postMessage", channel=thread.channel, thread_ts=thread.ts, text=piece, unfurl_links=False
        )


async def _told(desk: Desk, run: Run, language: str, zone: ZoneInfo) -> str:
    """Empty where the run proved nothing."""
    claims = proven_claims(run)
    if not claims or run.finished_at is None:
        return ""
    link = await _link(desk, run)
    when = window_text(run.finished_at.isoformat(), "", zone)
    head = desk.says(language, "recalled_run" if link else "recalled_run_plain", when=when, link=link)
    return "\n".join([head, *(f"• {escape(claim)}" for claim in claims)])


def proven_claims(run: Run) -> tuple[str, ...]:
    """The claims that a run's answer stated; none where another version wrote the row."""
    try:
        return tuple(allowed.claim.claim_text for allowed in stored_answer(run).claims)
    except StateUnreadable as error:
        log.info("run %s is not read: %s", run.run_id, error)
        return ()


async def _link(desk: Desk, run: Run) -> str:
    posted = await desk.db.call(desk.jobs.messages, run.run_id)
    if not posted:
        return ""
    answer = await desk.slack.optional("chat.getPermalink", channel=posted[-1].channel, message_ts=posted[-1].ts)
    return str((answer or {}).get("permalink") or "")
