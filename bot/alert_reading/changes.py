"""Deploy notes in an alert channel: no alerts, but what an investigation asks for first."""

from __future__ import annotations

import re

from bot.alert_reading.headings import read_heading
from bot.alert_reading.labels import pairs_of
from bot.alert_reading.markup import bare
from bot.alert_reading.parsed import ChangeNote
from bot.alert_reading.post import Post

_VERB = (
    r"deploy(?:ed|ing|s|ment)?|redeployed|releas(?:e|ed|ing)|roll(?:ed|ing)?[ -]?out|rollout|roll(?:ed|ing)?[ -]?back|rollback|shipped|promoted|now live|now running (?:a )?new version|"
    r"successfully synced|(?:turned (?:on|off)|toggled|enabled|disabled) (?:the |a )?(?:feature )?flag|feature flag|config(?:uration)? (?:change|update)d?|migration applied|部署|发布|上线|回滚|變更|变更|デプロイ|リリース|ロールバック|"
    r"деплой|задеплоен\w*|релиз|выкат\w*|развернут\w*|откат\w*|배포|롤백|نشر|إصدار"
)
_CHANGE = re.compile(rf"(?<![\w-])(?:{_VERB})(?![\w-])|(?:部署|发布|上线|回滚|变更|デプロイ|リリース|배포|롤백)", re.IGNORECASE)
_BACK = re.compile(r"roll(?:ed|ing)?[ -]?back|回滚|ロールバック|откат|롤백", re.IGNORECASE)
_CONFIG = re.compile(r"\bflag\b|config(?:uration)? |变更", re.IGNORECASE)
_FAILED = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|error(?:s|ed)?|abort(?:ed)?|stuck|timed out|unhealthy|degraded|critical|crash\w*|firing|alert|down|silenc\w+|muted|snoozed)\b|失败|失敗|异常|ошибк|не удал|실패|فشل",
    re.IGNORECASE,
)
# What a person must add to the verb for it to be a note: which version, or where to.
_VERSION = re.compile(r"(?<![\w.])(v?\d{1,5}(?:\.\d{1,6}){1,3}(?:[-+][\w.]{1,40})?|v\d{1,6}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})(?![\w.]\w)")
_WHERE = re.compile(r"\b(prod(?:uction)?|staging|stage|preprod|pre-production|canary|dev(?:elopment)?|qa|uat)\b|(生产|生産|本番|预发|测试|ステージング)", re.IGNORECASE)
_BY = re.compile(r"\b(?:by|author|von|por|par)\s?:?\s@?([\w.-]{2,40}(?: [A-Z][\w-]{1,30})?)|(?:发布人|部署人|操作人)[:：]\s?(\S{2,30})")
_NAME = r"`?((?=[\w./-]*[a-z])[a-z][\w./-]{1,80}?)`?"
_SERVICE = (
    re.compile(r"(?:部署|发布|上线|回滚|デプロイ|リリース|ロールバック|배포)(?:完了|開始|完成|成功|开始|完毕|済み|완료)?\s?[:：]\s?([^\s:：,，]{2,60})"),
    re.compile(rf"(?:{_VERB})(?![\w-])(?:\s(?:of|for|started|starting|in progress|finished|completed|succeeded|done|successful|complete|to production|to prod)){{0,2}}\s?[:：]?\s?\**{_NAME}\**(?=[\s:@,]|\Z)", re.IGNORECASE),
    re.compile(rf"{_NAME}\**[\s:@]+\**`?v?\d[\w.-]*`?\**\s(?:was |has been |is )?(?:{_VERB})", re.IGNORECASE),
    re.compile(rf"{_NAME}\**(?:\s(?:was|has been|is))?\s(?:{_VERB})", re.IGNORECASE),
)
_NO_SERVICE = {"to", "in", "on", "at", "with", "of", "for", "by", "the", "a", "an", "was", "is", "has", "finished", "completed", "succeeded", "started", "successful", "new", "version", "and", "prod", "production", "staging", "just", "we", "i", "notes", "note"}
_QUESTION = re.compile(r"[?？]|\b(?:might|maybe|could|anyone|who|should|will|going to|can we|please)\b", re.IGNORECASE)
MAX_SUMMARY = 300


def change_note(post: Post) -> ChangeNote | None:
    """A machine's post that speaks of a deploy and of no failure. A person's counts where it says what went where."""
    text = post.whole()[:4_000]
    head = "\n".join(text.splitlines()[:3])[:600]
    if not _CHANGE.search(head) or (_FAILED.search(text) and not post.by_person) or re.search(r"\bfail", head, re.IGNORECASE):
        return None
    version, where = _VERSION.search(text), _WHERE.search(text)
    if post.by_person and (_QUESTION.search(text) or not (version or where) or len(text) > 600):
        return None
    heading = read_heading(head.splitlines()[0])
    if not post.by_person and (heading.severity or (heading.strong and heading.leads)):
        return None
    return _note(post, text, head, version, where)


def _note(post: Post, text: str, head: str, version: re.Match[str] | None, where: re.Match[str] | None) -> ChangeNote:
    named = {key.casefold(): value for key, value in (*pairs_of(text), *((field.title, field.value) for field in post.fields))}
    by = _BY.search(text)
    links = [link.url for link in post.links] + [link.url for part in post.parts for link in (*part.links, *part.buttons)]
    titles = [part.title_link for part in post.parts if part.title_link]
    kind = "rollback" if _BACK.search(head) else "config" if _CONFIG.search(head) else "deploy"
    return ChangeNote(
        kind=kind,
        summary=bare(next((line for line in head.splitlines() if _CHANGE.search(line)), head).strip())[:MAX_SUMMARY],
        service=_first(named, "service", "application", "app", "project", "repository", "服务", "サービス") or (_service(head) if kind != "config" else None),
        version=_first(named, "version", "tag", "release", "image tag", "版本", "バージョン") or (version[1] if version else None),
        environment=_first(named, "environment", "env", "环境", "環境") or (where[0].lower() if where else None),
        author=_first(named, "author", "by", "deployed by", "user", "发布人", "部署人") or ((by[1] or by[2]) if by else None),
        link=next(iter([*titles, *links]), None),
    )


def _first(named: dict[str, str], *keys: str) -> str | None:
    return next((value[:200] for key in keys if (value := named.get(key))), None)


def _service(head: str) -> str | None:
    """The name beside the verb; None where what stands there is no name."""
    plain = bare(head)
    for form in _SERVICE:
        match = form.search(plain)
        name = match[1].strip(".-/") if match else ""
        if name and name.casefold() not in _NO_SERVICE and not _VERSION.fullmatch(name) and not _CHANGE.fullmatch(name):
            return name
    return None
