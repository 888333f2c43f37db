"""Which files are logs: the walk over the roots, inside them only, with a reason for each file left out."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from tools.logs.request import LogFile

_LOG_NAME = re.compile(
    r"(?:\.(?:log|logs|jsonl|ndjson|json|txt|out|err|trace)|(?:^|/)(?:messages|syslog|secure|kern|auth|daemon|dmesg"
    r"|stdout|stderr|catalina)[^/]*)(?:[.-][\d_T-]+)*(?:\.gz)?$|(?:\.log|_log)[.-][^/]*$|(?:^|/)[^/.]+$", re.I)
_OTHER_PACKING = {".zst": "zstd", ".bz2": "bzip2", ".xz": "xz", ".lz4": "lz4", ".zip": "zip", ".tar": "tar", ".tgz": "tar"}
_GENERIC = re.compile(
    r"(?:logs?|app|application|output|out|err|stdout|stderr|current|console|server|service|main|access|error|debug|info"
    r"|messages|default|json|catalina|\d+)$", re.I)
_STEM_TAIL = re.compile(
    r"(?:\.gz|\.log|\.logs|\.jsonl|\.ndjson|\.json|\.txt|\.out|\.err|\.trace|[.-]\d{1,3}|[._-]?\d{4}-?\d\d-?\d\d(?:[T_-]?\d\d[\d:-]*)?)$", re.I)
_KIND_TAIL = re.compile(r"[._-](?:logs?|access|error|errors|stdout|stderr|app|json|out|err)$", re.I)
_CONTAINER = re.compile(r"(?P<pod>[a-z0-9.-]+)_(?P<namespace>[a-z0-9.-]+)_(?P<container>[a-z0-9.-]+)-[0-9a-f]{64}$")
_POD_FOLDER = re.compile(r"(?P<namespace>[a-z0-9.-]+)_(?P<pod>[a-z0-9.-]+)_[0-9a-f-]{32,36}$")
_DAY = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)(?!\d)")


@dataclass
class Found:
    files: list[LogFile] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def find_logs(roots: Sequence[Path], glob: str | None, max_files: int, usual: Sequence[str] = ()) -> Found:
    """The log files under the roots (folders, files, or patterns with `*`), each once, in the order of their names.

    `glob` is what a caller asks for; without one, files are taken that fit `usual`, or are named as logs usually are.
    """
    found = Found()
    seen: set[tuple[int, int]] = set()
    folders = [folder for root in roots for folder in _expanded(root, found)]
    for folder in folders:
        prefix = f"{folder.name}/" if len(folders) > 1 else ""
        for path in _walk(folder, found):
            if len(found.files) >= max_files:
                found.skipped.append((prefix or folder.name, f"more than {max_files} files: the rest was not looked at"))
                return found
            name = prefix + _relative(path, folder)
            wanted = (glob,) if glob is not None else tuple(usual)
            if not wanted or any(_fits(one, form) for one in (name, _relative(path, folder)) for form in wanted):
                _add(path, name, folder, folders, bool(wanted), seen, found)
    return found


def day_in(name: str) -> date | None:
    """The date in a file's name: app-2026-11-30.log, app.20261130.log."""
    match = _DAY.search(name)
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def _expanded(root: Path, found: Found) -> list[Path]:
    text = str(root.expanduser())
    if not any(mark in text for mark in "*?["):
        if not os.path.lexists(text):
            found.skipped.append((text, "does not exist"))
            return []
        return [Path(text).resolve()]
    parts = Path(text).parts
    fixed = next(at for at, part in enumerate(parts) if any(mark in part for mark in "*?["))
    matches = sorted(Path(*parts[:fixed]).glob(str(Path(*parts[fixed:]))))
    if not matches:
        found.skipped.append((text, "matches nothing"))
    return [match.resolve() for match in matches]


def _walk(folder: Path, found: Found) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return

    def unreadable(error: OSError) -> None:
        found.skipped.append((str(error.filename), error.strerror or "cannot be opened"))

    for place, names, files in os.walk(folder, onerror=unreadable):
        names.sort()
        for name in [name for name in names if name.startswith(".")]:
            names.remove(name)
        for name in names:
            if (Path(place) / name).is_symlink():
                found.skipped.append((name, "a link to a folder, not followed: name its target as a log folder"))
        yield from (Path(place) / name for name in sorted(files) if not name.startswith("."))


def _relative(path: Path, folder: Path) -> str:
    return path.name if path == folder else path.relative_to(folder).as_posix()


def _fits(name: str, glob: str) -> bool:
    """Shell patterns; one without a slash is matched with the file's own name, `**/` also with no folder at all."""
    target = name if "/" in glob else name.rsplit("/", 1)[-1]
    return fnmatch.fnmatchcase(target, glob) or fnmatch.fnmatchcase(target, glob.replace("**/", ""))


def _add(path: Path, name: str, folder: Path, folders: Sequence[Path], asked: bool,
         seen: set[tuple[int, int]], found: Found) -> None:
    packing = _OTHER_PACKING.get(path.suffix)
    if packing:
        found.skipped.append((name, f"packed with {packing}: only plain and gzip files are read"))
        return
    if not asked and not _LOG_NAME.search(name) and path != folder:
        found.skipped.append((name, "not named like a log; name it in glob to read it"))
        return
    real = path.resolve()
    if not any(real.is_relative_to(one) for one in folders):
        found.skipped.append((name, "a link that leads outside the log folders"))
        return
    try:
        status = real.stat()
    except OSError as error:
        found.skipped.append((name, error.strerror or "cannot be opened"))
        return
    if not real.is_file():
        found.skipped.append((name, "not a regular file"))
    elif (status.st_dev, status.st_ino) not in seen:
        seen.add((status.st_dev, status.st_ino))
        service, labels = _service_of(path, folder)
        found.files.append(LogFile(str(real), name, service, status.st_size, status.st_mtime, name.endswith(".gz"), labels))


def _service_of(path: Path, folder: Path) -> tuple[str, dict[str, str]]:
    """The service by the file's name, else by its folder; Kubernetes file names also give pod and namespace."""
    container = _CONTAINER.match(path.name.split(".log")[0])
    if container:
        return container["container"], {"pod": container["pod"], "namespace": container["namespace"]}
    labels: dict[str, str] = {}
    for part in path.relative_to(folder).parts[:-1] if path != folder else ():
        pod = _POD_FOLDER.match(part)
        labels |= {"pod": pod["pod"], "namespace": pod["namespace"]} if pod else {}
    stem = _stem(path.name)
    places = [stem] if path == folder else [stem, *reversed(path.relative_to(folder).parts[:-1])]
    return next((place for place in places if not _GENERIC.match(place)), stem), labels


def _stem(name: str) -> str:
    while (shorter := _STEM_TAIL.sub("", name)) != name and shorter:
        name = shorter
    return _KIND_TAIL.sub("", name) or name
