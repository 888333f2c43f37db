"""`key: value` lines in any script, and what a key means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from bot.alert_reading.markup import bare

MAX_LINES = 3_000
_BULLET = re.compile(r"\A(?:[\s>•◦▪‣·–►▶|]|-(?=\s)|\*(?=\s)|:[a-z_0-9]{1,30}:(?=\s))+")
_ALONE = re.compile(r"\A[\s>•]*(?:\*{1,2}([^*\n]{1,48}?)[:：]?\*{1,2}[:：]?|([^\W\d_][\w .()-]{0,40})[:：])\s*\Z")
_LOGFMT = re.compile(r'([A-Za-z_][\w.-]{0,47})=("[^"\n]{0,500}"|[^\s"]{1,300})')
_STARTS_LOGFMT = re.compile(r"\A[\s>•`-]*[A-Za-z_][\w.-]{0,47}=\S")
_ALIGNED = re.compile(r"\A[\s>|•]*([^\W\d_][\w .()-]{0,40}?)(?:\s{2,}|\s*\|\s*)([^\s|][^|\n]{0,300}?)[\s|]*\Z")
_SEVERAL = re.compile(r"(?: {2,}|\t|\s(?=\*[^*\n]{1,40}:\*)|\s[|;]\s|,\s)(?=[*`]{0,2}[^\W\d][\w .@/-]{0,30}[*`]{0,2}\s?[:=：])")
_SEPARATOR = re.compile(r"[:：]|\s?=\s?")
_KEY = re.compile(r"[^\W\d_][\w .@/()-]{0,47}\Z|[@_]\w{1,47}\Z|[^\W\d_]\Z")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SENTENCE = re.compile(r"\s\S+\s\S+\s\S+\s\S+\s")

# role → the keys that mean it, folded.
_ROLES = {
    "name": "alertname|health rule|报警项|rule title|规则标题|alert name|alert|rule|rule name|rulename|alarm|alarm name|monitor|monitor name|check|check name|trigger|"
    "告警名称|告警名|报警名称|告警|规则|规则名称|监控项|アラート名|アラート|ルール|監視項目|監視名|название|алерт|триггер|имя алерта|событие|알림|알람|경보|알림명|규칙|이름|"
    "اسم التنبيه|التنبيه|القاعدة|nombre de alerta|alerta|alarmname|nom de l'alerte|name|title|名称|名前|タイトル|标题",
    "status": "status|trạng thái|stan|stav|статус|state|current state|alert status|alert state|alarm state|new state|new state value|状态|告警状态|当前状态|狀態|ステータス|状態|статус|состояние|상태|الحالة|estado|statut|zustand|stato|durum",
    "severity": "severity|priorytet|poziom|ważność|mức độ|độ nghiêm trọng|öncelik|önem derecesi|livello|priorità|prioriteit|ernst|allvarlighetsgrad|важливість|пріоритет|priority|level|urgency|alert severity|problem severity|criticality|级别状态|impact|级别|等级|告警级别|报警级别|严重程度|严重级别|严重性|优先级|報警級別|告警等级|深刻度|重要度|重大度|レベル|優先度|緊急度|"
    "важность|критичность|серьёзность|серьезность|приоритет|уровень|심각도|중요도|등급|레벨|우선순위|الخطورة|الأولوية|المستوى|درجة الخطورة|severidad|gravedad|prioridad|"
    "gravité|priorité|sévérité|niveau|gravità|schweregrad|priorität|severidade|gravidade|prioridade|önem",
    "host": "host|serwer|máy chủ|sunucu|hostname|host name|node|server|machine|主机|主机名|主机ip|故障主机|故障主机ip|告警主机|服务器|节点|機器|ホスト|ホスト名|サーバー|サーバ|ノード|хост|узел|сервер|호스트|호스트명|서버|노드|المضيف|الخادم|السيرفر|servidor|serveur|hôte|sunucu",
    "instance": "instance|实例|インスタンス|экземпляр|инстанс|인스턴스|المثيل|instanz|instancia|instância",
    "service": "service|usługa|aplikacja|servis|hizmet|uygulama|dịch vụ|ứng dụng|servizio|applicazione|tjänst|tjeneste|сервіс|service name|application|app|服务|服务名|服务名称|应用|系统|服務|應用|サービス|サービス名|アプリ|アプリケーション|システム|сервис|служба|приложение|서비스|서비스명|애플리케이션|시스템|الخدمة|التطبيق|servicio|aplicación|dienst|anwendung|serviço|aplicação",
    "env": "env|środowisko|môi trường|ortam|omgeving|miljö|середовище|environment|环境|環境|окружение|среда|환경|البيئة|entorno|umgebung|environnement|ambiente",
    "cluster": "cluster|集群|クラスタ|クラスター|кластер|클러스터|العنقود|clúster",
    "namespace": "namespace|命名空间|名前空間|пространство имён|пространство имен|네임스페이스",
    "region": "region|区域|地域|リージョン|регион|리전|지역|المنطقة|región|região",
    "value": "value|wartość|giá trị|valore|waarde|värde|значення|触发时值|current value|current|measured value|当前值|当前|数值|現在値|値|значение|текущее значение|현재값|현재 값|값|القيمة|القيمة الحالية|valor|valor actual|wert|valeur|değer|valor atual",
    "started": "started|początek|czas rozpoczęcia|bắt đầu|thời gian bắt đầu|başlama zamanı|ora di inizio|begin|початок|down since|failing since|started at|starts at|startsat|starts_at|start time|starttime|start_time|start|since|triggered at|fired at|firing since|activeat|active since|active at|opened at|"
    "occurred at|created at|first seen|triggered|detected at|began|开始时间|触发时间|告警时间|发生时间|報警時間|故障时间|発生時刻|発生日時|発生時間|開始時刻|開始時間|開始日時|検知時刻|検知日時|"
    "начало|время начала|начался|началось|시작|시작 시간|시작 시각|발생 시간|발생시각|발생 시각|발생시간|발생일시|발생 일시|وقت البدء|وقت البداية|بدأ|inicio|hora de inicio|début|beginn|início|başlangıç",
    "time": "time|czas|thời gian|tijd|ora|tid|час|date/time|when|timestamp|@timestamp|event time|event date|date|datetime|ts|at|changed at|state change time|statechangetime|时间|時間|時刻|日時|время|дата|время события|시간|시각|일시|الوقت|التاريخ|hora|heure|zeit|zeitpunkt|zaman|fecha|data",
    "ended": "ended|koniec|kết thúc|bitiş|eind|кінець|ended at|ends at|endsat|end time|endtime|end|resolved at|resolved|recovered at|closed at|recovery time|end_time|恢复时间|结束时间|解决时间|復旧時刻|復旧日時|終了時刻|解消時刻|"
    "время восстановления|окончание|конец|завершено|복구 시간|복구시각|복구 시각|종료 시간|해결 시간|وقت الانتهاء|وقت الحل|fin|hora de fin|ende|fim",
    "summary": "summary|概要|摘要|サマリー|сводка|요약|الملخص|resumen|résumé|zusammenfassung|resumo",
    "description": "description|details|detail|message|msg|info|reason|note|notes|alert description|alarm description|new state reason|state reason|cause|error|描述|详情|说明|告警内容|内容|信息|原因|詳細|説明|メッセージ|内訳|"
    "описание|сообщение|подробности|причина|детали|설명|내용|메시지|상세|원인|الوصف|التفاصيل|الرسالة|السبب|descripción|detalle|mensaje|beschreibung|meldung|descrição|mensagem|açıklama",
    "noted": "output|threshold|occurrences|负责人|处理人|担当者|담당자|담당|ответственный|المسؤول|condition|duration|for|阈值|阀值|条件|持续时间|閾値|しきい値|継続時間|порог|условие|длительность|продолжительность|임계값|임계치|지속 시간|조건|العتبة|الحد|المدة|umbral|duración|"
    "schwellwert|dauer|seuil|limite|duração|expression|expr|query|metric value|opdata|operational data|period|last ping|total pings|trigger description|"
    "assigned|assigned to|assignee|assignees|owner|responder|responders|notified|notify|events|users affected|count|action|actions|correlation|footer|source|receiver|ttl|last seen|updated|updated at",
    "link": "runbook|runbook url|runbook_url|runbookurl|dashboard|dashboard url|dashboard_url|dashboardurl|link|links|url link|more info|panel|panel url|silence|silence url|graph|generatorurl|"
    "手册|预案|处理手册|链接|仪表盘|手順書|リンク|ダッシュボード|ссылка|дашборд|링크|대시보드|الرابط|enlace|lien",
    "tags": "tags|event tags|labels|标签|タグ|ラベル|теги|метки|태그|라벨|الوسوم|etiquetas",
}  # fmt: skip
_MEANING = {key: role for role, keys in _ROLES.items() for key in keys.split("|")}


@lru_cache(1024)
def role_of(key: str) -> str | None:
    """What a key means: name, status, severity, host, service, value, started, …; None for a label of the sender's own."""
    folded = _HUMP.sub(" ", key).casefold().strip() if not key.islower() else key.strip()
    return _MEANING.get(folded) or _MEANING.get(folded.partition("(")[0].rstrip()) or _MEANING.get(folded.replace("_", " "))


def label_name(key: str) -> str:
    """The name of a label: host, service, env … for what means them, else the key in lower case. `environment` is as common as
    `env` and stays as written."""
    role = role_of(key)
    return role if key.casefold() != "environment" and role in ("host", "instance", "service", "env", "cluster", "namespace", "region") else key.casefold()


def pairs_of(text: str) -> list[tuple[str, str]]:
    """Every `key: value` and `key = value` of a text, keys as written, several a line also where wide spaces part them."""
    lines = text.splitlines()[:MAX_LINES]
    return [pair for line in lines for pair in pairs_of_line(line)]


def joined(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with a key that stands alone (`*Severity*`) put before the value below it."""
    key = ""
    for line in lines:
        alone = _key_alone(line)
        if not alone and line.strip():
            yield f"{key}: {line.strip()}" if key and not pairs_of_line(line) else line
        elif not alone:
            yield line
            continue
        key = alone


def _key_alone(line: str) -> str:
    match = _ALONE.match(line[:200])
    key = (match[1] or match[2]).strip() if match else ""
    return key if role_of(key) not in (None, "name", "started", "ended", "tags", "link", "noted") else ""


def pairs_of_line(line: str) -> list[tuple[str, str]]:
    """Also of `a=1 b="two words"`, and of a cell and its neighbour where the first means something: `| Host | db-1 |`."""
    return list(_pairs_cached(line)) if len(line) <= 300 else _pairs(line)


@lru_cache(512)
def _pairs_cached(line: str) -> tuple[tuple[str, str], ...]:
    """A post's lines are looked at for a heading, for what they support, and for what they say."""
    return tuple(_pairs(line))


def _pairs(line: str) -> list[tuple[str, str]]:
    if "=" in line and len(line) < 4_000 and _STARTS_LOGFMT.match(line):
        found = [(key, value.strip('"')) for key, value in _LOGFMT.findall(line.replace("`", ""))]
        if len(found) > 1:
            return found
    if ":" not in line and "=" not in line and "：" not in line:
        match = _ALIGNED.match(line[:500]) if "  " in line.strip() or "|" in line else None
        return [(match[1], bare(match[2]))] if match and role_of(match[1]) not in (None, "name") else []
    line = _BULLET.sub("", f"{line} ").rstrip()
    pieces = _several(line) if len(line) < 2_000 else [line]
    if pair_of(pieces[0]) is None:
        return []  # a sentence, whatever it goes on to say
    return [pair for piece in pieces if (pair := pair_of(piece))]


def _several(line: str) -> list[str]:
    """Its pairs apart, unless they are one key's value: `Value: A=0.143, C=1`."""
    if line.count(":") + line.count("=") + line.count("：") < 2:
        return [line]
    pieces = _SEVERAL.split(line)
    marks = {match[0].strip() for piece in pieces if (match := _SEPARATOR.search(piece, 0, 80))}
    return pieces if len(marks) == 1 else [line]


def pair_of(line: str) -> tuple[str, str] | None:
    """The one pair of a line, or None where the line is a sentence, a heading or an address."""
    line = _BULLET.sub("", line[:4_000]).strip()
    match = _SEPARATOR.search(line, 0, 80)
    if match is None or match.start() == 0:
        return None
    key, rest = bare(line[: match.start()]).strip("*_` "), line[match.end() :]
    if rest.startswith(("//", ":", "=")) or not _KEY.match(key) or _SENTENCE.search(f"{key} "):
        return None
    if match[0].strip() in ":" and rest[:1].isdigit() and key[-1:].isdigit():
        return None
    return key, _value(rest, marked=line[:1] in "*_`")


def _value(rest: str, *, marked: bool) -> str:
    """`*key:* value` leaves the mark that closed the key before the value."""
    rest = rest.lstrip("*_") if marked else rest
    return bare(rest)
