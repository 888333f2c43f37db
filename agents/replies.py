"""The fixed words of answers, in each language we have; other languages get English."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

LANGUAGES = ("zh", "en")


@dataclass(frozen=True)
class Replies:
    by_language: Mapping[str, Mapping[str, Template]]

    @classmethod
    def load(cls, folder: Path) -> Replies:
        """Reads zh.toml and en.toml. Raises OSError or ValueError where one is missing, broken or lacks an entry."""
        texts = {name: tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8")) for name in LANGUAGES}
        uneven = set(texts["zh"]) ^ set(texts["en"])
        if uneven:
            raise ValueError(f"zh.toml and en.toml must have the same entries; only one has: {', '.join(sorted(uneven))}")
        return cls({name: {key: Template(text) for key, text in entries.items()} for name, entries in texts.items()})

    def text(self, language: str, key: str, **values: object) -> str:
        """Raises KeyError on a missing entry or value: a hole in our own files, not in what a user wrote."""
        entries = self.by_language.get(language, self.by_language["en"])
        return entries[key].substitute(values)
