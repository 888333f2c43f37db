"""Words for severity and status as senders write them, in the languages of their users."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from colorsys import rgb_to_hsv
from functools import lru_cache
from typing import TypeVar

from agents.contracts import AlertStatus, Severity

Level = TypeVar("Level", bound=str)

# Each row: the words of a level. Whole words; a trailing * takes endings (критич* is критический, критично …).
_SEVERITIES: dict[Severity, str] = {
    "critical": "critical crit disaster emergency emerg fatal urgent severe p0 p1 s0 s1 sev0 sev1 sev-0 sev-1 page blocker "
    "critique crítico crítica critico critica kritisch kritik kritisk kriittinen kritiek krytyczny emergencia emergência urgence katastrophe desastre "
    "критич* чрезвычайн* катастроф* критичн* авари* 紧急 緊急 灾难 災難 致命 严重 嚴重 危急 重大 致命的な障害 致命的 "
    "심각 치명적 치명 긴급 재해 حرج حرجة خطير خطيرة طارئ طارئة كارثة بحرانی קריטי גורלי गंभीर วิกฤต nghiêm-trọng",
    "high": "high error err major p2 s2 sev2 sev-2 hoch schwerwiegend fehler élevé élevée majeur majeure alto alta wysoki "
    "yüksek erreur высок* ошибк* серьёзн* 高 高危 重要 错误 錯誤 エラー 重度の障害 높음 높은 오류 중대 عالي عالية عالٍ مرتفع مرتفعة خطأ גבוה",
    "warning": "warning warn needs-attention average medium minor moderate p3 s3 sev3 sev-3 warnung mittel avertissement moyen moyenne mineur "
    "advertencia aviso atenção medio media médio média varning advarsel varoitus waarschuwing uyarı orta ostrzeżenie avviso предупрежд* попередж* средн* 警告 警示 预警 預警 "
    "次要 中 中等 一般 一般严重 軽度の障害 주의 경고 중간 보통 تحذير متوسط متوسطة هشدار אזהרה चेतावनी คำเตือน cảnh-báo",
    "info": "info information informational low notice p4 p5 s4 s5 sev4 sev5 sev-4 sev-5 niedrig faible basso bajo baja baixo "
    "niski düşük bilgi hinweis информац* инфо низк* 信息 資訊 提示 低 情報 정보 낮음 منخفض منخفضة معلومات إشعار מידע",
}
_STATUSES: dict[AlertStatus, str] = {
    "no_data": "no-data nodata datasourcenodata insufficient-data insufficient_data missing-data no_data 无数据 無數據 数据缺失 数据不足 "
    "データなし 欠測 нет-данных недостаточно-данных 데이터-없음 데이터없음 لا-توجد-بيانات keine-daten sin-datos",
    "acknowledged": "acknowledged acked ack acknowledge acknowledgement acknowledgment 已确认 已認領 已认领 已確認 処理中 確認済み 確認済 подтвержд* подтвержден* квитирован* принят "
    "확인됨 접수됨 تم-الإقرار مؤكد bestätigt reconocido",
    "resolved": "resolved resolve ok okay recovered recovery recovering up closed cleared clear normal healthy online fixed green solved "
    "restored back-online back-to-normal operational completed passing passed success successful "
    "恢复 已恢复 恢復 已恢復 恢复正常 已解决 已解決 解除 已解除 告警恢复 告警解除 已关闭 正常 復旧 復旧済み 回復 復帰 解消 解決 解決済み 正常化 "
    "восстановл* восстановлен* решен* решён* устранен* устранён* закрыт* норма исправлен* 복구 복구됨 복구완료 해결 해결됨 정상 정상화 해제 "
    "تم-الحل تم-حل تمت-استعادة تعافى تعافت استعادة عاد محلول behoben gelöst löst återställd løst hersteld korjattu wiederhergestellt résolu résolue rétabli rétablie resuelto "
    "resuelta recuperado resolvido risolto opgelost rozwiązany çözüldü вирішено відновлено נפתר",
    "firing": "firing flappingstart fired fire triggered trigger alarm alarming alerting problem down failed failing failure fails fail open opened active "
    "unhealthy offline unreachable outage breached degraded incident triggering broken errored error critical crit warning warn "
    "fatal emergency disaster investigating unavailable exceeded anomaly violated red "
    "告警 报警 发生报警 发生告警 告警中 告警触发 触发 觸發 警报 警報 故障 异常 異常 宕机 不可用 失败 超时 发生 發生 障害 発生 発生中 障害発生 停止 異常検知 異常発生 アラート エラー ダウン 警告 严重 紧急 緊急 重大 "
    "проблем* авари* сработал* сбой отказ недоступ* тревог* внимание критич* предупрежд* упал упала 장애 발생 장애발생 문제 이상 경보 알람 중단 실패 심각 경고 긴급 "
    "مشكلة إنذار تنبيه عطل متوقف توقف فشل حرج تحذير انقطاع störung ausfall problème panne alerte alerta problema falla caído fallo incidente kritisch uyarı sorun awaria",
}
_EMOJI_STATUS: dict[str, AlertStatus] = {
    **dict.fromkeys("🔴🔥🚨🟠🟡❌⛔🆘💥", "firing"),
    "⚠": "firing",
    **dict.fromkeys("🟢✅💚✔☑", "resolved"),
}
_NAMED_COLOURS: dict[str, AlertStatus] = {"good": "resolved", "danger": "firing", "warning": "firing"}
_SHORT_NAMES: dict[str, AlertStatus] = {
    **dict.fromkeys(
        ("red_circle", "large_orange_circle", "large_yellow_circle", "fire", "rotating_light", "x", "warning", "no_entry",
         "exclamation", "bangbang", "boom", "sos", "heavy_exclamation_mark", "large_red_square"), "firing"),
    **dict.fromkeys(
        ("large_green_circle", "green_circle", "white_check_mark", "heavy_check_mark", "green_heart",
         "ballot_box_with_check", "large_green_square"), "resolved"),
}  # fmt: skip
_CODE = re.compile(r"\A(?:p|s|sev)[- ]?[0-5]\Z", re.IGNORECASE)
_ARROW = re.compile(r"->|→|➡|=>|⇒|»")
_PARTS = re.compile(r"[\s/,()（）|:：\[\]]+|-(?=\s)")
_HEX = re.compile(r"[0-9a-f]{6}\Z")
_CONSTANT = re.compile(r"[A-Z]{2,20}(?:_[A-Z]{2,20}){1,5}\Z")
_SHORT_NAME = re.compile(r":([a-z0-9_+-]{1,40}):")
_EDGES = " \t\n[](){}<>«»“”\"'`*_~:：,，.。!！?？|・;；【】「」『』-–—=►▶"
def _table(rows: dict[Level, str]) -> tuple[dict[str, Level], tuple[tuple[str, Level], ...]]:
    whole: dict[str, Level] = {}
    stems: list[tuple[str, Level]] = []
    for level, words in rows.items():
        for word in words.split():
            if word.endswith("*"):
                stems.append((word[:-1], level))
            else:
                whole.setdefault(word.replace("-", " ") if not word.startswith("sev") else word, level)
    return whole, tuple(stems)


_SEVERITY_WORDS, _SEVERITY_STEMS = _table(_SEVERITIES)
_STATUS_WORDS, _STATUS_STEMS = _table(_STATUSES)


def folded(word: str) -> str:
    """Lower case, compatibility forms resolved, punctuation and emoji off its ends; no more than 80 characters."""
    return _folded(word[:80])


def severity_of(word: str | None) -> Severity | None:
    """Of one word or code, in any case and script: Disaster, P1, sev-2, 紧急, критический."""
    return _level(folded(word or ""), _SEVERITY_WORDS, _SEVERITY_STEMS)


def status_of(word: str | None) -> AlertStatus | None:
    """Of one word or expression: FIRING, Recovered, 已恢复, нет данных. A severity alone (CRITICAL) says firing."""
    return _level(folded(word or ""), _STATUS_WORDS, _STATUS_STEMS)


def severity_word(value: str) -> str:
    """The level in a value such as `P1 - Critical`, `🔴 High`, `critical (5)`; the value itself where no word of it is one."""
    return _word_of(value, lambda word: severity_of(word) is not None) or value


def status_in(value: str) -> AlertStatus | None:
    """Of a value such as `🔴 DOWN`, `OK → CRITICAL` (what it became), `Firing (5m)`, `ALERT_STATE_EVENT_START`."""
    became = _ARROW.split(value[:300])[-1].strip()
    if whole := status_of(became):
        return whole
    if _CONSTANT.match(became):
        last = became.rpartition("_")[2]
        return "firing" if last in ("START", "STARTED") else "resolved" if last in ("END", "ENDED", "STOP") else status_of(last)
    word = _word_of(became, lambda word: status_of(word) is not None) if len(became) <= 60 else None
    return status_of(word) or status_of_emoji(became)


def _word_of(value: str, known: Callable[[str], bool]) -> str | None:
    if known(value):
        return value
    return next((word for word in _PARTS.split(value[:100]) if word and known(word)), None)


def severity_written(word: str | None) -> str | None:
    """As written; a word in lower case, a code (P2, SEV1) in capitals. None for nothing."""
    text = folded(word or "")
    if not text:
        return None
    return text.upper() if _CODE.match(text) else text


@lru_cache(256)
def status_of_colour(colour: str) -> AlertStatus | None:
    """Of an attachment's colour, by its hue: red, orange and yellow say firing, green resolved; pale, dark and blue say nothing."""
    name = colour.lstrip("#").casefold()
    if not _HEX.match(name):
        return _NAMED_COLOURS.get(name)
    hue, saturation, value = rgb_to_hsv(*(int(name[place : place + 2], 16) / 255 for place in (0, 2, 4)))
    if saturation < 0.4 or value < 0.4:
        return None
    return "firing" if hue * 360 <= 65 or hue * 360 >= 345 else "resolved" if 80 <= hue * 360 <= 170 else None


def status_of_emoji(text: str) -> AlertStatus | None:
    """Of the first emoji that says one, as a character or as :name:."""
    for letter in text[:200]:
        if letter in _EMOJI_STATUS:
            return _EMOJI_STATUS[letter]
    names = _SHORT_NAME.findall(text[:200])
    return next((_SHORT_NAMES[name] for name in names if name in _SHORT_NAMES), None)


@lru_cache(2048)
def _folded(word: str) -> str:
    text = unicodedata.normalize("NFKC", word) if not word.isascii() else word
    start, end = 0, len(text)
    while start < end and (text[start] in _EDGES or unicodedata.category(text[start])[0] in "SC"):
        start += 1
    while end > start and (text[end - 1] in _EDGES or unicodedata.category(text[end - 1])[0] in "SCM"):
        end -= 1
    return text[start:end].casefold().replace("i̇", "i")  # what İ becomes


def _level(word: str, whole: dict[str, Level], stems: tuple[tuple[str, Level], ...]) -> Level | None:
    if not word:
        return None
    if word in whole:
        return whole[word]
    if word.isascii() or " " in word:
        return None
    return next((level for stem, level in stems if word.startswith(stem)), None)
