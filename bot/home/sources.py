"""What App Home says of the sources: in the reader's words, and with short names where doctor has paths and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bot.blocks.home import HomeSource
from bot.blocks.reader import Reader
from bot.desk import Desk
from bot.doctor.systems import Finding

KNOWN = ("logs", "metrics", "changes", "business", "knowledge")
_HEALTHY = {"ok": True, "warn": True, "fail": False}


def source_shown(desk: Desk, finding: Finding, reader: Reader) -> HomeSource:
    return HomeSource(source_name(desk, finding, reader), _HEALTHY.get(finding.state), _detail(desk, finding, reader))


def source_name(desk: Desk, finding: Finding, reader: Reader) -> str:
    known = finding.name in KNOWN
    return desk.says(reader.language, f"home_name_{finding.name}") if known else finding.name


def source_advice(desk: Desk, finding: Finding, reader: Reader) -> str:
    """One line for a source that fails or lacks something; the details are for who runs `proofthread doctor`."""
    own = f"home_advice_{finding.name}_{finding.state}"
    advice = desk.says(reader.language, own if own in desk.talk.by_language["en"] else "home_advice")
    return desk.says(reader.language, "home_hint_source", name=source_name(desk, finding, reader), advice=advice)


def _detail(desk: Desk, finding: Finding, reader: Reader) -> str:
    if finding.state in ("off", "fail"):
        return desk.says(reader.language, f"home_source_{finding.state}")
    if finding.name not in KNOWN or not finding.facts:
        return ""
    return desk.says(reader.language, f"home_source_{finding.name}", **_readable(finding.facts, reader))


def _readable(facts: Mapping[str, str | int], reader: Reader) -> dict[str, object]:
    """The time of `written` in the reader's own zone."""
    return {name: reader.at(datetime.fromisoformat(str(value))) if name == "written" else value for name, value in facts.items()}
