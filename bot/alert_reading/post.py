"""A Slack message event, flattened once: every sender's reader sees the same parts, unescaped, whatever carried them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bot.alert_reading.blocks import BlockParts, fields_of, flatten
from bot.alert_reading.markup import Link, bare, clean, code_in, links_in, plain, unescape

MAX_CHARS = 100_000
MAX_PARTS = 100  # what Slack takes
MAX_FIELDS = 1_000
MAX_SHORT = 4_000
MAX_ITEMS = 2_000
_NOTHING = ("[no preview available]", "[no preview]")
_UNFURL = ("from_url", "original_url", "app_unfurl_url", "is_msg_unfurl", "is_app_unfurl", "is_share", "is_reply_unfurl")


@dataclass(frozen=True, slots=True)
class Field:
    """`title` and `value` plain and bare; `markup` is the value as it came."""

    title: str
    value: str
    markup: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """The message's own blocks, or one attachment with the blocks in it. Texts are plain (see markup.plain); emphasis is taken
    off titles and fields alone. `markup` is `text` as it came, to cut into alerts before its links are read."""

    kind: str
    title: str = ""
    title_link: str = ""
    pretext: str = ""
    author: str = ""
    text: str = ""
    markup: str = ""
    fallback: str = ""
    footer: str = ""
    color: str = ""
    ts: float | None = None
    fields: tuple[Field, ...] = ()
    buttons: tuple[Link, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def code(self) -> tuple[str, ...]:
        return code_in(self.text)

    def field(self, *titles: str) -> str:
        """The value under the first of these titles, compared without case or colon; empty where there is none."""
        return field_of(self.fields, titles)


@dataclass(frozen=True, slots=True)
class Post:
    """`text` is the message's own text, plain, `markup` the same as it came. `parts` hold blocks first, attachments after them;
    previews of links are left out. `update_of_ts`: set for an edit, a deletion, or a reply in a thread."""

    text: str
    markup: str
    parts: tuple[Part, ...]
    links: tuple[Link, ...]
    username: str
    bot_id: str
    app_id: str
    user: str
    subtype: str
    ts: str
    thread_ts: str
    parent_user: str
    is_edit: bool
    has_files: bool
    by_person: bool
    update_of_ts: str | None
    metadata_type: str

    @property
    def is_reply(self) -> bool:
        return bool(self.thread_ts) and self.thread_ts != self.ts

    def said_by(self, *names: str) -> bool:
        """Whether the sender's name holds one of these, compared without case, space and punctuation."""
        own = squeezed(self.username)
        return any(name in own for name in names)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Of all its parts."""
        return tuple(field for part in self.parts for field in part.fields)

    def field(self, *titles: str) -> str:
        return next((value for part in self.parts if (value := part.field(*titles))), "")

    def titles(self) -> Iterator[str]:
        """What may be a heading, in order: of each part, then the text's first line, pretexts', then fallbacks."""
        yield from (part.title for part in self.parts if part.title)
        yield from self.text.splitlines()[:1]
        yield from (line for part in self.parts for line in part.pretext.splitlines()[:1])
        yield from (part.fallback for part in self.parts if part.fallback)

    def whole(self) -> str:
        """All that the post says, one piece a line, none twice. A fallback counts where a part says nothing else."""
        return "\n".join(dict.fromkeys(piece for piece in _pieces(self) if piece))


def read_post(event: Mapping[str, Any]) -> Post:
    """Any mapping: what is missing or of another type is empty. An edit is read as the message that it made."""
    inner = event.get("message")
    is_edit = event.get("subtype") == "message_changed" and isinstance(inner, Mapping)
    return read_message(inner, is_edit=True) if is_edit and isinstance(inner, Mapping) else read_message(event)


def read_message(message: Mapping[str, Any], *, is_edit: bool = False) -> Post:
    taken = _Taken()
    markup = taken.text(message.get("text"))
    own = [attachment for attachment in _mappings(message.get("attachments")) if not _is_unfurl(attachment)]
    parts = tuple(_parts(message, own, taken))
    ts, thread_ts = _id(message.get("ts")), _id(message.get("thread_ts"))
    return Post(
        text=plain(markup).strip(),
        markup=markup,
        parts=parts,
        links=links_in(markup),
        username=_username(message),
        bot_id=_id(message.get("bot_id")),
        app_id=_id(message.get("app_id")),
        user=_id(message.get("user")),
        subtype=_id(message.get("subtype")),
        ts=ts,
        thread_ts=thread_ts,
        parent_user=_id(message.get("parent_user_id")),
        is_edit=is_edit,
        has_files=bool(message.get("files")),
        by_person=_by_person(message, bool(own)),
        update_of_ts=(ts or None) if is_edit else (thread_ts if thread_ts and thread_ts != ts else None),
        metadata_type=_id(_mapping(message.get("metadata")).get("event_type")),
    )


@lru_cache(256)
def squeezed(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def field_of(fields: tuple[Field, ...], titles: tuple[str, ...]) -> str:
    wanted = [title.casefold() for title in titles]
    found = {field.title.casefold().rstrip(" :："): field.value for field in reversed(fields)}
    return next((found[title] for title in wanted if found.get(title)), "")


# ---------------------------------------------------------------- parts


class _Taken:
    """Texts as strings, no more than MAX_CHARS of one post, and no more than MAX_FIELDS fields."""

    def __init__(self) -> None:
        self.left = MAX_CHARS
        self.fields_left = MAX_FIELDS

    def text(self, value: object) -> str:
        text = clean(_str(value)[: self.left])
        self.left -= len(text)
        return text

    def short(self, value: object) -> str:
        """Of a title, a field, a footer: MAX_SHORT at most."""
        text = clean(_str(value)[: min(self.left, MAX_SHORT)])
        self.left -= len(text)
        return text

    def fields(self, value: object) -> list[tuple[str, str]]:
        found = _mappings(value[: self.fields_left] if isinstance(value, list) else [])
        self.fields_left -= len(found)
        return [(self.short(field.get("title")), self.short(field.get("value"))) for field in found]


def _parts(message: Mapping[str, Any], attachments: list[Mapping[str, Any]], taken: _Taken) -> Iterator[Part]:
    blocks = flatten(message.get("blocks"), taken.text)
    if blocks.said:
        yield _part("blocks", {}, blocks, taken)
    for attachment in attachments[:MAX_PARTS]:
        if taken.left > 0:
            yield _part("attachment", attachment, flatten(attachment.get("blocks"), taken.text), taken)


def _part(kind: str, source: Mapping[str, Any], blocks: BlockParts, taken: _Taken) -> Part:
    # What is short and says most comes first: a text may use up all that is left.
    title, pretext_markup = taken.short(source.get("title")), taken.short(source.get("pretext"))
    own_fields = taken.fields(source.get("fields"))
    text = taken.text(source.get("text"))
    headers = blocks.headers if title else []
    markup = "\n".join(piece for piece in (text, *headers, *blocks.lines) if piece)
    pairs = [*own_fields, *fields_of(blocks)]
    title_markup = title or "".join(blocks.headers)
    fallback = plain(taken.text(source.get("fallback")))
    return Part(
        kind=kind,
        title=bare(plain(title_markup)),
        title_link=unescape(clean(_str(source.get("title_link"))[:4000])),
        pretext=plain(pretext_markup),
        author=plain(taken.short(source.get("author_name"))),
        text=plain(markup).strip(),
        markup=markup,
        fallback="" if fallback.strip() in _NOTHING else fallback.strip(),
        footer=plain(taken.short(source.get("footer"))),
        color=_str(source.get("color"))[:20].lstrip("#").casefold(),
        ts=_number(source.get("ts")),
        fields=tuple(Field(bare(plain(title)).rstrip(" :："), bare(plain(value)), value) for title, value in pairs),
        buttons=(*_buttons(source, taken), *(Link(bare(label), unescape(clean(url))) for label, url in blocks.buttons)),
        links=tuple(link for piece in (title_markup, pretext_markup, markup, *(v for _, v in pairs)) for link in links_in(piece)),
    )  # fmt: skip


def _buttons(source: Mapping[str, Any], taken: _Taken) -> Iterator[Link]:
    for action in _mappings(source.get("actions"))[:50]:
        if url := clean(_str(action.get("url"))[:4000]):
            yield Link(bare(plain(taken.text(action.get("text")))), unescape(url))


def _pieces(post: Post) -> Iterator[str]:
    yield post.text
    for part in post.parts:
        said = [part.pretext, part.author, part.title, part.text]
        said += [f"{field.title}: {field.value}" if field.title else field.value for field in part.fields]
        yield from said if any(said) else [part.fallback]


# ---------------------------------------------------------------- who


def _username(message: Mapping[str, Any]) -> str:
    profile = _mapping(message.get("bot_profile"))
    return clean(_str(message.get("username")) or _str(profile.get("name")))[:200]


def _by_person(message: Mapping[str, Any], has_attachments: bool) -> bool:
    """People's posts carry no bot's marks; what they share are previews."""
    machine = message.get("bot_id") or message.get("app_id") or message.get("bot_profile")
    if machine or message.get("subtype") == "bot_message":
        return False
    return bool(message.get("client_msg_id")) or (bool(message.get("user")) and not has_attachments)


def _is_unfurl(attachment: Mapping[str, Any]) -> bool:
    return any(attachment.get(name) for name in _UNFURL)


def _str(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _id(value: object) -> str:
    """A time stamp or an id: short, and fit for a database."""
    return clean(_str(value)[:200])


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) or (isinstance(value, str) and len(value) < 30) else None
    except (ValueError, OverflowError):
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [part for part in value[:MAX_ITEMS] if isinstance(part, Mapping)] if isinstance(value, list | tuple) else []
