"""ElastAlert2: the rule's name, a sentence, then the fields of the first match. It never says that something has ended."""

from __future__ import annotations

from bot.alert_reading.build import Links, make_alert
from bot.alert_reading.labels import pairs_of
from bot.alert_reading.parsed import Reading, Sender
from bot.alert_reading.post import Part, Post
from bot.alert_reading.times import read_time

_LINKS = ("Discover in Kibana", "Discover in Opensearch", "Jira Ticket")
_NOTES = ("num_hits", "num_matches", "message", "@message")
_RULE_LINE = "-" * 20
MAX_LABEL = 200


def _claims(post: Post) -> bool:
    return post.said_by("elastalert") or any(part.title in _LINKS[:2] for part in post.parts)


def _read(post: Post) -> Reading | None:
    part = next((part for part in post.parts if part.title and part.title not in _LINKS), None)
    if part is None:
        return None
    body = part.text.partition(_RULE_LINE)[0]
    pairs = [*pairs_of(body), *((field.title, field.value) for field in part.fields)]
    labels = {key: value for key, value in pairs if _is_label(key, value)}
    alert = make_alert(
        SENDER.name,
        part.title.removeprefix("ElastAlert: "),
        "firing",
        severity=labels.get("severity") or labels.get("priority"),
        labels=labels,
        annotations=_notes(body, part) | {key: value for key, value in pairs if not _is_label(key, value)},
        starts_at=next((read_time(value) for key, value in pairs if key == "@timestamp"), None),
        links=_links(post, part).by_kind(),
        raw=post.whole(),
    )
    return Reading((alert,))


def _is_label(key: str, value: str) -> bool:
    return not key.startswith(("@", "_")) and key not in _NOTES and " " not in key and len(value) <= MAX_LABEL


def _notes(body: str, part: Part) -> dict[str, str]:
    """The sentences, without the name that stands above them again."""
    lines = (line.strip() for line in body.splitlines())
    said = [line for line in lines if line and line != part.title and not pairs_of(line)]
    sentence = next((line for line in body.splitlines() if " events occurred between " in line), "")
    return {"description": "\n".join(dict.fromkeys([*([sentence.strip()] if sentence else []), *said]))}


def _links(post: Post, part: Part) -> Links:
    links = Links().add("source", part.title_link)
    for other in post.parts:
        if other is not part:
            links.add("source" if other.title in _LINKS[:2] else "ticket", other.title_link)
    return links


SENDER = Sender(name="elastalert2", claims=_claims, read=_read)
