"""Where the files that ship with the package lie: in the wheel under bot/_data, in a clone beside bot/."""

from __future__ import annotations

from pathlib import Path

_BOT = Path(__file__).parent
SAMPLES = _BOT / "emulator" / "scenarios"


def data_folder(name: str) -> Path:
    """`prompts`, `skills` or `migrations`."""
    packaged = _BOT / "_data" / name
    return packaged if packaged.is_dir() else _BOT.parent / name

