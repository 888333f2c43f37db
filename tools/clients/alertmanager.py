"""The Alertmanager HTTP API: which alerts are active, and which of them somebody has silenced. One call, bounded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tools.errors import ToolConfigError, ToolFailed

if TYPE_CHECKING:
    import httpx2

MAX_BODY_BYTES = 16 * 1024 * 1024


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
        self._headers, self._timeout, self._max_body_bytes = dict(headers or {}), timeout, max_body_bytes
        self._http: httpx2.AsyncClient | None = None

    @property
    def shown_url(self) -> str:
        """The address without credentials."""
        parts = urlsplit(self._base)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    async def alerts(self) -> list[dict[str, Any]]:
        """Those that have not ended, silenced and inhibited ones too, as the API gives them."""
        found = _json(await self._get("alerts"))
        if not isinstance(found, list):
            raise ToolFailed(f"{self.shown_url} answers in a form that is not Alertmanager's: check alertmanager_url")
        return [alert for alert in found if isinstance(alert, dict)]

    async def check(self) -> None:
        """Raises ToolFailed unless the server answers."""
        if not isinstance(_json(await self._get("status")), dict):
            raise ToolFailed(f"{self.shown_url} answers in a form that is not Alertmanager's: check alertmanager_url")

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def _get(self, path: str) -> bytes:
        import httpx2

        try:
            async with self._client().stream("GET", f"{self._base}/api/v2/{path}") as response:
                body = await self._body(response)
        except httpx2.TimeoutException as error:
            raise ToolFailed(f"Alertmanager at {self.shown_url} did not answer within {self._timeout:g} s") from error
        except (httpx2.TransportError, httpx2.TooManyRedirects, httpx2.DecodingError, OSError) as error:
            raise ToolFailed(f"Alertmanager at {self.shown_url} is away ({str(error) or type(error).__name__})") from error
        if response.status_code in (401, 403):
            raise ToolFailed(
                f"Alertmanager at {self.shown_url} refuses us (HTTP {response.status_code}): the operator must set "
                "alertmanager_token"
            )
        if response.status_code != 200:
            raise ToolFailed(f"{self.shown_url} answers HTTP {response.status_code}: check alertmanager_url")
        return body

    def _client(self) -> httpx2.AsyncClient:
        import httpx2

        if self._http is None:
            verify = self._base.startswith("https")  # building a TLS context costs more than a call
            self._http = httpx2.AsyncClient(headers=self._headers, timeout=self._timeout, trust_env=False, verify=verify)
        return self._http

    async def _body(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._max_body_bytes:
                raise ToolFailed(f"the answer of Alertmanager is larger than {self._max_body_bytes // 1_048_576} MiB")
        return bytes(body)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
