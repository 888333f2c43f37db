"""AWS CloudWatch alarms that a Lambda function or SNS forwards. Their fallback says "triggered" whatever the state is."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.cloudwatch import STATES, latest_point, reason_in, state_in
from bot.alert_reading.markup import code_in
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Field, Part, Post
from bot.alert_reading.structured import json_rows
from bot.alert_reading.times import read_time

_NAMES = ("Alarm Name", "AlarmName", "Alarm")
_STATES = ("Current State", "New State", "NewStateValue", "New State Value", "State", "Alarm State", "Status")
_REASONS = ("Alarm reason", "Reason", "State Reason", "NewStateReason", "New State Reason")
_TIMES = ("Time", "Timestamp", "State Change Time", "StateChangeTime", "State changed at")
_SUBJECT = re.compile(r'\A(ALARM|OK|INSUFFICIENT_DATA): "(.{1,300})" in ([^\n]{2,60})')


def _claims(post: Post) -> bool:
    if post.said_by("awschatbot", "amazonq"):
        return False
    if '"AlarmName"' in post.text and '"NewStateValue"' in post.text:
        return True
    has_state = post.field(*_STATES).upper() in STATES
    return (bool(post.field(*_NAMES)) and has_state) or bool(_SUBJECT.match(post.text)) or (post.said_by("cloudwatch") and has_state)


def _read(post: Post) -> Reading | None:
    post = _with_message(post)
    subject = _SUBJECT.match(post.text)
    status = STATES.get(post.field(*_STATES).upper()) or (STATES.get(subject[1]) if subject else None) or state_in(post.whole())
    name = post.field(*_NAMES) or (subject[2] if subject else "") or next((part.title for part in post.parts if part.title), "")
    if status is None or not name:
        return None
    reason = post.field(*_REASONS) or reason_in(post.whole())
    at = read_time(post.field(*_TIMES))
    alert = make_alert(
        SENDER.name,
        name,
        status,
        severity=post.field("Severity", "Priority"),
        labels={
            "AlarmName": name,
            "region": post.field("Region") or (subject[3].strip(" .") if subject and not post.parts else ""),
            "account": post.field("Account", "Account ID", "AWS Account", "AWSAccountId"),
            "namespace": post.field("Namespace"),
            "metric": post.field("Metric", "Metric Name", "MetricName"),
        },
        annotations={
            "description": post.field("Alarm Description", "AlarmDescription", "Description"),
            "reason": reason,
            "old_state": post.field("Old State", "OldStateValue", "Previous State"),
        },
        value=latest_point(reason),
        at=at,
        links=_links(post).by_kind(),
        raw=post.whole(),
    )
    return Reading((alert,))


def _with_message(post: Post) -> Post:
    """With the fields of the SNS message that it quotes as JSON."""
    rows = json_rows(next(iter(code_in(post.text)), post.text)) if "{" in post.text[:200] else []
    fields = tuple(Field(key, value) for row in rows[:1] for key, value in row)
    return replace(post, text="", parts=(Part(kind="text", text=post.text, fields=fields), *post.parts)) if fields else post


def _links(post: Post) -> Links:
    links = Links()
    for part in post.parts:
        links.add("source", part.title_link).add("source", part.field("Link to Alarm", "Alarm link", "Link"))
        links.add_links((*part.links, *part.buttons))
    return links.add_links(post.links)


SENDER = Sender(name="aws-cloudwatch", claims=_claims, read=_read)
