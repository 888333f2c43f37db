"""Code-like words: hosts, paths, ids, versions, class, workload and thread names. Their digits are not numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.gate.tokens import parts, stem
from agents.gate.units import UNIT, UNITS
from agents.gate.words import (
    COMPOUND_GLUE,
    KNOWN_TECH,
    LEVELS,
    ORDINARY_CODE,
    ORDINARY_WORDS,
    WORKLOAD_KINDS,
    WORKLOAD_SUFFIXES,
)

_SEGMENT = r"[A-Za-z0-9_$~%]"
CODE = re.compile(
    r"(?P<url>[A-Za-z][A-Za-z0-9+.-]*+://[^\s\"'<>，。；）」]+)"
    r"|(?P<email>[A-Za-z0-9_.+-]++@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+[A-Za-z0-9])"
    r"|(?P<ip>(?<![A-Za-z0-9_.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\d{1,2})?(?![A-Za-z0-9_]))"
    r"|(?P<ip6>(?<![A-Za-z0-9_:])(?:[0-9A-Fa-f]{1,4}:){3,7}(?::?[0-9A-Fa-f]{1,4})(?![A-Za-z0-9_:]))"
    r"|(?P<version>(?<![A-Za-z0-9_.])(?:[vV]?\d+(?:\.\d+){2,}|[vV]\d+(?:\.\d+)*)(?:[-+][A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*)*(?![A-Za-z0-9_]))"
    r"|(?P<path>(?<![A-Za-z0-9_.<])/[A-Za-z_{~.][^\s\"'<>,;)\]，。；、）」'`]*)"
    r"|(?P<word>(?<![A-Za-z0-9_])[A-Za-z_$][A-Za-z0-9_$]*(?:(?:[-.#@/]|::)[A-Za-z0-9_$]+)*(?::\d{2,5}(?![\d.]))?)"
    rf"|(?P<digits>(?<![A-Za-z0-9_.])\d+[A-Za-z_]{_SEGMENT}*(?:-[A-Za-z0-9]+)*)"
)
_DIGIT = re.compile(r"\d")
_BETWEEN = r"\s\"'`<>,;()\[\]{}，。；、（）「」"
_CHUNK = re.compile(rf"[^{_BETWEEN}]+")
_CHUNK_AND_DIGIT = re.compile(rf"[^{_BETWEEN}\d]*+(\d)[^{_BETWEEN}]*+|[^{_BETWEEN}]++")
_TIMES = re.compile(r"[xX]\d+")  # (x256 over 58m)
_HOST = re.compile(r"[A-Za-z0-9_]+[-.][A-Za-z0-9_.-]+|localhost")
_LETTER_DIGIT = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]{2,}")
_CAPS = re.compile(r"[A-Z]{6,}")
_ERRNO = re.compile(r"E[A-Z]{4,}|SIG[A-Z]{3,}")
_POD_TAIL = re.compile(
    r"-(?:[a-z0-9]{6,10}-[a-z0-9]{5}|[a-z0-9]*\d[a-z0-9]*|[bcdfghjklmnpqrstvwxz2456789]{5})(?![A-Za-z0-9_-])"
)
_QUANTILE = re.compile(r"[pP](\d{2,3})$")
_CLASS_CODE = re.compile(r"([1-5])[xX]{2}$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|[xX])$")
_COMPOUND_TIME = re.compile(r"(?:\d+(?:d|h|m|s|ms))+$")
_KIND_AFTER = re.compile(
    rf"(?<![A-Za-z0-9_./-])([A-Za-z][A-Za-z0-9]{{2,}})\s?(?=(?:{'|'.join(WORKLOAD_KINDS)})(?![A-Za-z0-9_-]))"
)


class Name(NamedTuple):
    text: str
    start: int
    end: int
    kind: str


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Where code-like words hold digits that are not numbers."""
    return [
        (name.start, name.end)
        for chunk in _CHUNK_AND_DIGIT.finditer(text)
        if chunk.lastindex
        for match in CODE.finditer(text, *chunk.span())
        if _DIGIT.search(match[0]) and (name := _code(match)) is not None and _DIGIT.search(name.text)
    ]


def claimed_names(text: str) -> list[Name]:
    """The names a claim may not make up: those that look like code, and the word before "service", "pod", …"""
    names = [name for name in _codes(text) if _is_name(name)]
    covered = [(name.start, name.end) for name in names]
    for match in _KIND_AFTER.finditer(text):
        word = match[1].lower()
        if not any(start <= match.start(1) < end for start, end in covered) and not (
            word in ORDINARY_WORDS or word in KNOWN_TECH or word in WORKLOAD_KINDS
        ):
            names.append(Name(match[1], match.start(1), match.end(1), "workload"))
    return names


def _codes(text: str) -> list[Name]:
    """Chunk by chunk: most words of a sentence are plain and need no closer look."""
    found = []
    for chunk in _CHUNK.finditer(text):
        word = chunk[0]
        if not (word.isascii() and word.isalpha() and (len(word) == 1 or word[1:].islower())):
            found += [name for match in CODE.finditer(text, *chunk.span()) if (name := _code(match)) is not None]
    return found


def _code(match: re.Match[str]) -> Name | None:
    kind = match.lastgroup or "word"
    word = match[0].rstrip(".:") if kind in ("url", "path", "word") else match[0]
    if kind == "word":
        word = _without_key_number(word)
    if (kind == "digits" and _is_measure(word)) or _TIMES.fullmatch(word):
        return None
    return Name(word, match.start(), match.start() + len(word), kind)


def _without_key_number(word: str) -> str:
    """host:5432 is one name; count:19 is a key and its value."""
    head, colon, _ = word.rpartition(":")
    if colon and word[-1].isdigit() and not head.endswith(":") and _HOST.fullmatch(head) is None:
        return head
    return word


def _is_measure(word: str) -> bool:
    digits = len(word) - len(word.lstrip("0123456789"))
    if _ORDINAL.match(word) or _COMPOUND_TIME.match(word):
        return True
    unit = UNIT.match(word, digits)
    return unit is not None and unit.end() == len(word)


def _is_name(name: Name) -> bool:
    word = name.text
    if word in UNITS:
        return False
    if name.kind != "word":
        return word.lower() not in ORDINARY_CODE
    bare = word.lower()
    if bare in ORDINARY_CODE or bare.rstrip("s") in ORDINARY_CODE:
        return False
    if _LETTER_DIGIT.search(word) or "_" in word.strip("_") or "#" in word or "@" in word or "::" in word:
        return True
    if "/" in word:
        return word.count("/") > 1 or any(_is_name(Name(half, 0, 0, "word")) for half in word.split("/"))
    if "." in word or ":" in word:
        return True
    if "-" in word:
        return _is_kebab_name(bare)
    if word.isupper() and (bare in ORDINARY_WORDS or bare in LEVELS or bare.rstrip("s") in LEVELS):
        return False
    return bool(_CAMEL.search(word) or _ERRNO.fullmatch(word) or _CAPS.fullmatch(word))


def _is_kebab_name(word: str) -> bool:
    """out-of-memory and read-only are English, order-service and orders-dlq are names."""
    pieces = word.split("-")
    if any(piece.isdigit() for piece in pieces) or pieces[-1] in WORKLOAD_SUFFIXES:
        return True
    if any(piece in COMPOUND_GLUE for piece in pieces):
        return False
    return not all(piece in ORDINARY_WORDS or piece in KNOWN_TECH for piece in pieces)


def occurs(name: Name, text: str, low: int, high: int) -> bool:
    """Whether text[low:high] holds the name as a whole: exact but for the case of a first letter."""
    word = name.text
    if name.kind == "workload":
        return stem(word) in {stem(part) for part in (*parts(text[low:high]), *text[low:high].lower().split())}
    if quantile := _QUANTILE.match(word):
        return _has_quantile(quantile[1], text[low:high])
    if (code_class := _CLASS_CODE.match(word)) and re.search(rf"(?<![\w.]){code_class[1]}\d\d(?!\w)", text[low:high]):
        return True
    if any(_found(form, text, low, high) for form in {word, word[0].swapcase() + word[1:]}):
        return True
    return "-" in word and word.islower() and _in_words(word, text[low:high])


def _found(word: str, text: str, low: int, high: int) -> bool:
    at = text.find(word, low, high)
    while at >= 0:
        if _stands_alone(word, text, at, at + len(word)):
            return True
        at = text.find(word, at + 1, high)
    return False


def _stands_alone(word: str, text: str, start: int, end: int) -> bool:
    """Class names may end a dotted name, host names begin one, paths go on; a workload may be its pod's prefix."""
    before, after = text[start - 1 : start], text[end : end + 1]
    second = text[end + 1 : end + 2]
    if (
        before
        and (before.isascii() and (before.isalnum() or before in "_-"))
        and not (word[0] == "/" and _is_url_path(text, start))
    ):
        return False
    if before == "." and (word[0].isdigit() or text[start - 2 : start - 1].isdigit()):
        return False
    if after == "-":
        return _POD_TAIL.match(text, end) is not None or not (second.isascii() and second.isalnum())
    if after == "." and second.isdigit():
        return not word[-1].isdigit()
    return not (after and after.isascii() and (after.isalnum() or after == "_"))


def _is_url_path(text: str, start: int) -> bool:
    return (
        re.search(
            r"(?:://[^/\s]+|[A-Za-z0-9]+(?:[.-][A-Za-z0-9-]+)+(?::\d+)?|:\d+)$", text[max(0, start - 100) : start]
        )
        is not None
    )


def _has_quantile(digits: str, text: str) -> bool:
    return re.search(rf"(?:[pP]|0\.){digits}(?!\d)|(?<!\d){digits}(?:\.0)?(?:th|%| percentile)", text) is not None


def _in_words(word: str, text: str) -> bool:
    """connection-pool is said by "connection pool" and ConnectionPool; a workload's name is not."""
    pieces = word.split("-")
    if pieces[-1] in WORKLOAD_SUFFIXES:
        return False
    wanted, said = [stem(piece) for piece in pieces], [stem(part) for part in parts(text)]
    return any(said[at : at + len(wanted)] == wanted for at in range(len(said) - len(wanted) + 1))
