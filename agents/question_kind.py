"""Whether a question asks why, or for a fact: a "why" is answered by a cause or by health, a fact by stating it."""

from __future__ import annotations

import re
from typing import Literal

QuestionKind = Literal["why", "fact"]

_WHY = re.compile(
    r"\b(why|cause[sd]?|causing|reasons?|root[ -]cause|wrong|happen(?:s|ed|ing)?|diagnos\w+|investigat\w+|explain|"
    r"troubleshoot\w*|issues?|problems?|failing|broken|culprit)\b"
    r"|为什么|为何|为啥|原因|根因|怎么回事|怎么了|排查|诊断|定位|什么问题|出了什么|异常原因",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(what|which|when|who|whose|where|how|is|are|was|were|does|do|did|has|have|had|can|list|show|fetch|get|give|find|"
    r"post|count|check|tell)\b"
    r"|多少|哪|什么|几|是否|吗|是不是|有没有|列出|查看|查询|显示|谁|何时",
    re.IGNORECASE,
)


def question_kind(question: str) -> QuestionKind:
    """A bare statement of trouble ("checkout is slow") asks why it is so."""
    if _WHY.search(question):
        return "why"
    opening = question.strip()[:40]
    asks = question.strip().endswith(("?", "？")) or _FACT.match(opening) or _IN_CHINESE.search(opening)
    return "fact" if asks and _FACT.search(question) else "why"


_IN_CHINESE = re.compile(r"多少|哪|什么|是否|吗|是不是|有没有|列出|查看|查询|显示|何时")
