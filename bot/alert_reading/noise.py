"""What stands in an alert channel and is no alert: people's words, joins, digests, deploy notes, this bot's own posts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from bot.alert_reading.markup import clean
from bot.alert_reading.post import Post

# What an app or a webhook posts; every other subtype is Slack telling of a change to the channel.
_POSTS = ("", "bot_message", "file_share", "thread_broadcast", "me_message")
_OWN_METADATA = "proofthread"
_DIGEST = re.compile(
    r"(?<![\w-])(?:daily|weekly|monthly|hourly|morning|evening|shift|on-?call)\s[^\n]{0,40}(?<![\w-])(?:digest|summary|report|recap|overview|review|hand-?off|handover)\b"
    r"|\b(?:alert|alerts|incident|incidents)\s(?:digest|recap|summary for|statistics|report for)\b|\b(?:alerts?|incidents?)\s(?:summary|overview|report)\b[^\n]{0,30}\b(?:last|past|week|month|today|yesterday|\d{1,3}\s?(?:h|d)\b)|\bdigest\b|\bsummary of (?:alerts|incidents|the last)\b|"
    r"\b(?:last|past) (?:24 ?h(?:ours)?|day|week|7 days)\b[^\n]{0,60}\b(?:alerts?|incidents?)\b|"
    r"[日周月]报|汇总|统计报告|日次|週次|月次|まとめ|レポート|ダイジェスト|сводка за|дайджест|отчёт за|отчет за|еженедельн\w+ отч|ежедневн\w+ отч|일일|주간|월간|요약 보고|التقرير اليومي|ملخص يومي",
    re.IGNORECASE,
)

_FAILED = re.compile(r"\b(?:job|task|backup|cron\w*|script|check)\b[^\n]{0,60}\b(?:fail\w*|is down|missed|late)\b", re.IGNORECASE)


def is_deletion(event: Mapping[str, Any]) -> bool:
    return event.get("subtype") == "message_deleted"


def deleted_ts_of(event: Mapping[str, Any]) -> str | None:
    """The ts of the post that a deletion is of."""
    gone = event.get("previous_message")
    ts = event.get("deleted_ts") or (gone.get("ts") if isinstance(gone, Mapping) else None)
    return (clean(ts[:40]) or None) if isinstance(ts, str) else None


def reason_before(post: Post, own_bot_ids: Collection[str]) -> str | None:
    """Why a post is no alert whatever its words; None where its words decide."""
    if any(name and name in own_bot_ids for name in (post.bot_id, post.user, post.app_id)) or _is_own(post):
        return "this bot's own post"
    if post.subtype not in _POSTS:
        return f"a notice of Slack's ({post.subtype})"
    if post.by_person:
        return "a person's message, not a sender's"
    if post.has_files and (post.is_reply or not post.text) and not post.parts:
        return "an image, posted by the sender beside its alert"
    if not post.text and not post.parts:
        return "no words in it"
    return None


def same_content(before: Post, after: Post) -> bool:
    """Whether an edit changed nothing that a reader sees; previews and images are not part of a Post."""
    return (before.text, before.parts) == (after.text, after.parts)


def is_digest(post: Post) -> bool:
    """By its headings. A report that failed is none."""
    heads = dict.fromkeys((post.text[:300], *list(post.titles())[:3], *(part.text[:200] for part in post.parts[:2])))
    return any(_DIGEST.search(head[:300]) and not _FAILED.search(head[:300]) for head in heads)


def reason_without(post: Post) -> str:
    """Why nothing was read in a machine's post."""
    if is_reply_to_another(post):
        return "a reply in another's thread"
    return "a digest, not an alert" if is_digest(post) else "nothing in it says that something fires or has ended"


def is_reply_to_another(post: Post) -> bool:
    """A bot's answer in a thread that somebody else opened."""
    return bool(post.is_reply and post.parent_user and post.user and post.parent_user != post.user)


def _is_own(post: Post) -> bool:
    return post.metadata_type.startswith(_OWN_METADATA)
