"""Where the program's own log goes: a file in the data folder, opened at the first record. Stderr is for people."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler

from bot.errors import ConfigError

LOG_FILE = "proofthread.log"
MAX_BYTES = 2_000_000
STDERR = "proofthread-stderr"
OURS = ("bot", "agents", "tools", "storage")


class DataFolderLog(logging.Handler):
    """Warnings and worse. Most commands write none, so that nothing is opened for them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._file is None:
            self._file = _opened()
        self._file.emit(record)


def log_to_data_folder() -> None:
    """The process has one root logger; a second call changes nothing."""
    root = logging.getLogger()
    if not any(isinstance(handler, DataFolderLog) for handler in root.handlers):
        root.addHandler(DataFolderLog())


class WithoutTraceback(logging.Filter):
    """Slack's library logs every failed try to reconnect with its traceback; the message says as much."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], OSError):
            record.exc_info = None
        return True


def log_to_stderr() -> None:
    """For a program that runs on: what it does, and what others' libraries warn of. A second call changes nothing."""
    root = logging.getLogger()
    if any(getattr(handler, "name", None) == STDERR for handler in root.handlers):
        return
    handler = logging.StreamHandler()
    handler.name = STDERR
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(WithoutTraceback())
    root.addHandler(handler)
    for package in OURS:
        logging.getLogger(package).setLevel(logging.INFO)


def _opened() -> logging.Handler:
    from bot.settings import load_settings

    try:
        folder = load_settings().settings.data_dir
        folder.mkdir(parents=True, exist_ok=True)
        file = RotatingFileHandler(folder / LOG_FILE, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8")
    except (ConfigError, OSError):
        return logging.NullHandler()  # no place to write to: the command itself says why
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return file
