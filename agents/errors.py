"""Errors of agents, typed by who must act."""

from __future__ import annotations

from typing import Literal


class ModelUnavailable(Exception):
    """Time-out, 5xx, 429, a cut stream: the same node may try again, then another backend takes it.

    `retry_after_seconds` is what the server asked for, where it did.
    """

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ModelTimedOut(ModelUnavailable):
    """It said nothing within its time, and may do so again: asking anew costs as much."""


class ContractBroken(Exception):
    """The model answered, but not in the contract's form, and one repair turn did not help.

    `status` missing: there was no object at all; malformed: there was one, but not the contract's.
    """

    def __init__(self, message: str, status: Literal["missing", "malformed"] = "malformed") -> None:
        super().__init__(message)
        self.status: Literal["missing", "malformed"] = status


class ModelRefused(Exception):
    """The endpoint will not serve this request however often it is asked: bad key, unknown model, content refused,
    prompt too long. No retry; the offline backend takes the node."""


class LimitReached(Exception):
    """A cap of the run is spent (steps, seconds, tool calls, tokens, money): end with what is proven."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class RunCancelled(Exception):
    """Somebody pressed Stop."""
