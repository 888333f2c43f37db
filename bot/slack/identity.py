"""Who the bot is in Slack, what it may do there, and what it must do without."""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from bot.errors import ConfigError
from bot.settings import Settings, variable
from bot.slack.client import SlackAccess, SlackCalls

BAD_TOKEN = ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "org_login_required")
TRIES = 5
_SCOPES = Path(__file__).with_name("scopes.toml")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scope:
    """`without` says what does not work where the scope is missing; `required`: nothing works."""

    name: str
    without: str
    without_zh: str
    required: bool = False

    def lost(self, language: str) -> str:
        return self.without_zh if language == "zh" else self.without


@dataclass(frozen=True)
class Identity:
    """What auth.test says. `scopes` is empty where Slack does not tell."""

    team: str
    team_name: str
    user_id: str
    bot_id: str
    name: str
    enterprise: str = ""
    scopes: frozenset[str] = frozenset()

    @property
    def missing(self) -> tuple[Scope, ...]:
        return tuple(scope for scope in scopes() if scope.name not in self.scopes) if self.scopes else ()

    def may(self, scope: str) -> bool:
        return not self.scopes or scope in self.scopes


def scopes() -> tuple[Scope, ...]:
    """The bot token's scopes, as the manifest asks for them."""
    listed = tomllib.loads(_SCOPES.read_text(encoding="utf-8"))["scope"]
    return tuple(Scope(**each) for each in listed)


def access(settings: Settings) -> SlackAccess:
    """Raises ConfigError for an address that is none."""
    if urlsplit(settings.slack_api_url).scheme not in ("http", "https"):
        raise ConfigError(f"slack_api_url {settings.slack_api_url!r} is no address: leave it out for Slack's own.")
    token = settings.slack_bot_token
    return SlackAccess(token.get_secret_value().strip() if token else "", settings.slack_api_url.rstrip("/") + "/")


def check_tokens(settings: Settings, mode: Literal["socket", "http"]) -> None:
    """Raises ConfigError that names the token, before anything is sent."""
    _check_token(settings, "slack_bot_token", ("xoxb-", "xoxe.xoxb-"), "OAuth & Permissions of your app")
    if mode == "socket":
        _check_token(settings, "slack_app_token", ("xapp-",), "Basic Information, App-Level Tokens, scope connections:write")
    elif settings.slack_signing_secret is None:
        raise ConfigError(
            f"serve --http needs slack_signing_secret ({variable('slack_signing_secret')}): take it from Basic Information of your app."
        )


async def identify(slack: SlackCalls, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> Identity:
    """auth.test. Raises ConfigError for a bad token, a missing scope that nothing works without, and a Slack that
    cannot be reached."""
    answer, headers = await _asked(slack.client.auth_test, "slack_bot_token", sleep)
    identity = Identity(
        team=str(answer.get("team_id") or ""),
        team_name=str(answer.get("team") or ""),
        user_id=str(answer.get("user_id") or ""),
        bot_id=str(answer.get("bot_id") or ""),
        name=str(answer.get("user") or "proofthread"),
        enterprise=str(answer.get("enterprise_id") or ""),
        scopes=_granted(headers),
    )
    if not identity.bot_id:
        raise ConfigError(_wrong("slack_bot_token", "it is not a bot's token; a bot token begins with xoxb-"))
    lacking = [scope.name for scope in identity.missing if scope.required]
    if lacking:
        raise ConfigError(
            f"The token of slack_bot_token lacks the scope {', '.join(lacking)}: nothing works without. Update the app from "
            "`proofthread manifest` and install it again."
        )
    return identity


async def socket_address(
    slack: SlackCalls, app_token: str, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> str:
    """The first address for Socket Mode; asking for it proves the app token. Raises ConfigError."""
    answer, _ = await _asked(
        lambda: slack.client.apps_connections_open(app_token=app_token), "slack_app_token", sleep
    )
    return str(answer.get("url") or "")


async def _asked(
    call: Callable[[], Awaitable[Any]], token: str, sleep: Callable[[float], Awaitable[None]]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    import aiohttp
    from slack_sdk.errors import SlackApiError

    for tries_left in reversed(range(TRIES)):
        try:
            answer = await call()
            return answer.data, answer.headers
        except SlackApiError as error:
            why = str(error.response.get("error") or f"HTTP {error.response.status_code}")
            if why in BAD_TOKEN or why in ("not_allowed_token_type", "missing_scope"):
                raise ConfigError(_wrong(token, f"Slack answers {why}")) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            why = str(error) or type(error).__name__
        if tries_left:
            wait = 2.0 ** (TRIES - tries_left - 1)
            log.warning("Slack cannot be reached (%s); trying again in %d s", why, wait)
            await sleep(wait)
    raise ConfigError(f"Slack cannot be reached at {variable('slack_api_url')} ({why}): check the network and slack_api_url.")


def _granted(headers: Mapping[str, Any]) -> frozenset[str]:
    given = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), "")
    return frozenset(name.strip() for name in str(given).split(",") if name.strip())


def _check_token(settings: Settings, name: str, beginnings: tuple[str, ...], where: str) -> None:
    secret = getattr(settings, name)
    value = secret.get_secret_value().strip() if secret else ""
    if not value:
        raise ConfigError(f"serve needs {name} ({variable(name)}): take it from {where}. `proofthread manifest` makes the app.")
    if not value.startswith(beginnings):
        raise ConfigError(_wrong(name, f"such a token begins with {beginnings[0]}"))


def _wrong(name: str, why: str) -> str:
    return f"The token in {name} ({variable(name)}) cannot be used: {why}. Copy it again from your app's settings."
