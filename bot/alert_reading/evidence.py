"""Whether a post of an unknown sender is an alert: what it says must be said as monitors say it, or by one, or of a host."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.contracts import AlertStatus
from bot.alert_reading.entries import Entry
from bot.alert_reading.heading_facts import ON_HOST
from bot.alert_reading.headings import Heading
from bot.alert_reading.labels import pairs_of_line, role_of
from bot.alert_reading.post import Part, Post, squeezed
from bot.alert_reading.sentences import BUILD
from bot.alert_reading.words import status_of_colour

_MONITORS = ("monitor", "alert", "alarm", "watch", "nagios", "icinga", "sensu", "check", "uptime", "pager", "prom", "zabbix", "cacti",
             "prtg", "observ", "kube", "k8s", "healthcheck", "pingdom", "statuscake", "betterstack", "dynatrace", "appdynamics", "honeycomb", "rollbar", "bugsnag",
             "site24x7", "solarwinds", "librenms", "victoria", "robusta", "signoz", "instana", "sumologic", "coralogix", "监控", "告警", "監視", "мониторинг", "모니터", "مراقبة", "incident", "oncall", "status")  # fmt: skip
# Keys of tickets, builds and pull requests, whose states are no alert's.
_OTHERS = {"reporter", "issue type", "sprint", "epic", "pull request", "branch", "commit", "author", "assignee", "reviewer", "due date", "story points", "requester", "submitter", "ticket id"}
_THRESHOLD = re.compile(r"\bthreshold\b|阈值|阀值|閾値|порог|임계", re.IGNORECASE)
_SUPPORT = {"host", "instance", "service", "value", "started", "namespace", "cluster", "noted"}


def is_alert(entry: Entry, heading: Heading, parts: Sequence[Part], post: Post) -> bool:
    """A heading in words of alerts alone is enough. A weaker one, a level or a colour needs more beside it."""
    roles, colour = _roles(entry, parts), colour_of(parts)
    is_of_others = bool({key.casefold() for key in (*entry.labels, *entry.annotations)} & _OTHERS)
    if _by_colour(colour, post) and not is_of_others:
        return True
    if not (entry.status or entry.severity or heading.says_something or (colour and roles & _SUPPORT and entry.value)):
        return False
    if is_of_others and not (heading.strong and (heading.severity or BUILD in heading.tags)):
        return False
    if heading.status == colour == "firing":
        return True
    named = bool(roles & _SUPPORT) or _names(heading)
    stated = bool(entry.status) + bool(entry.severity)
    support = stated + named + bool(colour) + is_monitor(post.username)
    return heading.strong or support >= 2 or (heading.says_something and support >= 1 and (named or is_monitor(post.username)))


def _names(heading: Heading) -> bool:
    """A host behind a level, or a threshold."""
    name = heading.name[:1_000]
    return bool((heading.leads and heading.severity and ON_HOST.search(name)) or _THRESHOLD.search(name))


def is_monitor(name: str) -> bool:
    """By a user name, or a title such as `Acme Monitoring`, which names who speaks and not what is wrong."""
    own = squeezed(name)
    return any(word in own for word in _MONITORS)


def colour_of(parts: Sequence[Part]) -> AlertStatus | None:
    return next((status for part in parts if (status := status_of_colour(part.color))), None)


def _by_colour(colour: AlertStatus | None, post: Post) -> bool:
    """Red of a monitor; of Alertmanager, whose templates may leave out the word, green as well."""
    return (colour == "firing" and is_monitor(post.username)) or (colour is not None and post.said_by("alertmanager", "prometheus"))


def _roles(entry: Entry, parts: Sequence[Part]) -> set[str]:
    keys = [field.title for part in parts for field in part.fields]
    keys += [key for line in entry.lines for key, _ in pairs_of_line(line)]
    return {role for key in keys if (role := role_of(key))}
