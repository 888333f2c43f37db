"""Whether a question asks why, or for a fact: a "why" is answered by a cause or by health, a fact by stating it."""

from __future__ import annotations

import re
from typing import Literal

QuestionKind = Literal["why", "fact"]

_WHY = re.compile(
    r"\b(why|cause[sd]?|causing|reasons?|root[ -]cause|wrong|happen(?:s|ed|ing)?|diagnos\w+|investigat\w+|explain|"
    r"troubleshoot\w*|issues?|problems?|failing|broken|broke|breaks|culprit|going on)\b"
    r"|为什么|为何|为啥|原因|根因|怎么回事|怎么了|排查|诊断|定位|什么问题|出了什么|异常原因",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(what|which|when|who|whose|where|how|is|are|was|were|does|do|did|has|have|had|can|list|show|fetch|get|give|find|"
    r"post|count|check|tell)\b"
    r"|多少|哪|什么|几|是否|吗|是不是|有没有|列出|查看|查询|显示|谁|何时|如何|怎样|怎么(?:重启|处理|修复|解决|恢复|回滚|查|看|扩容|配置|办)",
    re.IGNORECASE,
)


# Since when something is wrong; when another thing was done (a restart, a deploy) is a question of its own.
_WHEN = re.compile(
    r"\b(since when|from when|when (did|was|has|exactly|it|this|that)|(for )?how long (has|have|already|now)|what time)\b"
    r"|^\W*(for )?how long\W*$|^\W*when\W*$|从?(什么|啥)时候|何时|多久了|持续(了)?多久|(从|自)几点",
    re.IGNORECASE,
)
_OTHER_EVENT = re.compile(
    r"\b(restart|deploy|releas|roll(ed|ing)? ?out|creat|delet|scal|next|last)\w*"
    r"|重启|创建|删除|扩容|发布|上线|部署|上次|下次|最后",
    re.IGNORECASE,
)
_OF_WHEN = re.compile(r"\b(start\w*|beg[aiu]n\w*|happen\w*|occur\w*|going on)\b|开始|出现|发生", re.IGNORECASE)


def asks_when(question: str) -> bool:
    """Whether the question is since when something is wrong."""
    return _WHEN.search(question) is not None and _OTHER_EVENT.search(question) is None


def without_when(question: str) -> str:
    """A when-question without the words that only ask for the time: what is left says of what."""
    return _OF_WHEN.sub(" ", _WHEN.sub(" ", question)) if asks_when(question) else question


def question_kind(question: str) -> QuestionKind:
    """A bare statement of trouble ("checkout is slow") asks why it is so."""
    if _WHY.search(without_when(question)):
        return "why"
    if asks_when(question):
        return "fact"
    opening = question.strip()[:40]
    asks = question.strip().endswith(("?", "？")) or _FACT.match(opening) or _IN_CHINESE.search(opening)
    return "fact" if asks and _FACT.search(question) else "why"


_IN_CHINESE = re.compile(
    r"多少|哪|什么|是否|吗|是不是|有没有|列出|查看|查询|显示|何时|如何|怎样|怎么(?:重启|处理|修复|解决|恢复|回滚|查|看|扩容|配置|办)"
)
