"""The composition root: settings become the parts of a running program. It wires and decides nothing."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import uuid4
from zoneinfo import ZoneInfo

from agents.errors import ModelRefused
from agents.ledger import RunLimits
from agents.llm import build_model, build_models
from agents.llm.base import ModelSettings
from agents.prompts import Prompts
from agents.replies import Replies
from bot import wiring
from bot.data import data_folder
from bot.errors import ConfigError
from bot.jobs import Workplace
from bot.settings import Loaded, Settings, variable
from storage.cases import CaseStore
from storage.engine import Database
from storage.sessions import SessionStore
from storage.trace import TraceStore
from storage.vectors import VectorStore
from tools.contracts import ToolDeps, ToolSpec
from tools.embedding import Embedder
from tools.invoke import ToolLimits
from tools.redaction import Redactor
from tools.registry import ToolRegistry
from tools.retrieval import Retriever

# Models that need no endpoint: the engine without a model, and a recorded transcript.
LOCAL_MODELS = ("offline", "scripted:")


@dataclass(frozen=True)
class App:
    """Everything a command may reach. `knowledge` is the database of the knowledge base: the trace's own unless a
    scenario brings another."""

    settings: Settings
    zone: ZoneInfo
    database: Database
    knowledge: Database
    store: TraceStore
    sessions: SessionStore
    vectors: VectorStore
    embedder: Embedder | None
    work: Workplace

    @property
    def tools(self) -> ToolDeps:
        return self.work.tools

    @property
    def registry(self) -> ToolRegistry:
        return self.work.registry


@asynccontextmanager
async def open_app(
    loaded: Loaded, *, external: Sequence[ToolSpec] = (), knowledge_url: str | None = None
) -> AsyncIterator[App]:
    """The parts, closed at the end of the block. Nothing is contacted yet. Raises ConfigError, ToolConfigError and
    BadDatabaseUrl."""
    settings = loaded.settings
    async with AsyncExitStack() as stack:
        database = wiring.open_database(settings)
        stack.callback(database.close)
        knowledge = Database(knowledge_url) if knowledge_url else database
        stack.callback(knowledge.close)
        vectors = wiring.vectors(settings)
        stack.callback(vectors.close)
        embedder = wiring.embedder(settings)
        if embedder is not None:
            stack.push_async_callback(embedder.close)
        cases = CaseStore(database)
        tools = tool_deps(settings, Retriever(knowledge, vectors=vectors, embedder=embedder, cases=cases))
        if tools.prometheus is not None:
            stack.push_async_callback(tools.prometheus.close)
        if tools.alertmanager is not None:
            stack.push_async_callback(tools.alertmanager.close)
        work = workplace(settings, database, tools, external)
        stack.push_async_callback(work.models.close)
        yield App(
            settings=settings,
            zone=loaded.zone,
            database=database,
            knowledge=knowledge,
            store=TraceStore(database),
            sessions=SessionStore(database),
            vectors=vectors,
            embedder=embedder,
            work=work,
        )


def workplace(settings: Settings, database: Database, tools: ToolDeps, external: Sequence[ToolSpec]) -> Workplace:
    models = model_settings(settings)
    try:
        built, offline = build_models(models), build_model("offline", models)
    except ModelRefused as error:
        raise ConfigError(f"The model cannot be used: {error}.") from error
    registry = ToolRegistry.builtin().with_external(external)
    return Workplace(
        db=database,
        registry=registry,
        tools=tools,
        models=built,
        offline=offline,
        prompts=Prompts.load(data_folder("prompts")),
        replies=Replies.load(data_folder("prompts") / "replies"),
        owner=process_name(),
        redactor=Redactor(settings.redaction_patterns),
        limits=run_limits(settings),
        tool_limits=ToolLimits(max_calls=settings.max_tool_calls),
        names=source_names(settings, registry),
        ignored_alerts=settings.alerts_ignore,
    )


def process_name() -> str:
    """Leases are told apart by it: two containers on one machine may have the same host name and process id."""
    return f"{socket.gethostname()[:80]}-{os.getpid()}-{uuid4().hex[:8]}"


async def prepare(app: App) -> None:
    """Raise NotUpgraded unless the tables are this version's; our own SQLite files are upgraded here."""
    own = not app.settings.database_url.get_secret_value()
    await app.database.call(wiring.upgraded, app.database, is_ours=own)
    if app.knowledge is not app.database:
        await app.knowledge.call(wiring.upgraded, app.knowledge, is_ours=True)


# ---------------------------------------------------------------- models


def model_settings(settings: Settings) -> ModelSettings:
    """Raises ConfigError where a model is named that nobody could reach."""
    remote = [name for name in (settings.model, *settings.role_models.values()) if not name.startswith(LOCAL_MODELS)]
    if remote and not settings.base_url and settings.api_key is None:
        raise ConfigError(
            f"The model {remote[0]!r} needs an endpoint: set base_url to yours, or api_key for OpenAI's, or use offline."
        )
    if settings.base_url and urlsplit(settings.base_url).scheme not in ("http", "https"):
        raise ConfigError(f"base_url {settings.base_url!r} is no address: write one like http://localhost:8000/v1.")
    return ModelSettings(
        model=settings.model,
        role_models={str(role): name for role, name in settings.role_models.items()},
        base_url=settings.base_url or None,
        api_key=settings.api_key.get_secret_value() if settings.api_key else "",
        price_in=settings.price_in,
        price_out=settings.price_out,
        price_cached=settings.price_cached,
        timeout_seconds=settings.model_timeout_seconds,
        temperature=settings.temperature,
        extra_body=settings.request_fields,
        stream=settings.stream,
    )


def run_limits(settings: Settings) -> RunLimits:
    """Raises ConfigError for a cap on money that nobody could count."""
    if settings.max_cost is not None and (settings.price_in is None or settings.price_out is None):
        raise ConfigError("max_cost needs price_in and price_out: without prices nobody knows what a run costs.")
    return RunLimits(
        steps=settings.max_steps,
        tokens=settings.max_tokens,
        cost=settings.max_cost,
        model_seconds=settings.model_timeout_seconds,
    )


# ---------------------------------------------------------------- tools


def tool_deps(settings: Settings, retriever: Retriever) -> ToolDeps:
    return ToolDeps(
        skills=wiring.load_skills(settings),
        logs=wiring.logs(settings),
        prometheus=wiring.prometheus(settings),
        alertmanager=wiring.alertmanager(settings),
        retriever=retriever,
        business=wiring.business(settings),
        changes=wiring.changes(settings),
    )


def source_names(settings: Settings, registry: ToolRegistry) -> tuple[str, ...]:
    """What an answer's gaps may name although no evidence holds it: tools, settings, hosts, folders, named queries."""
    hosts = [urlsplit(url).hostname or "" for url in (settings.prometheus_url, settings.alertmanager_url)]
    paths = [*map(str, settings.logs_roots), str(settings.changes_file or "")]
    fields = [name for field in Settings.model_fields for name in (field, variable(field))]
    return tuple(name for name in (*registry.names, *fields, *hosts, *paths, *settings.queries) if name)
