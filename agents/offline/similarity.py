"""How near a question stands to a description: shared words weighed by how rare they are, in English and Chinese."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from agents.offline.question import words

_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]+|\d{3}")
_CJK = re.compile(r"[\u4e00-\u9fff]+")
_SUFFIX = re.compile(r"(ing|ed|es|s|ly|er)$")
_STOP = frozenset(
    ["the", "a", "an", "and", "or", "of", "to", "in", "on", "for", "with", "from", "by", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "these", "those", "why", "what", "who", "how", "when", "where", "which", "do", "does", "did", "has", "have", "had", "not", "no", "use", "used", "using", "diagnose", "somebody", "says", "since", "our", "we", "us", "my", "your", "you", "i", "me", "get", "please", "show", "tell", "explain", "check", "something", "anything", "issue", "problem", "wrong", "question", "names", "one"]
)


def tokens(text: str) -> list[str]:
    """Stems of Latin words, bigrams of Chinese, and the English of glossary words."""
    known = words().glossary
    english = " ".join(value for word, value in known.items() if word in text)
    latin = [_stem(word.lower()) for word in _LATIN.findall(f"{text} {english}")]
    chinese = [run[at : at + 2] for run in _CJK.findall(text) for at in range(len(run) - 1)]
    return [word for word in latin if word not in _STOP] + chinese


def similarities(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 of the query against each text; 0 where no word is shared."""
    bags = [Counter(tokens(text)) for text in texts]
    asked = set(tokens(query))
    if not asked or not bags:
        return [0.0] * len(texts)
    average = sum(sum(bag.values()) for bag in bags) / len(bags) or 1.0
    rarity = {word: math.log(1 + (len(bags) + 0.5) / (0.5 + sum(word in bag for bag in bags))) for word in asked}
    return [sum(rarity[word] * _weight(bag, word, average) for word in asked) for bag in bags]


def _weight(bag: Counter[str], word: str, average: float) -> float:
    count = bag[word]
    return count * 2.2 / (count + 1.2 * (0.4 + 0.6 * sum(bag.values()) / average)) if count else 0.0


def _stem(word: str) -> str:
    return _SUFFIX.sub("", word) if len(word) > 4 else word
