"""A value worked out at its first use. Python 3.11's `cached_property` takes a lock for that, at the gate's scale a tenth
of a check; 3.12's does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):
    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work = work
        self._name = work.__name__

    def __get__(self, owner: Any, _: type | None = None) -> T:
        value = owner.__dict__[self._name] = self._work(owner)
        return value
