"""How the loopback Slack says no: to the app in Slack's error form, to a person as an exception."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Problem(Protocol):
    """What a check found: a JSON pointer into the arguments, what is wrong there, Slack's error code ("": by pointer)."""

    @property
    def pointer(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def code(self) -> str: ...


@dataclass(frozen=True)
class Finding:
    """The emulator's own `Problem`."""

    pointer: str
    message: str
    code: str = ""


class Refused(Exception):
    """A Web API call is refused: `error` is Slack's code, `fields` are further keys of the answer."""

    def __init__(
        self,
        error: str,
        fields: Mapping[str, Any] | None = None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.headers = dict(headers or {})
        self.body: dict[str, Any] = {"ok": False, "error": error, **(fields or {})}


class ActRefused(Exception):
    """A person tried what Slack's own client would not let them do (no such button, an empty required field)."""


def refused_for(error: str, problems: Iterable[Problem]) -> Refused:
    """Slack's form of a payload that does not validate: `errors` and `response_metadata.messages` with JSON pointers."""
    errors = [f"{problem.message} [json-pointer:{problem.pointer}]" for problem in problems]
    return Refused(error, {"errors": errors, "response_metadata": {"messages": [f"[ERROR] {each}" for each in errors]}})


def rate_limited(retry_after: float) -> Refused:
    """HTTP 429 with the seconds to wait, rounded up as Slack does."""
    seconds = max(1, -int(-retry_after // 1))
    return Refused("ratelimited", status=429, headers={"Retry-After": str(seconds)})
