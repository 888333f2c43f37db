"""What the operator must put right: exit code 2, one clear message, no traceback."""

from __future__ import annotations


class ConfigError(Exception):
    """A setting, file or outside system is not as it must be. The message says what is wrong and what to do."""
