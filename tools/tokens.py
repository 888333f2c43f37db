"""How text becomes search tokens, for documents and queries alike.

A compound (`ERR_TIMEOUT`, `HikariPool-1`, `/api/v1/orders`) is kept whole and gives its parts too, so that an exact code
ranks first and a part still finds it. Chinese, Japanese and Korean runs give bigrams. Case, width and the commonest
English endings are folded.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_LETTER = rf"[^\W{_CJK}]"
_TOKEN = re.compile(rf"(?P<word>{_LETTER}+(?:[-./:@#]{_LETTER}+)*)|(?P<cjk>[{_CJK}]+)")
_SEPARATOR = re.compile(r"[-./:@#_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_AMOUNT = re.compile(r"[\d.:]+[a-zA-Z]{1,4}")
_HAS_CJK = re.compile(f"[{_CJK}]")

_STOP_WORDS = (
    "a about after all also am an and any are as at be because been before being but by can could did do does doing for"
    " from get got had has have how i if in into is it its just let me my no not now of off on or our out over please"
    " she so some such than that the their them then there these they this those to too under up us was we were what"
    " when where which while who whom whose why will with would you your tell show explain happen happened happening"
)
_STOP_EN = frozenset(_STOP_WORDS.split())
_STOP_CJK = re.compile(
    "为什么|怎么样|怎么办|怎么|怎样|什么|如何|哪些|哪个|哪里|哪儿|哪|多少|是否|有没有|能不能|可以|请问|一下|我们|你们"
    "|他们|这个|那个|以及|或者|还是|因为|所以|如果|时候|突然|最近|目前|现在|[的了是在吗呢吧啊和与及或被把从到对有也都就很请让给谁几个]"
)


def tokens(text: str) -> list[str]:
    """Every token of `text` in order, repeats included."""
    return [token for word in _scan(text) for token in _expand(word)]


def term_counts(text: str) -> Counter[str]:
    """token → how often it occurs."""
    return Counter(tokens(text))


def content_words(query: str) -> list[tuple[str, ...]]:
    """The distinct words of a question that carry meaning, each as its token and then the tokens of its parts; question
    words and particles are left out. A Chinese run gives a word for each of its pairs."""
    words: list[tuple[str, ...]] = []
    for word in _scan(_STOP_CJK.sub(" ", query)):
        if _says_something(word):
            expanded = tuple(dict.fromkeys(_expand(word)))
            words += [(pair,) for pair in expanded] if is_cjk(word) else [expanded]
    return list(dict.fromkeys(words))


def content_terms(query: str) -> list[str]:
    """The distinct tokens of those words."""
    return list(dict.fromkeys(token for word in content_words(query) for token in word))


def codes(query: str) -> list[str]:
    """The compounds and identifiers of a question, in lower case: error codes, API paths, class names, versions.

    A bare number, an amount with its unit or a plain word is none: too many documents hold it by chance.
    """
    words = [word for word in _scan(query) if not is_cjk(word) and _is_code(word)]
    return list(dict.fromkeys(code for word in words for code in (word.casefold(), *_path_prefixes(word.casefold()))))


def fold(word: str) -> str:
    """The token of one word: case, and the commonest English endings of plain words: `timeouts` finds `timeout`, `failing` finds
    `failed`."""
    word = word.casefold()
    return _without_ending(word) if len(word) > 3 and word.isascii() and word.isalpha() else word


def term_hash(token: str) -> int:
    """64 bits of a token, the same in every process: what the index stores instead of text."""
    return int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "little")


def is_cjk(token: str) -> bool:
    """Whether a token is Chinese, Japanese or Korean."""
    return _HAS_CJK.match(token) is not None


def is_mostly_cjk(text: str) -> bool:
    """Whether a text is written in Chinese, Japanese or Korean; a few English names in it change nothing."""
    letters = sum(char.isalpha() for char in text[:1000])
    return len(_HAS_CJK.findall(text[:1000])) > 0.2 * letters


def _says_something(word: str) -> bool:
    """A Chinese character left alone between particles is no token of any document: those are pairs."""
    return word.casefold() not in _STOP_EN and not (len(word) == 1 and is_cjk(word))


def _scan(text: str) -> Iterator[str]:
    return (match.group() for match in _TOKEN.finditer(_fold_width(text)))


def _fold_width(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _expand(word: str) -> Iterator[str]:
    if is_cjk(word):
        yield from ([word] if len(word) == 1 else (word[i : i + 2] for i in range(len(word) - 1)))
        return
    yield fold(word)
    pieces = [piece for piece in _SEPARATOR.split(word) if piece]
    if len(pieces) > 1:
        yield from (fold(piece) for piece in pieces)
        yield from _path_prefixes(word.casefold())
    for piece in pieces:
        humps = _CAMEL.split(piece)
        if len(humps) > 1:
            yield from (fold(hump) for hump in humps)


def _without_ending(word: str) -> str:
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            word = word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _path_prefixes(folded: str) -> Iterator[str]:
    """`api/v1/orders/42` is also found by `api/v1/orders`."""
    steps = folded.split("/")
    return ("/".join(steps[:count]) for count in range(2, len(steps)))


def _is_code(word: str) -> bool:
    bare = _SEPARATOR.sub("", word)
    if len(bare) < 3 or bare.isdigit() or _AMOUNT.fullmatch(word):
        return False
    mixed = any(char.isdigit() for char in bare) and any(char.isalpha() for char in bare)
    shouted = len(bare) >= 4 and bare.isupper()
    return mixed or shouted or bool(_CAMEL.search(word)) or any(mark in word for mark in "_/:.#@")
