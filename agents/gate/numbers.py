"""Quantities of a text: value, unit and the words that name them; and whether another text says the same quantity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agents.gate.identifiers import code_ranges
from agents.gate.keys import Anchor, Context, context_of, key_before, neighbours
from agents.gate.times import blank
from agents.gate.tokens import parts
from agents.gate.units import BYTE_KEYS, KEY_UNITS, RATIO_KEYS, TIME_KEYS, UNIT, UNITS, Reading
from agents.gate.words import CODE_WORDS, NUMBER_WORDS

_NUMBER = re.compile(
    r"(?=[-+\d百])(?:(?<![A-Za-z0-9_#@])|(?<=[(\s][xX]))(?<![A-Za-z0-9_][.])(?<![A-Za-z_]-)(?P<percent>百分之\s?)?(?P<sign>(?<![\w)\]])[-+])?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<fraction>\.\d+)?(?P<exponent>[eE][-+]?\d+)?"
)
_AFTER = re.compile(r"(?:st|nd|rd|th|x|X)?(?![A-Za-z0-9_]|\.\d)")
_COMPOUND = re.compile(
    r"(?<![A-Za-z0-9_.])(?=\d)(?:(\d+)\s?(?:days?|d|天))?\s?(?:(\d+)\s?(?:hours?|h|个?小时))?\s?"
    r"(?:(\d+)\s?(?:minutes?|min|m|分钟?))?\s?(?:(\d+(?:\.\d+)?)\s?(?:seconds?|sec|s|秒))?(?![A-Za-z0-9_])"
)
_COMPOUND_HEAD = re.compile(r"\d\s?(?:[dhm]|天|个?小时|分)")  # a cheap look: a compound begins with one of these
_SPELLED = re.compile(rf"(?<![A-Za-z0-9_-])(?:{'|'.join(NUMBER_WORDS)})(?![A-Za-z0-9_-])", re.IGNORECASE)
_HAN = "零一二两三四五六七八九十百"
_HAN_NUMBER = re.compile(rf"(?<![第{_HAN}每同这那任])[{_HAN}]+(?=[个次条台秒分倍笔项种名])")
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[a-z]+")
_LIST_MARK = re.compile(r"\s*(?:\(?\d{1,2}[.)、](?!\d)\s*|[-*•]\s+)")
_CODE_NAMES = tuple(name for word in CODE_WORDS for name in ((word, f"{word}s") if word.isascii() else (word,)))
_LAST_WORD = re.compile(rf"(?<![a-z])(?:{'|'.join(name for name in _CODE_NAMES if name.isascii())})$|[^\x00-\x7f]$")
_LINKS = ("code", "was", "is", "of", "=", ":", "#", "为", "是")  # between a code's name and its digits
_HTTP_CODE = re.compile(r"[45]\d\d(?![\d.])")
_CODE_AFTER = re.compile(r"s?\s?(?:errors?|responses?|status|statuses|错误|响应|状态|报错)")
_ANSWERED = re.compile(r"(?:returned|returns|returning|answered|with|a|返回了?|报|响应)\s?$", re.IGNORECASE)
_OF = re.compile(r"/|\s(?:out )?of (?:the |all )?")
_PLURAL_CODE = re.compile(
    r"(?<!after )(?<!took )(?<!for )(?<!in )(?<!within )(?<!every )(?<![\d.])[45]\d\ds(?![A-Za-z0-9])"
)
_DIGIT_RUN = re.compile(r"(?<![A-Za-z0-9.])\d+(?![A-Za-z0-9]|\.\d)")


class Quantity(NamedTuple):
    """`readings` are (dimension, value in base units), `half` the rounding each allows (0: none; half a unit of the last
    digit where two digits or more are written). `soft` are the units of time (in seconds) in which a bare value whose key
    speaks of time may be read as it stands, never converted."""

    literal: str
    start: int
    end: int
    readings: tuple[Reading, ...]
    half: tuple[float, ...]
    raw: Reading = ("", 0.0)  # ("", value as written)
    raw_half: float = 0.0
    soft: tuple[float, ...] = ()
    code: str | None = None
    context: Context = Context()

    @property
    def dimensions(self) -> frozenset[str]:
        return frozenset(dimension for dimension, _ in self.readings)

    @property
    def is_physical(self) -> bool:
        return "" not in self.dimensions


def quantities(
    text: str, *, taken: Sequence[tuple[int, int]] = (), hint: str = "", claim: bool = False
) -> list[Quantity]:
    """The numbers of a text, left to right: not stamps (`taken`), nor digits of ids, hosts, ports, versions, threads.

    `hint` is text that may state the unit of all of them (the name of a metric). In a claim, a list mark at the
    beginning is left out, numbers spelled as words count, and codes (HTTP 503) are told from amounts.
    """
    if _DIGIT.search(text) is None and not (claim and _may_spell(text)):
        return []
    bare = blank(text, [*taken, *code_ranges(text)])
    if claim and (mark := _LIST_MARK.match(bare)):
        bare = f"{' ' * mark.end()}{bare[mark.end() :]}"
    spells = claim and _may_spell(bare)
    if not spells and _DIGIT.search(bare) is None:
        return []
    found = _compounds(bare)
    bare = blank(bare, [(quantity.start, quantity.end) for quantity in found])
    found += [one for match in _NUMBER.finditer(bare) if (one := _quantity(match, bare, text, hint, claim=claim))]
    if spells:
        found += _spelled(bare)
    found.sort(key=lambda quantity: quantity.start)
    return _placed(found, blank(text, [*taken, *((one.start, one.end) for one in found)]), claim=claim)


def says(claimed: Quantity, other: Quantity) -> bool:
    """Equal in one dimension, exactly or at the precision the claim is written with."""
    for (dimension, value), half in zip(claimed.readings, claimed.half, strict=True):
        for theirs, known in (*other.readings, other.raw):
            if dimension == theirs and _equal(value, known, half):
                return True
    return bool(other.soft) and _says_time(claimed, other)


def _says_time(claimed: Quantity, other: Quantity) -> bool:
    units = [value / claimed.raw[1] for dimension, value in claimed.readings if dimension == "time" and claimed.raw[1]]
    plain = any(abs(unit - known) < known * 1e-6 for unit in units for known in other.soft)
    return plain and _equal(claimed.raw[1], other.raw[1], claimed.raw_half)


def digit_runs(text: str, taken: Sequence[tuple[int, int]]) -> set[str]:
    """Whole digit runs of a text, also those in hosts, ports and ids: what a code is compared with."""
    return set(_DIGIT_RUN.findall(blank(text, taken)))


def _equal(value: float, known: float, half: float) -> bool:
    return abs(value - known) <= max(half * (1 + 1e-9), abs(known) * 1e-12)


def _compounds(text: str) -> list[Quantity]:
    """5m32s, 1 小时 20 分: one duration."""
    found: list[Quantity] = []
    if _COMPOUND_HEAD.search(text) is None:
        return found
    for match in _COMPOUND.finditer(text):
        if sum(group is not None for group in match.groups()) > 1:
            days, hours, minutes, seconds = (float(group or 0) for group in match.groups())
            value = days * 86400 + hours * 3600 + minutes * 60 + seconds
            end = match.start() + len(match[0].rstrip())
            found.append(Quantity(match[0].strip(), match.start(), end, (("time", value),), (0.0,), ("compound", 0.0)))
    return found


def _quantity(match: re.Match[str], bare: str, text: str, hint: str, *, claim: bool) -> Quantity | None:
    start, number_end = match.span()
    end, names = _unit(match, bare)
    if claim and names == ["s"] and _PLURAL_CODE.match(bare, start):  # many 503s
        names = []
        end = number_end + 1
    elif not names:
        after = _AFTER.match(bare, number_end)
        if after is None:
            return None
        end = after.end()
    digits = match["digits"].replace(",", "")
    value = float(f"{match['sign'] or ''}{digits}{match['fraction'] or ''}{match['exponent'] or ''}")
    key = key_before(text, start)
    units, soft = _units_of(names, value, key, hint, decimal=match["fraction"] is not None, claim=claim)
    half = 0.5 * _step(digits, match["fraction"], match["exponent"])
    return Quantity(
        literal=text[start:end],
        start=start,
        end=end,
        readings=tuple((unit, value * factor) for unit, factor in units),
        half=tuple(0.0 if unit == "ratio" and value * factor == 1 else half * factor for unit, factor in units),
        raw=("" if not any(name in "万亿千百万" for name in names) else "scaled", value),
        raw_half=half,
        soft=soft,
        code=_code(text, start, number_end) if claim and not names and match["fraction"] is None else None,
        context=context_of(tuple(key)) if key and not claim else Context(),
    )


def _unit(match: re.Match[str], text: str) -> tuple[int, list[str]]:
    """Up to two unit words after the number (12万 ms), and where they end."""
    if match["percent"]:
        return match.end(), ["%"]
    end: int = match.end()
    names: list[str] = []
    while len(names) < 2 and (unit := UNIT.match(text, end)):
        if names and all(dimension for dimension, _ in UNITS[names[-1]]):
            break
        names.append(unit["attached"] or unit["spaced"])
        end = unit.end()
    return end, names


def _units_of(
    names: Sequence[str], value: float, key: Sequence[str], hint: str, *, decimal: bool, claim: bool
) -> tuple[list[Reading], tuple[float, ...]]:
    """The units a number may be read in: as written, else as its key or metric states, else what its key allows."""
    units: list[Reading] = [("", 1.0)]
    for name in names:
        units = [
            (held or unit, factor * scale)
            for held, factor in units
            for unit, scale in UNITS[name]
            if not (held and unit)
        ]
    if names:
        return units, ()
    for source in (key, parts(hint)):
        stated = next((part for part in reversed(source) if part in KEY_UNITS), None)
        if stated is not None:
            return [*units, *UNITS[stated]], ()
    words = frozenset((*key, *parts(hint)))
    if 0 <= value <= 1 and (decimal or words & RATIO_KEYS):
        units.append(("ratio", 1.0))
    if claim:
        return units, ()
    if 0 <= value <= 100 and words & RATIO_KEYS:
        units.append(("ratio", 0.01))
    if value >= 1024 and words & BYTE_KEYS:
        units.append(("bytes", 1.0))
    return units, _plain_times(value, decimal=decimal) if words & TIME_KEYS else ()


def _plain_times(value: float, *, decimal: bool) -> tuple[float, ...]:
    """Bare times are seconds where they have a fraction (nginx), milliseconds where they are large (Java)."""
    if decimal:
        return (1.0,)
    return (1e-3,) if value >= 1000 else (1.0, 1e-3)


def _step(digits: str, fraction: str | None, exponent: str | None) -> float:
    """The worth of the last digit written; 0 where fewer than two significant digits are."""
    written = (digits + (fraction or "")[1:]).lstrip("0")
    if len(written) < 2:
        return 0.0
    step: float = 10.0 ** -len((fraction or ".")[1:])
    return step * 10.0 ** int(exponent[1:]) if exponent else step


def _code(text: str, start: int, end: int) -> str | None:
    """The digits where they are a code: HTTP 503, exit code 137, port 5432, 503 errors."""
    before = text[max(0, start - 30) : start]
    digits = text[start:end]
    if _names_code(before.lower()):
        return digits
    if _PLURAL_CODE.match(text, start):
        return digits
    if _HTTP_CODE.fullmatch(digits) and (_CODE_AFTER.match(text, end) or _ANSWERED.search(before)):
        return digits
    return None


def _names_code(before: str) -> bool:
    """HTTP, exit code =, port is, 状态码为"""
    before = before.rstrip(" \"'(")
    for _ in range(4):
        if before.endswith(_CODE_NAMES) and _LAST_WORD.search(before, max(0, len(before) - 20)):
            return True
        link = next((link for link in _LINKS if before.endswith(link)), None)
        if link is None:
            return False
        before = before[: -len(link)].rstrip()
    return False


def _may_spell(text: str) -> bool:
    """A cheap look for number words, English or Chinese."""
    if not text.isascii() and _HAN_NUMBER.search(text):
        return True
    return not NUMBER_WORDS.keys().isdisjoint(_WORDS.findall(text.lower()))


def _spelled(text: str) -> list[Quantity]:
    found = [(match, float(NUMBER_WORDS[match[0].lower()])) for match in _SPELLED.finditer(text)]
    found += [
        (match, value) for match in _HAN_NUMBER.finditer(text) if (value := _han(match[0])) is not None and value != 1
    ]
    return [
        Quantity(match[0], match.start(), match.end(), (("", value),), (0.0,), ("", value)) for match, value in found
    ]


def _han(numeral: str) -> float | None:
    total = digit = 0
    for char in numeral:
        if char in "十百":
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
        else:
            digit = 2 if char == "两" else "零一二三四五六七八九".index(char)
    return float(total + digit)


def _placed(found: list[Quantity], text: str, *, claim: bool) -> list[Quantity]:
    """Each with the words that name it: its key where it has one, else its neighbours."""
    if not found:
        return found
    if all(quantity.context.words for quantity in found):
        return _with_fractions(found, text)
    contexts = neighbours(text, [Anchor(quantity.start, quantity.end) for quantity in found], claim=claim)
    placed = [
        quantity if quantity.context.words else quantity._replace(context=context)
        for quantity, context in zip(found, contexts, strict=True)
    ]
    return _with_fractions(placed, text)


def _with_fractions(placed: list[Quantity], text: str) -> list[Quantity]:
    for at in range(len(placed) - 1):
        between = text[placed[at].end : placed[at + 1].start]
        if _OF.fullmatch(between):
            placed[at : at + 2] = _part_and_whole(placed[at], placed[at + 1], is_fraction=between == "/")
    return placed


def _part_and_whole(part: Quantity, whole: Quantity, *, is_fraction: bool) -> list[Quantity]:
    """194/200 and 194 of 200: words beside them name both (a fraction) or the part, and they do not change places."""
    shared = part.context.joined(whole.context)
    return [
        part._replace(context=Context(shared.words, shared.meanings | {"part…"})),
        whole._replace(context=Context(shared.words if is_fraction else frozenset(), frozenset({"whole…"}))),
    ]
