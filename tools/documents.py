"""Reads a folder of Markdown: files with their hashes, and a file's front matter and text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tools.chunking import first_heading
from tools.errors import ToolConfigError

SUFFIXES = (".md", ".markdown")
MAX_BYTES = 2_000_000
MAX_FRONT_MATTER = 16_000
_TEXT_LIMIT, _LIST_LIMIT, _CATEGORY_LIMIT = 500, 50, 64
_FRONT_MATTER = re.compile(r"---[ \t]*\n((?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)")


class BrokenDocument(Exception):
    """Why a document cannot be read. `line` counts from 1 in the file, None where no line is to blame."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class SourceFile:
    """A file found in the folder: `source` is its path inside it, `content_hash` the sha256 of its bytes."""

    path: Path
    source: str
    content_hash: str

    @property
    def doc_id(self) -> str:
        return hashlib.sha256(str(self.path).encode("utf-8", "surrogateescape")).hexdigest()[:32]


@dataclass(frozen=True)
class ReadDocument:
    """A readable document, secrets masked. `front_matter` is what JSON can hold of it."""

    title: str
    category: str
    body: str
    front_matter: dict[str, Any] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A field of the front matter as text, "" where it is absent."""
        value = self.front_matter.get(name) or ""
        return ", ".join(value) if isinstance(value, list) else str(value)


def find_files(root: Path) -> tuple[list[SourceFile], dict[str, str]]:
    """The Markdown files under `root` in order, hidden ones left out; and for those that cannot be opened: source →
    why. Raises ToolConfigError where `root` is no readable folder."""
    root = root.expanduser().resolve()
    if not root.is_dir():
        raise ToolConfigError(f"{root} is not a folder: name the folder that holds the Markdown documents.")
    found: list[SourceFile] = []
    problems: dict[str, str] = {}
    for path in _markdown(root):
        source = path.relative_to(root).as_posix().encode("utf-8", "replace").decode()
        try:
            if not path.resolve().is_relative_to(root):
                problems[source] = "it is a link that leads out of the folder: copy the document instead"
                continue
            with path.open("rb") as file:
                found.append(SourceFile(path, source, hashlib.file_digest(file, "sha256").hexdigest()))
        except OSError as error:
            problems[source] = f"it cannot be opened ({error.strerror})"
    return found, problems


def read_document(file: SourceFile, redact: Callable[[str], str]) -> ReadDocument:
    """Raises BrokenDocument."""
    text = _decoded(file.path)
    front_matter, body = _split(text)
    body = redact(body)
    if not body.strip():
        raise BrokenDocument("it holds no text: write something below its front matter, or delete it")
    plain = {str(key)[:64]: _plain(value, redact) for key, value in front_matter.items()}
    title = str(plain.get("title") or first_heading(body) or file.path.stem)
    category = _category(str(plain.get("category") or file.path.parent.name or "general"))
    return ReadDocument(title[:_TEXT_LIMIT].strip(), category, body, plain)


def _markdown(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root).parts
        if path.suffix.lower() in SUFFIXES and path.is_file() and not any(part.startswith(".") for part in inside):
            yield path


def _decoded(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise BrokenDocument(f"it has {size} bytes, more than {MAX_BYTES}: split it")
        raw = path.read_bytes()
    except OSError as error:
        raise BrokenDocument(f"it cannot be read ({error.strerror})") from error
    if b"\0" in raw:
        raise BrokenDocument("it is binary or UTF-16: save it as UTF-8 text", raw[: raw.index(b"\0")].count(b"\n") + 1)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BrokenDocument("it is not UTF-8: save it as UTF-8 text", line) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(text: str) -> tuple[dict[Any, Any], str]:
    """(front matter, body); lines of the body are not counted from the file's start."""
    if not re.match(r"---[ \t]*\n", text):
        return {}, text
    match = _FRONT_MATTER.match(text)
    if match is None:
        raise BrokenDocument("its front matter opens here and is never closed: add a line of ---", 1)
    if len(match[1]) > MAX_FRONT_MATTER:
        raise BrokenDocument(f"its front matter is longer than {MAX_FRONT_MATTER} characters", 1)
    return _mapping(match[1]), text[match.end() :]


def _mapping(source: str) -> dict[Any, Any]:
    try:
        value = yaml.safe_load(source)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 2
        raise BrokenDocument(f"its front matter is not YAML: {error.problem or error.context}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BrokenDocument(f"its front matter is not YAML: {str(error).splitlines()[0]}", 2) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BrokenDocument("its front matter must be `name: value` lines", 2)
    return value


def _plain(value: Any, redact: Callable[[str], str]) -> Any:
    """What JSON can hold, bounded: texts, numbers and flat lists; the rest as text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set):
        return [redact(str(item))[:_TEXT_LIMIT] for item in list(value)[:_LIST_LIMIT] if not _nested(item)]
    return None if _nested(value) else redact(str(value))[:_TEXT_LIMIT]


def _nested(value: Any) -> bool:
    return isinstance(value, dict | list | tuple | set)


def _category(text: str) -> str:
    return "-".join(text.casefold().split())[:_CATEGORY_LIMIT] or "general"
