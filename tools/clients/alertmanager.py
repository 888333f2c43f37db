"""The Alertmanager HTTP API: which alerts are active, and which of them somebody has silenced. One call, bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tools.clients.bounded_http import MAX_BODY_BYTES, Away, BoundedHttp, Slow, TooLarge
from tools.errors import ToolConfigError, ToolFailed


class AlertmanagerClient:
    """`base_url` is the address before `/api/v2`. One HTTP client, opened at the first call; `close` it.

    Raises ToolConfigError on an address that is none, ToolFailed on everything that goes wrong later.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ToolConfigError("alertmanager_url is no address of an Alertmanager: write http://alertmanager:9093")
        self._base = base_url.rstrip("/").removesuffix("/api/v2")
        self._timeout = timeout
        self._http = BoundedHttp(base_url, headers, timeout, max_body_bytes)

    @property
    def shown_url(self) -> str:
        """The address without credentials."""
        parts = urlsplit(self._base)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    async def alerts(self) -> list[dict[str, Any]]:
        """Those that have not ended, silenced and inhibited ones too, as the API gives them."""
        found = await self._get("alerts")
        if not isinstance(found, list):
            raise ToolFailed(f"{self.shown_url} answers in a form that is not Alertmanager's: check alertmanager_url")
        return [alert for alert in found if isinstance(alert, dict)]

    async def check(self) -> None:
        """Raises ToolFailed unless the server answers."""
        if not isinstance(await self._get("status"), dict):
            raise ToolFailed(f"{self.shown_url} answers in a form that is not Alertmanager's: check alertmanager_url")

    async def close(self) -> None:
        await self._http.close()

    async def _get(self, path: str) -> Any:
        """The answer's JSON; None for what is none."""
        try:
            reply = await self._http.get(f"{self._base}/api/v2/{path}")
        except Slow as error:
            raise ToolFailed(f"Alertmanager at {self.shown_url} did not answer within {self._timeout:g} s") from error
        except Away as error:
            raise ToolFailed(f"Alertmanager at {self.shown_url} is away ({error})") from error
        except TooLarge as error:
            raise ToolFailed(f"the answer of Alertmanager is larger than {error}") from error
        if reply.status in (401, 403):
            raise ToolFailed(
                f"Alertmanager at {self.shown_url} refuses us (HTTP {reply.status}): the operator must set alertmanager_token"
            )
        if reply.status != 200:
            raise ToolFailed(f"{self.shown_url} answers HTTP {reply.status}: check alertmanager_url")
        return reply.json()
