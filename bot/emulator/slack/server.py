"""The HTTP server of the loopback Slack: Web API, sockets, uploads, files, response URLs, incoming webhooks and the page, on
one port."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from aiohttp import web

from bot.emulator.slack import webhooks
from bot.emulator.slack.interactions import respond
from bot.emulator.slack.page_api import PageApi
from bot.emulator.slack.refusals import Refused
from bot.emulator.slack.web_api import WebApi
from bot.emulator.slack.world import World

PAGE = Path(__file__).parent / "page"
LARGEST = 64 * 1024**2


class Server:
    """`start` binds a free port (or `port`) and sets world.base_url."""

    def __init__(self, world: World, page_api: PageApi, port: int = 0) -> None:
        self._world = world
        self._port = port
        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/api/{method}", WebApi(world).serve)
        app.router.add_get("/link/", world.sockets.serve)
        app.router.add_post("/upload/v1/{file}", self._upload)
        app.router.add_get("/files/{file}/{name}", self._download)
        app.router.add_post("/respond/{link}", self._respond)
        app.router.add_post("/services/{team}/{bot}/{secret}", self._webhook)
        page_api.add_routes(app)
        if PAGE.is_dir():
            app.router.add_get("/", self._index)
            app.router.add_get("/archives/{channel}", self._index)
            app.router.add_get("/archives/{channel}/{message}", self._index)
            app.router.add_static("/page/static", PAGE)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)

    async def start(self) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        port = self._runner.addresses[0][1]
        self._world.base_url = f"http://127.0.0.1:{port}"
        self._world.http.open()

    async def stop(self) -> None:
        await self._world.deliveries.close()
        await self._world.sockets.drop("abort")
        await self._world.http.close()
        await self._runner.cleanup()
        await asyncio.sleep(0)

    async def _index(self, _: web.Request) -> web.StreamResponse:
        return web.FileResponse(PAGE / "index.html")

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        """The second step of an upload: the content, raw or as a form's file."""
        stored = self._world.state.files.get(request.match_info["file"])
        if stored is None or stored.complete:
            return web.Response(status=404, text="no such upload")
        if request.content_type.startswith("multipart/"):
            parts = [part for part in (await request.post()).values() if isinstance(part, web.FileField)]
            stored.content = parts[0].file.read() if parts else b""
        else:
            stored.content = await request.read()
        return web.Response(text=f"OK - {len(stored.content)}")

    async def _download(self, request: web.Request) -> web.StreamResponse:
        stored = self._world.state.files.get(request.match_info["file"])
        allowed = request.headers.get("Authorization") == f"Bearer {self._world.bot_token}"
        if stored is None or not allowed or "files:read" not in self._world.behaviour.scopes:
            return web.Response(status=404 if stored is None else 403)
        return web.Response(body=stored.content, content_type=stored.mimetype)

    async def _webhook(self, request: web.Request) -> web.StreamResponse:
        return await webhooks.serve(self._world, request)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        try:
            answer = await request.json()
            respond(self._world, request.match_info["link"], answer)
        except json.JSONDecodeError:
            return web.json_response({"ok": False, "error": "invalid_payload"}, status=400)
        except Refused as refused:
            return web.json_response(refused.body, status=refused.status)
        return web.Response(text="ok")
