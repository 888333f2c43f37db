"""A heading, whoever wrote it: `[CRITICAL] disk full`, `PROBLEM: …`, `web-01/HTTP is DOWN`, `✅ Resolved in 5m: …`, `CPU使用率過高 已恢复`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from agents.contracts import AlertStatus
from bot.alert_reading.markup import bare
from bot.alert_reading.words import folded, severity_of, status_of, status_of_emoji

_LEADING = re.compile(r"\A(?::[a-z0-9_+-]{1,40}:|[^\w\[【(（<\"“'#*/@+-]|[*-](?=\s)|\*(?=\*)|#{1,6}\s|•)+")
_ENDED = re.compile(r"\A(.{2,300}?)\s(?:(?:has|have|was|is)\s)?(?:been\s|now\s)?(recovered|resolved|firing|triggered|alerting)\s(?:after|in|at|by|on|for)\b[^\n]*\Z", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“«「](.{2,200}?)[\"”»」]\s(?:(?:has|have|was|is)\s)?(?:been\s)?(fired|firing|triggered|alerting|resolved|recovered)\b", re.IGNORECASE)
_THING = re.compile(r"\A(?:host|server|node|service|site|website|endpoint|device|instance|monitor|machine|vm)\s[^\n]{1,200}\s(down|unreachable|offline|unavailable)\Z", re.IGNORECASE)
_STAMP = re.compile(r"\A\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d\S{0,20}\]?\s+(?:(?:UTC|GMT|Z)\s+)?")
# A number that a tracker gave, or a mail's heading, before what is said.
_TICKETED = re.compile(r"\A(?:(?:subject|betreff|objet|asunto|тема|件名|主题)\s?[:：]\s{1,4}|(?:incident|alert|issue|event|alarm|problem|case|ticket)\s#?\d{1,12}\s?[:|–—-]\s{1,4})(?=\S)", re.IGNORECASE)
_TRAILING_EMOJI = re.compile(r"(?:\s:[a-z][a-z0-9_+-]{1,40}:){1,6}[\s*]*\Z")
_BRACKET = re.compile(r"\A[\[【(（]\s{0,4}([^\]】)）\n]{1,120}?)\s{0,4}[\]】)）]\s{0,4}[:：|–—-]?\s{0,4}")
_END_BRACKET = re.compile(r"\s{0,4}[\[【(（]\s{0,4}([^\[【(（\]】)）\n]{1,40}?)\s{0,4}[\]】)）]\s*\Z")
_LEAD = re.compile(r"\A([^:：|\n]{1,60}?)\s{0,3}(?:[:：|!]|\s[–—·•-])\s{1,4}(?=\S)|\A([^:：|\n\s]{1,30})[:：!！]|\A([^:：|\n]{1,60}?)：")
_BY = re.compile(r"\s(?:by|von|par|por|от)\s[^\n]{1,40}\Z", re.IGNORECASE)
_TRAIL = re.compile(r"\A(.{1,400})(?:\s{0,3}[:：|]|\s[–—·•-]|\s(?:is|are|was|has been|has|is now|went|ist|est|está)(?:\s(?:now|currently|back))?|\snow)\s{1,4}([^:：|\n]{1,40})\Z")
_FIRST_WORD = re.compile(r"\A([A-Z]{2,14})(?:\s+|\Z)(.*)\Z", re.DOTALL)
_LAST_WORD = re.compile(r"\A(.*\S)\s+([A-Z]{2,14}|resolved|recovered|triggered|firing|alerting|acknowledged)\Z", re.DOTALL)
_OWN_SCRIPT = re.compile(r"\A([^\x00-\x7f]{2,12})\s+(\S.*)\Z", re.DOTALL)
_PRODUCT_SAYS = re.compile(r"\A(?:[\w-]{0,30}(?:alert|alarm|monitor|watch)[\w-]{0,20}|[\w-]{2,30})\s([A-Z]{2,14})\Z", re.IGNORECASE)
_CODE = re.compile(r"\A(?:P|SEV-?)[0-5]\Z")
_DURATION = re.compile(r"\A(?:\d+(?:\.\d+)?\s?(?:d|h|m|s|ms|hr|hrs|min|mins|minutes?|hours?|days?|sec|seconds?)|\d{1,3}(?::\d\d){1,2}|[x×]?\d{1,4}[x×]?|#\d{1,9})\Z", re.IGNORECASE)
_TICKET = re.compile(r"\b[A-Z]{1,6}-\d{3,12}\b")
# Words beside a status that say nothing more.
_FILLING_WORDS = (
    "alert alerts alarm alarms incident event notification notice monitor monitoring service host check state status issue new started "
    "begin began the an a in after has been is now for since type notify automatic auto on-call oncall priority severity level "
    "again back detected escalation by user automatically alertmanager prometheus system test "
    "告警 报警 通知 警报 级 级别 事件 提醒 系统 监控 消息 アラート 監視 服务 主机 サービス ホスト しました されました しています 中 です 検知 障害 событие уведомление алерт статус "
    "알림 경보 됨 되었습니다 تنبيه إشعار جديد"
)
_FILLING = set(_FILLING_WORDS.split())
# Words that tickets, builds and people use too: they need more beside them than a heading.
_WEAK_WORDS = (
    "ok okay open opened closed close up fixed completed success successful passed passing active new online green error err failed "
    "failure failing fails fail fired trigger solved clear cleared normal high low medium major minor info information informational "
    "notice average urgent page blocker moderate healthy operational incident investigating issue anomaly unavailable red exceeded "
    "restored 正常 失败 高 中 低 通知 提示 信息 超时 停止 重大 解决 解決 확인 정상 解除 回復 مؤكد عاد 중대 成功 закрыт принят внимание"
)
_WEAK = set(_WEAK_WORDS.split())
# Behind a verb those are no levels: "CPU is high".
_ADJECTIVES = {"high", "low", "medium", "average", "minor", "major", "severe", "moderate", "urgent"}
# In brackets and in capitals those are a monitor's all the same.
_BRACKETED = {"OK", "UP", "ERROR", "HIGH", "MEDIUM", "LOW", "MAJOR", "MINOR", "RECOVERED", "CLEARED", "CLEAR", "NORMAL", "INCIDENT"}
# In the middle: what failed, and why.
_BECAUSE = re.compile(r"\A(.{2,300}?)\s(?:has\s|have\s|is\s)?(failed|failing|down|up|unreachable|unavailable|timed out|offline|exceeded)(?:[:：]\s+\S|\s\(\S)", re.IGNORECASE)
_CJK_ENDS: tuple[tuple[AlertStatus, tuple[str, ...]], ...] = (
    ("resolved", ("已恢复正常", "恢复正常", "已恢复", "已恢復", "已解除", "已解决", "復旧しました", "が復旧", "復旧", "回復しました", "解消しました", "복구되었습니다", "해결되었습니다", "복구됨", "복구 완료")),
    ("firing", ("发生告警", "触发告警", "告警", "报警", "異常発生", "が発生しました", "発生", "を検知しました", "を検知", "宕机", "不可用", "발생했습니다", "장애 발생", "발생")),
)  # fmt: skip
_SINCE = re.compile(r"\s+(?:since|seit|depuis|desde|с|自)\s+\S*\d\S*(?:\s\S*\d\S*)?(?:\s?(?:UTC|GMT|Z))?\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Heading:
    """`name` is what is left once level and status are taken off; empty where the line says nothing else. `strong`: its
    words are those of alerts alone. `leads`: it begins with them. `before` is what stood in brackets before the status; `tags` other brackets."""

    name: str
    status: AlertStatus | None = None
    severity: str | None = None
    strong: bool = False
    leads: bool = False
    before: str = ""
    tags: tuple[str, ...] = field(default=())

    @property
    def says_something(self) -> bool:
        return self.status is not None or self.severity is not None


def read_heading(line: str) -> Heading:
    """One line; never fails. Emoji count where no word says a status."""
    return _read(line[:1_000].strip())


@lru_cache(512)
def _read(line: str) -> Heading:
    emoji = status_of_emoji(line[:60])
    line = _TRAILING_EMOJI.sub("", line)
    text = _SINCE.sub("", _LEADING.sub("", _TICKETED.sub("", _STAMP.sub("", _LEADING.sub("", bare(line)).strip("* ")))))
    if said := _phrase(text, alone=True):
        return Heading("", said.status, said.severity, said.strong, leads=True)
    found = _brackets(Heading(text))
    for _ in range(4):
        next_found = _brackets(_lead(found))
        if next_found == found:
            break
        found = next_found
    found = replace(found, leads=found.says_something)
    found = _cjk(_because(_word(_trail(_end(found)))))
    name = _SINCE.sub("", found.name).strip(" \t*_`-–—|:：,.。!！»«·")
    if found.says_something and (said := _phrase(name)):
        found, name = _with(found, said), ""
    return replace(found, name=name, status=found.status or emoji)


def _brackets(found: Heading) -> Heading:
    """`[CRITICAL] [web-01] name`: levels are taken, other brackets kept as tags."""
    for _ in range(6):
        match = _BRACKET.match(found.name)
        if match is None:
            break
        rest = _LEADING.sub("", found.name[match.end() :])
        said = _phrase(match[1], alone=True)
        if said is not None:
            said = replace(said, strong=True) if match[1] in _BRACKETED or _CODE.match(match[1]) else said
            before = found.before or (found.tags[0] if found.tags and not found.says_something else "")
            found = _with(replace(found, name=rest, before=before), said)
        elif len(found.tags) < 6 and rest and not rest.startswith(("is ", "are ", "has ", "was ", "went ")):
            found = replace(found, name=rest, tags=(*found.tags, match[1]))
        else:
            break
    return found


def _lead(found: Heading) -> Heading:
    match = _LEAD.match(found.name)
    lead = _BY.sub("", match[1] or match[2] or match[3] or "") if match else ""
    said = _phrase(lead, alone=True) or _product_says(lead)
    if match is None or said is None:
        return _first(found)
    return _with(replace(found, name=_LEADING.sub("", found.name[match.end() :])), said)


def _product_says(lead: str) -> _Said | None:
    """`PingdomAlert DOWN: …`"""
    match = _PRODUCT_SAYS.match(lead)
    is_product = match is not None and re.search("alert|alarm|monitor|watch", lead, re.IGNORECASE)
    return _phrase(match[1]) if match and is_product and match[1].isupper() else None


def _first(found: Heading) -> Heading:
    match = _FIRST_WORD.match(found.name) or _OWN_SCRIPT.match(found.name)
    said = _phrase(match[1], alone=match[1].isascii()) if match else None
    said = said if said and match and (match[1].isascii() or (said.strong and match[1].upper() == match[1])) else None
    if match is None or said is None or (not match[2] and found.says_something):
        return found
    return _with(replace(found, name=_LEADING.sub("", match[2])), said)


def _end(found: Heading) -> Heading:
    match = _END_BRACKET.search(found.name)
    said = _phrase(match[1]) if match else None
    return _with(replace(found, name=found.name[: match.start()]), said) if match and said else found


def _trail(found: Heading) -> Heading:
    match = _TRAIL.match(found.name)
    said = _phrase(match[2]) if match else None
    if match is None or said is None or (folded(match[2]) in _ADJECTIVES and found.name[match.end(1)].isspace()):
        return found
    return _with(replace(found, name=match[1]), said)


def _word(found: Heading) -> Heading:
    match = _LAST_WORD.match(found.name) or _ENDED.match(found.name)
    if match is None and not found.status and (match := _THING.match(found.name)):
        return replace(found, status="firing", strong=True)
    said = _phrase(match[2]) if match else None
    return _with(replace(found, name=match[1]), said) if match and said and not found.status else found


def _because(found: Heading) -> Heading:
    if not found.status and (quoted := _QUOTED.search(found.name)):
        return replace(found, name=quoted[1], status=status_of(quoted[2]), strong=True)
    match = _BECAUSE.match(found.name) if not found.says_something else None
    said = _phrase(match[2]) or _Said("firing", None, False) if match else None
    return _with(replace(found, name=match[1]), said) if match and said else found


def _cjk(found: Heading) -> Heading:
    if found.name.isascii() or found.strong or found.status not in (None, "firing"):
        return found
    for status, ends in _CJK_ENDS:
        for end in ends:
            if found.name.endswith(end):
                name = found.name[: -len(end)].strip() if status == "resolved" else found.name
                return replace(found, name=name or found.name, status=status, strong=True)
    rest, _, last = found.name.rpartition(" ")
    said = _one(last) if rest and not last.isascii() else None
    if said is None or not said.strong or said.severity:
        return found
    return replace(found, name=rest if said.status == "resolved" else found.name, status=said.status, strong=True)


@dataclass(frozen=True)
class _Said:
    status: AlertStatus | None
    severity: str | None
    strong: bool


def _with(found: Heading, said: _Said) -> Heading:
    """The first level of a heading counts; a recovery's word outweighs the problem's beside it."""
    status = said.status if found.status in (None, "firing") and said.status else found.status
    return replace(found, status=status, severity=found.severity or said.severity, strong=found.strong or said.strong)


def is_status_phrase(text: str) -> bool:
    """Whether a text is nothing but levels, statuses and words beside them."""
    return _phrase(text, alone=True) is not None


def _phrase(text: str, *, alone: bool = False) -> _Said | None:
    """What a short phrase says, if each of its words is a level, a status, a duration or filling: `Resolved in 12m 3s`,
    `CRITICAL ALERT`, `FIRING:3`, `P1`, `告警恢复`. `alone`: the word for an alert says that one fires."""
    text = text.strip(" *_`!！")
    if not text or len(text) > 60 or text[-1] in "?？":
        return None
    if whole := _one(text):
        return whole
    words = [piece for word in re.split(r"[\s:：,/|.-]+", _TICKET.sub("", text)) if word for piece in _pieces(word)]
    if not words or len(words) > 8:
        return None
    found = [_one(word) for word in words]
    if any(said is None and not _fills(word) for word, said in zip(words, found, strict=True)):
        return None
    known = [said for said in found if said]
    if not known:
        fills = alone and any(folded(word) in _ALERT_WORDS for word in words)
        return _Said("firing", None, True) if fills else None
    return _Said(_strongest(known), next((said.severity for said in known if said.severity), None), any(said.strong for said in known))


def _pieces(word: str) -> list[str]:
    """A word of a script without spaces in its parts, if they are all known: 严重告警 is 严重 and 告警."""
    if word.isascii() or len(word) > 16 or _one(word) or _fills(word):
        return [word]
    pieces, start = [], 0
    while start < len(word):
        end = next((end for end in range(min(len(word), start + 8), start, -1) if _known(word[start:end])), None)
        if end is None:
            return [word]
        pieces.append(word[start:end])
        start = end
    return pieces


def _known(text: str) -> bool:
    return _one(text) is not None or folded(text) in _FILLING


_ALERT_WORDS = {"alert", "alerts", "alarm", "alarms", "告警", "报警", "警报", "アラート", "алерт", "경보", "تنبيه"}


def _fills(word: str) -> bool:
    return folded(word) in _FILLING or _DURATION.match(word) is not None or not any(letter.isalnum() for letter in word)


@lru_cache(4096)
def _one(text: str) -> _Said | None:
    word = folded(text)
    status, severity = status_of(word), severity_of(word)
    if status is None and severity is None:
        return None
    return _Said(status or ("firing" if severity else None), text if severity else None, word not in _WEAK and not _is_code(word))


def _is_code(word: str) -> bool:
    return len(word) < 3 and word.isascii()


def _strongest(known: list[_Said]) -> AlertStatus | None:
    found = {said.status for said in known}
    order: tuple[AlertStatus, ...] = ("resolved", "acknowledged", "no_data", "firing")
    return next((status for status in order if status in found), None)
