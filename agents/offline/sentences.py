"""The engine's fixed sentences, read from words/<language>.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

from agents.offline.quotes import marked

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Sentences:
    language: str
    entries: dict[str, dict[str, str]]

    def say(self, group: str, name: str, /, **values: object) -> str:
        """Values named `quote…` are put into quotation marks. Raises KeyError on a missing entry or value: a hole in our
        own files."""
        quoted = {
            key: marked(str(value), self.language) if key.startswith("quote") else value for key, value in values.items()
        }
        return Template(self.entries[group][name]).substitute(quoted)

    def is_claim(self, text: str) -> bool:
        """Whether the text is one of the fixed claims, whatever it is filled with."""
        return any(form.fullmatch(text) for form in _forms(tuple(self.entries["claims"].values())))


@cache
def sentences_of(language: str) -> Sentences:
    """English where the language has no sentences of its own."""
    name = language if language in LANGUAGES else "en"
    return Sentences(name, tomllib.loads(files(__package__).joinpath(f"words/{name}.toml").read_text(encoding="utf-8")))


@cache
def _forms(templates: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(re.sub(r"\\\$\w+", "(.+?)", re.escape(text)), re.DOTALL) for text in templates)
