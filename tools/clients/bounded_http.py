"""A server that is asked by GET: one HTTP client, opened at the first call, and no answer that grows without end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

MAX_BODY_BYTES = 16 * 1024 * 1024


class Slow(Exception):
    """No answer within the time."""


class Away(Exception):
    """No answer at all; the message says in a few words why."""


class TooLarge(Exception):
    """The answer is larger than the bound; the message says the bound."""


class AddressTooLong(Exception):
    """The parameters make no address that can be asked."""


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes

    def json(self) -> Any:
        """None for what is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class BoundedHttp:
    """`base_url` decides whether TLS is set up; `close` it. Each client says in its own words what went wrong."""

    def __init__(self, base_url: str, headers: Mapping[str, str] | None, timeout: float, max_body_bytes: int) -> None:
        self._is_secure = base_url.startswith("https")
        self._headers, self._timeout, self._max_body_bytes = dict(headers or {}), timeout, max_body_bytes
        self._http: httpx2.AsyncClient | None = None

    async def get(self, url: str, parameters: Mapping[str, Any] | None = None) -> Reply:
        """Raises Slow, Away, TooLarge and AddressTooLong."""
        import httpx2

        try:
            async with self._client().stream("GET", url, params=dict(parameters) if parameters else None) as response:
                return Reply(response.status_code, await self._body(response))
        except httpx2.TimeoutException as error:
            raise Slow from error
        except (httpx2.TransportError, httpx2.TooManyRedirects, httpx2.DecodingError, OSError) as error:
            raise Away(str(error).split("\n")[0][:120] or type(error).__name__) from error
        except httpx2.InvalidURL as error:
            raise AddressTooLong from error

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    def _client(self) -> httpx2.AsyncClient:
        import httpx2

        if self._http is None:
            self._http = httpx2.AsyncClient(
                headers=self._headers,
                timeout=self._timeout,
                trust_env=False,
                verify=self._is_secure,  # building a TLS context costs more than a call
            )
        return self._http

    async def _body(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._max_body_bytes:
                raise TooLarge(f"{self._max_body_bytes // 1_048_576} MiB")
        return bytes(body)
