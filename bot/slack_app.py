"""The Bolt app: listeners run before Slack is answered, so that a request that was not stored comes again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.desk import Desk
from bot.listeners import register_listeners
from bot.settings import without_slack_variables
from bot.slack.people import LookupFailed
from storage.errors import StorageError

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.response import BoltResponse

WARM_UP = "proofthread_warm_up"
# Slack holds events back: more than 30,000 came within an hour.
RATE_LIMITED = "app_rate_limited"

log = logging.getLogger(__name__)


def build_app(desk: Desk) -> AsyncApp:
    """With every listener registered. Whatever Slack's library would read from the environment is given or hidden."""
    from slack_bolt.app.async_app import AsyncApp

    secret = desk.settings.slack_signing_secret
    with without_slack_variables():
        app = AsyncApp(
            name="proofthread",
            logger=logging.getLogger("slack_bolt"),
            client=desk.slack.client,
            signing_secret=secret.get_secret_value().strip() if secret else "",
            process_before_response=True,
            raise_error_for_unhandled_request=True,
        )
    register_listeners(app, desk)
    _register_errors(app, desk)
    return app


async def warm_up(app: AsyncApp) -> None:
    """Bolt asks auth.test at its first event, once for each that comes at the same time: ask now, with one of ours."""
    from slack_bolt.request.async_request import AsyncBoltRequest

    body: dict[str, Any] = {"type": "event_callback", "event": {"type": WARM_UP}}
    await app.async_dispatch(AsyncBoltRequest(body=body, mode="socket_mode"))


def _register_errors(app: AsyncApp, desk: Desk) -> None:
    from slack_bolt.error import BoltUnhandledRequestError
    from slack_bolt.response import BoltResponse

    async def failed(error: Exception, body: Mapping[str, Any]) -> BoltResponse | None:
        """Unhandled types are taken and counted: refused ones would come three times more. Everything else stays
        unacknowledged."""
        if isinstance(error, BoltUnhandledRequestError):
            kind = _kind(body)
            if kind != WARM_UP:
                desk.unhandled[kind] += 1
                level = logging.WARNING if kind == RATE_LIMITED else logging.INFO
                log.log(level, "nothing listens to %s (%d so far)", kind, desk.unhandled[kind])
            return BoltResponse(status=200, body="")
        if isinstance(error, StorageError | LookupFailed):
            log.error("%s was not taken and will come again: %s", _kind(body), error)
        else:
            log.error("%s failed", _kind(body), exc_info=error)
        return None

    app.error(failed)


def _kind(body: Mapping[str, Any]) -> str:
    event = body.get("event")
    named = event.get("type") if isinstance(event, Mapping) else None
    return str(named or body.get("type") or body.get("command") or "unknown")
