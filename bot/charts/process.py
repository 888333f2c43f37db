"""Draws charts in a process of its own: one JSON line in, one line out. `python -m bot.charts.process`."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import asdict
from typing import Any

from bot.charts.drawing import ChartData, ChartWords, Mark, draw


def asked(data: ChartData) -> bytes:
    return json.dumps(asdict(data)).encode() + b"\n"


def answered(line: bytes) -> bytes:
    """The PNG. Raises ValueError with what the other side says."""
    told = json.loads(line)
    if "error" in told:
        raise ValueError(str(told["error"]))
    return base64.b64decode(told["png"])


def main() -> None:
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_answer(line)).encode() + b"\n")
        sys.stdout.buffer.flush()


def _answer(line: bytes) -> dict[str, str]:
    try:
        return {"png": base64.b64encode(draw(_data(json.loads(line)))).decode()}
    except ValueError as error:
        return {"error": str(error)}


def _data(given: dict[str, Any]) -> ChartData:
    words = ChartWords(tuple(given["words"]["threshold"]), tuple(given["words"]["started"]))
    points = tuple((at, value) for at, value in given["points"])
    changes = tuple(Mark(**mark) for mark in given["changes"])
    return ChartData(**{**given, "words": words, "points": points, "changes": changes})


if __name__ == "__main__":
    main()
