"""POST and GET /api/METHOD: who calls, may they, is the payload valid, then the method; every call is kept."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from bot.emulator.slack.arguments import Arguments, arguments_of
from bot.emulator.slack.checks import refuse_invalid
from bot.emulator.slack.faults import Fault
from bot.emulator.slack.methods import METHODS
from bot.emulator.slack.methods.base import Method
from bot.emulator.slack.refusals import Refused, rate_limited
from bot.emulator.slack.world import Call, World


class WebApi:
    def __init__(self, world: World) -> None:
        self._world = world

    async def serve(self, request: web.Request) -> web.StreamResponse:
        world, method = self._world, request.match_info["method"]
        if world.state.clock() < world.away_until:
            return _cut(request)
        fault = world.faults.hit(method)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        arguments: Arguments = {}
        injected = fault is not None and _answers(fault)
        try:
            arguments = await arguments_of(request)
            token = _token(request, arguments)
            if fault is not None:
                _raise(fault)
            body, status, headers = self._run(method, arguments, token), 200, self._scopes(method)
        except Refused as refused:
            body, status, headers = refused.body, refused.status, refused.headers | self._scopes(method)
            if refused.error == "missing_scope":
                injected = False
        world.calls.append(Call(method, arguments, world.state.clock(), status, body, injected))
        if fault is not None and fault.drop_reply:
            return _cut(request)
        return web.json_response(body, status=status, headers=headers)

    def _run(self, name: str, arguments: Arguments, token: str | None) -> dict[str, Any]:
        world = self._world
        method = METHODS.get(name)
        if method is None:
            raise Refused("unknown_method", {"req_method": name})
        self._refuse_caller(method, token)
        if world.behaviour.rate_limits:
            world.limits.admit(name, arguments, world.state.clock())
        refuse_invalid(world, name, arguments)
        return {"ok": True, **method.run(world, arguments)}

    def _refuse_caller(self, method: Method, token: str | None) -> None:
        world = self._world
        if not token:
            raise Refused("not_authed")
        if token in world.revoked:
            raise Refused("token_revoked")
        if token not in (world.bot_token, world.app_token):
            raise Refused("invalid_auth")
        if method.app_level != (token == world.app_token):
            raise Refused("not_allowed_token_type")
        scopes = world.behaviour.scopes
        if method.scopes and not scopes.intersection(method.scopes):
            raise Refused("missing_scope", {"needed": ",".join(method.scopes), "provided": ",".join(sorted(scopes))})

    def _scopes(self, name: str) -> dict[str, str]:
        method = METHODS.get(name)
        return {
            "X-OAuth-Scopes": ",".join(sorted(self._world.behaviour.scopes)),
            "X-Accepted-OAuth-Scopes": ",".join(method.scopes) if method else "",
        }


def _token(request: web.Request, arguments: Arguments) -> str | None:
    given = arguments.pop("token", None)
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind == "Bearer" else given


def _answers(fault: Fault) -> bool:
    return fault.error is not None or fault.status is not None or fault.retry_after is not None


def _raise(fault: Fault) -> None:
    if fault.retry_after is not None:
        raise rate_limited(fault.retry_after)
    if fault.status is not None:
        raise Refused(fault.error or "service_unavailable", status=fault.status)
    if fault.error is not None:
        raise Refused(fault.error)


def _cut(request: web.Request) -> web.StreamResponse:
    """The connection dies: the client never reads an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)
