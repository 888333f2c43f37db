"""What a person hands in: text of a file or of stdin, times."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.errors import ConfigError

MAX_QUESTION_CHARS = 8_000
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff][\w.-]*")


def read_text(name: str) -> str:
    """`-` is stdin. Raises ConfigError where it is no readable UTF-8 text."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{'stdin' if name == '-' else name} is not UTF-8 text (byte {error.start}): convert it first.") from error


def question_of(text: str) -> tuple[str, str | None]:
    """The question as it is asked, and a remark where it was cut. Raises ConfigError where nothing is asked."""
    # Lone surrogates come from a terminal in another encoding; no database and no model would take them.
    question = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "").strip()
    if not question:
        raise ConfigError('Nothing is asked. Write a question, for example: proofthread ask "Why is checkout slow?"')
    if len(question) <= MAX_QUESTION_CHARS:
        return question, None
    remark = f"The question has {len(question)} characters; only the first {MAX_QUESTION_CHARS} were read."
    return question[:MAX_QUESTION_CHARS], remark


def moment_of(text: str, zone: ZoneInfo) -> datetime:
    """RFC 3339; without an offset it is read in `zone`."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise ConfigError(f"--now {text!r} is no time: write it like 2026-11-30T09:10:00Z.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def zone_named(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigError(f"--zone {name!r} is no time zone: write one like Europe/Berlin or Asia/Shanghai.") from error


def language_of(question: str, default: str) -> str:
    """`zh` where there are more Han characters than words in other letters: names of services are written in Latin."""
    han = len(_HAN.findall(question))
    words = len(_WORD.findall(question))
    return default if not han and not words else "zh" if han > words else "en"
