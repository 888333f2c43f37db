"""AWS Chatbot (Amazon Q Developer): `CloudWatch Alarm | name | region | Account: 123` over the state and its reason."""

from __future__ import annotations

import re

from agents.contracts import AlertStatus
from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.cloudwatch import REGION, STATES, latest_point, reason_in, state_in
from bot.alert_reading.markup import bare
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.times import read_time
from bot.alert_reading.words import status_of_colour, status_of_emoji

_TITLE = re.compile(r"CloudWatch Alarm\s*[|:]\s*([^|\n]{1,300})((?:\|[^|\n]{1,120}){0,6})")
_ACCOUNT = re.compile(r"Account(?:\s*ID)?:?\s*\**`?(\d{12})")
_STATES = ("State", "New State", "Current State", "Alarm State", "State change", "Status")


def _claims(post: Post) -> bool:
    return post.said_by("awschatbot", "amazonq") or any(_TITLE.search(title) for title in post.titles())


def _read(post: Post) -> Reading | None:
    whole = post.whole()
    match = _TITLE.search(whole)
    name = bare(match[1]) if match else post.field("Alarm Name", "Alarm")
    status = _status(post, whole)
    if not name or status is None:
        return None
    rest = match[2] if match else whole
    reason = post.field("State change reason", "Reason", "State reason", "Alarm reason") or reason_in(whole)
    at = read_time(post.field("Time", "Timestamp", "State change time", "Last updated"))
    region, account = REGION.search(rest), _ACCOUNT.search(whole)
    alert = make_alert(
        SENDER.name,
        name,
        status,
        severity=post.field("Severity", "Priority"),
        labels={
            "AlarmName": name,
            "region": post.field("Region") or (region[0] if region else ""),
            "account": account[1] if account else post.field("Account"),
        },
        annotations={"description": post.field("Alarm description", "Description"), "reason": reason},
        value=latest_point(reason),
        at=at,
        links=_links(post).by_kind(),
        raw=whole,
    )
    return Reading((alert,))


def _status(post: Post, whole: str) -> AlertStatus | None:
    """The title's "CloudWatch Alarm" is no state; the colour is what it sets where no word says one."""
    stated = post.field(*_STATES).upper()
    words = _TITLE.sub("", whole)
    colour = next((found for part in post.parts if (found := status_of_colour(part.color))), None)
    return STATES.get(stated) or state_in(stated) or state_in(words) or status_of_emoji(whole) or colour


def _links(post: Post) -> Links:
    links = Links()
    for part in post.parts:
        links.add("source", part.title_link)
        links.add_all(("source" if "CloudWatch Alarm" in link.label else link.label, link.url) for link in part.links)
        links.add_links(part.buttons)
    return links.add_all(("source" if "CloudWatch Alarm" in link.label else link.label, link.url) for link in post.links)


SENDER = Sender(name="aws-chatbot", claims=_claims, read=_read)
