"""Words of a text: where CJK stands, what carries information, and which stems two words share."""

from __future__ import annotations

import re
from functools import lru_cache

from agents.gate.times import blank_times
from agents.gate.words import DAYS_AND_MONTHS, LEVELS, STOP_WORDS, STOP_WORDS_ZH

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_CHAR = re.compile(f"[{CJK}]")
_CJK_RUN = re.compile(f"[{CJK}]+")
_LATIN = re.compile(r"[A-Za-z0-9_\u00c0-\u024f]+")
_PLAIN = re.compile(r"\b[A-Za-z]{4,}\b", re.ASCII)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[\u00c0-\u024f]+")


_NOT_INFORMATIVE = STOP_WORDS | LEVELS | DAYS_AND_MONTHS


def is_cjk(char: str) -> bool:
    return not char.isascii() and _CJK_CHAR.match(char) is not None


def has_cjk(text: str) -> bool:
    return not text.isascii() and _CJK_CHAR.search(text) is not None


def informative_tokens(text: str) -> set[str]:
    """What is left of a text when time stamps, levels and stop words are dropped; CJK counts one for two characters."""
    rest = blank_times(text)
    tokens = set()
    for word in _LATIN.findall(rest):
        lowered = word.strip("_").lower()
        if (len(lowered) > 1 or lowered.isdigit()) and lowered not in STOP_WORDS and lowered not in LEVELS:
            tokens.add(lowered)
    if not rest.isascii():
        for run in _CJK_RUN.findall(rest):
            tokens.update(run[at : at + 2] for at in range(0, len(run), 2))
    return tokens


def is_informative(text: str, fewest: int) -> bool:
    """Whether a text has this many informative tokens; most have as many plain words, which no time stamp holds."""
    plain = set()
    for match in _PLAIN.finditer(text):
        if (word := match[0].lower()) not in _NOT_INFORMATIVE:
            plain.add(word)
            if len(plain) >= fewest:
                return True
    return len(informative_tokens(text)) >= fewest


@lru_cache(maxsize=4096)
def parts(word: str) -> tuple[str, ...]:
    """waitingThreads_ms → waiting, threads, ms."""
    return tuple(part.lower() for part in _PARTS.findall(word))


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A crude common stem: waiting, waited, waits → wait; retries, retry → retr."""
    word = word.lower()
    for suffix in ("ingly", "ations", "ation", "ions", "ing", "ion", "ies", "ed", "es", "s", "y"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("e") if len(word) > 3 else word


def stems(text: str) -> frozenset[str]:
    """Stems of all Latin words and their parts, and bigrams of CJK runs."""
    found = {stem(part) for word in _LATIN.findall(text) for part in (word, *parts(word))}
    if not text.isascii():
        found.update(bigram for run in _CJK_RUN.findall(text) for bigram in bigrams(run))
    return frozenset(found)


def bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def content_words(text: str) -> set[str]:
    """Stems that say something: no stop words, no single letters, no plain digits."""
    words = {
        stem(word)
        for word in _LATIN.findall(text)
        if len(word) > 1 and not word.isdigit() and word.lower() not in STOP_WORDS
    }
    if not text.isascii():
        for run in _CJK_RUN.findall(text):
            words.update(pair for pair in bigrams(run) if pair not in STOP_WORDS_ZH)
    return words
