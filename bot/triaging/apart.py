"""One of many pieces of work, kept from the others: a fault of ours in it ends neither them nor the program."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from storage.errors import StorageError

T = TypeVar("T")

log = logging.getLogger(__name__)


async def apart(work: Coroutine[Any, Any, T], what: str, otherwise: T) -> T:
    """What `work` gives; `otherwise` where a fault of ours ended it, which is logged with `what`. Raises StorageError: that
    concerns all of them."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task})
    finally:
        task.cancel()
    error = task.exception()
    if isinstance(error, StorageError):
        raise error
    if error is None:
        return task.result()
    log.error("%s failed inside us and is tried again", what, exc_info=error)
    return otherwise
