"""The terminal as a user meets it: exit codes, one JSON object on stdout, messages that say what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli import run
from bot.doctor.systems import free_space
from bot.errors import ConfigError
from bot.packages import check_packages

HEALTHY_LOG = "2026-11-30T09:00:00Z INFO order-service started\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder and a data folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFTHREAD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


class Terminal:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        code = run(arguments)
        self.out, self.err = self._capsys.readouterr()
        assert "Traceback" not in self.out + self.err
        return code

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


def test_help_names_every_command(terminal: Terminal) -> None:
    assert terminal("--help") == 0
    for name in ("ask", "trace", "kb", "cite", "eval", "replay", "db", "doctor", "skills", "tools"):
        assert f" {name} " in terminal.out


def test_an_unknown_setting_ends_with_code_2_and_the_right_name(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROOFTHREAD_MODLE", "x")
    assert terminal("skills", "--json") == 2
    assert "PROOFTHREAD_MODEL" in terminal.err
    assert "PROOFTHREAD_MODEL" in terminal.json["error"]


def test_an_unknown_option_ends_with_code_2(terminal: Terminal) -> None:
    assert terminal("ask", "why?", "--modle", "x") == 2
    assert "--model" in terminal.err


@pytest.mark.parametrize("text", ["", "  "])
def test_asking_nothing_says_how_to_ask(terminal: Terminal, text: str) -> None:
    assert terminal("ask", text) == 2
    assert "proofthread ask" in terminal.err


def test_small_talk_starts_no_run(terminal: Terminal, home: Path) -> None:
    assert terminal("ask", "Hello!") == 0
    assert "Why is checkout slow" in terminal.out
    assert terminal("ask", "谢谢", "--json") == 0
    assert terminal.json == {"reply": "不客气。"}
    assert not (home / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "why?", "--now", "noon"), "2026-11-30T09:10:00Z"),
        (("ask", "why?", "--zone", "Mars"), "Europe/Berlin"),
        (("ask", "why?", "--language", "fr"), "zh"),
        (("ask", "why?", "--session", "nobody"), "nobody"),
        (("trace", "nothing"), "nothing"),
        (("replay", "nothing"), "nothing"),
        (("eval", "nowhere"), "nowhere"),
        (("cite", "check", "nowhere"), "nowhere"),
        (("kb", "sync"), "knowledge_dir"),
        (("kb", "sync", "nowhere"), "nowhere"),
    ],
)
def test_what_the_operator_must_put_right_has_code_2_and_says_so(
    terminal: Terminal, arguments: tuple[str, ...], said: str
) -> None:
    assert terminal("db", "upgrade") == 0
    assert terminal(*arguments) == 2
    assert said in terminal.err


def test_a_database_of_the_operators_own_must_be_upgraded_by_command(
    terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROOFTHREAD_DATABASE_URL", f"sqlite:///{home / 'own.db'}")
    assert terminal("ask", "why?") == 2
    assert "proofthread db upgrade" in terminal.err
    assert terminal("db", "upgrade", "--json") == 0
    assert terminal.json["upgraded"] is True
    assert terminal("trace", "--json") == 0
    assert terminal.json == {"runs": []}


def test_a_database_that_is_away_says_so(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFTHREAD_DATABASE_URL", "mysql+pymysql://u:hunter2@127.0.0.1:1/x")
    assert terminal("ask", "why?") == 2
    assert "127.0.0.1" in terminal.err
    assert "hunter2" not in terminal.err


def test_tools_say_what_they_lack(terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "app.log").write_text(HEALTHY_LOG)
    monkeypatch.setenv("PROOFTHREAD_LOGS_ROOTS", str(home / "app.log"))
    assert terminal("tools", "--json") == 0
    tools = {tool["name"]: tool for tool in terminal.json["tools"]}
    assert tools["query_logs"]["available"]
    assert not tools["query_metrics"]["available"]
    assert "prometheus_url" in tools["query_metrics"]["reason"]
    assert "Slack only" in tools["added_context"]["reason"]


def test_skills_lists_playbooks_and_broken_files(terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "mine" / "broken").mkdir(parents=True)
    (home / "mine" / "broken" / "SKILL.md").write_text("no front matter")
    monkeypatch.setenv("PROOFTHREAD_SKILLS_DIRS", str(home / "mine"))
    assert terminal("skills", "--json") == 0
    assert len(terminal.json["skills"]) >= 8
    assert len(terminal.json["problems"]) == 1


def test_doctor_is_healthy_with_nothing_configured_and_says_what_to_set(terminal: Terminal) -> None:
    assert terminal("doctor", "--json") == 0
    findings = {finding["name"]: finding for finding in terminal.json["findings"]}
    assert terminal.json["healthy"] is True
    assert findings["logs"]["state"] == "off"
    assert "logs_roots" in findings["logs"]["advice"]
    assert findings["knowledge"]["state"] == "warn"


def test_doctor_names_a_log_folder_that_holds_no_log(
    terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "bad"):
        (home / name).mkdir()
    (home / "good" / "app.log").write_text(HEALTHY_LOG)
    (home / "bad" / "core.log").write_bytes(b"\x7fELF\x00\x00\x01" * 100)
    (home / "bad" / "notes.txt").write_text("no stamp here\nnor here\n")
    monkeypatch.setenv("PROOFTHREAD_LOGS_ROOTS", f"{home / 'good'},{home / 'bad'}")
    assert terminal("doctor", "--json") == 0
    (finding,) = [one for one in terminal.json["findings"] if one["name"] == "logs"]
    assert finding["state"] == "warn"
    assert f"nothing can be read under {home / 'bad'}" in finding["detail"]


@pytest.mark.parametrize(("free", "state"), [(199_000_000, "warn"), (201_000_000, "ok")])
def test_doctor_warns_before_the_disk_is_full(free: int, state: str) -> None:
    assert free_space(Path("data"), free).state == state


def test_doctor_fails_on_what_is_configured_and_broken(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFTHREAD_PROMETHEUS_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("PROOFTHREAD_LOGS_ROOTS", "/nowhere/at/all")
    monkeypatch.setenv("PROOFTHREAD_CHANGES_FILE", "/nowhere/changes.jsonl")
    monkeypatch.setenv("PROOFTHREAD_MODEL", "m")
    monkeypatch.setenv("PROOFTHREAD_BASE_URL", "http://127.0.0.1:1/v1")
    assert terminal("doctor") == 2
    for name in ("logs", "metrics", "changes", "model"):
        assert f"✗ {name}" in terminal.out


def test_kb_sync_reports_each_broken_document_and_loads_the_rest(terminal: Terminal, home: Path) -> None:
    folder = home / "runbooks"
    folder.mkdir()
    (folder / "pool.md").write_text("---\ntitle: Pool\ncategory: runbooks\n---\n# Pool\n\nERR_POOL means it is empty.\n")
    (folder / "bad.md").write_text("---\ntitle: [\n---\ntext\n")
    assert terminal("kb", "sync", str(folder), "--json") == 2
    assert [problem["document"] for problem in terminal.json["problems"]] == ["bad.md"]
    assert terminal("kb", "search", "ERR_POOL", "--json") == 0
    assert "ERR_POOL" in terminal.json["blocks"][0]["chunk"]["content"]


def test_cite_check_prints_a_result_a_line_and_names_the_line_it_cannot_read(terminal: Terminal, home: Path) -> None:
    line = "ERROR HikariPool-1 - Connection is not available, request timed out"
    invocation = {
        "id": 1, "run_id": "r", "tool_name": "query_logs", "evidence_status": "supported", "truncated": False,
        "evidence_refs": [{"raw_path": "$.logs[0]", "text": line}],
    }  # fmt: skip
    binding = {"source_invocation_id": 1, "tool_name": "query_logs", "raw_path": "$.logs[0]", "evidence_excerpt": line}
    claim = {
        "claim_id": "c", "claim_type": "symptom", "claim_text": "HikariPool-1 has no connection available",
        "support_level": "direct", "evidence_bindings": [binding],
    }  # fmt: skip
    document = json.dumps({"invocations": [invocation], "run_id": "r", "claims": [claim]})
    (home / "claims.jsonl").write_text(f"{document}\n{{}}\n")
    assert terminal("cite", "check", "claims.jsonl") == 2
    first, second = map(json.loads, terminal.out.splitlines())
    assert first["passed_claim_ids"] == ["c"]
    assert second["line"] == 2
    (home / "one.json").write_text(json.dumps(json.loads(document), indent=1))
    assert terminal("cite", "check", "one.json", "--json") == 0


def test_another_package_in_our_place_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="environment of its own"):
        check_packages(["json"], tmp_path)


def test_a_session_is_continued_with_what_was_said_before(terminal: Terminal) -> None:
    assert terminal("ask", "Why is checkout slow?", "--json") == 0
    first = terminal.json
    assert "No logs" in terminal.err
    assert terminal("ask", "And payments?", "--session", first["session_id"], "--json") == 0
    assert terminal.json["session_id"] == first["session_id"]
    assert terminal("trace", "--json") == 0
    runs = {run["query"]: run for run in terminal.json["runs"]}
    assert {run["session_id"] for run in runs.values()} == {first["session_id"]}
    assert terminal("trace") == 0
    assert "And payments?" in terminal.out


@pytest.mark.parametrize("question", ["🔥🔥🔥", "why " * 25_000, "\udcff why"])
def test_an_odd_question_gets_an_honest_answer(terminal: Terminal, question: str) -> None:
    assert terminal("ask", question, "--json") == 0
    assert terminal.json["verdict"] != "PASS"
    assert terminal.json["answer"]
    assert ("only the first 8000" in terminal.err) is (len(question) > 8000)


def test_a_broken_playbook_is_named_and_the_run_goes_on(
    terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "mine" / "bad").mkdir(parents=True)
    (home / "mine" / "bad" / "SKILL.md").write_text("no front matter")
    monkeypatch.setenv("PROOFTHREAD_SKILLS_DIRS", str(home / "mine"))
    assert terminal("ask", "Why is checkout slow?") == 0
    assert "SKILL.md:1" in terminal.err


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PROOFTHREAD_MODEL": "gpt-5-mini"}, "api_key"),
        ({"PROOFTHREAD_MODEL": "m", "PROOFTHREAD_BASE_URL": "localhost:8000"}, "http://localhost:8000/v1"),
        ({"PROOFTHREAD_MODEL": "scripted:/nowhere"}, "/nowhere"),
        ({"PROOFTHREAD_PROMETHEUS_URL": "nonsense"}, "http://prometheus:9090"),
        ({"PROOFTHREAD_REDACTION_PATTERNS": '["("]'}, "regular expression"),
        ({"PROOFTHREAD_EMBEDDINGS": "openai"}, "embeddings_model"),
        ({"PROOFTHREAD_DATABASE_URL": "oracle://x"}, "sqlite:///"),
        ({"PROOFTHREAD_SKILLS_DIRS": "/nowhere"}, "/nowhere"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_before_the_run(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal("ask", "why?") == 2
    assert said in terminal.err


def test_a_cap_on_money_needs_prices(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFTHREAD_MAX_COST", "1")
    assert terminal("ask", "why?") == 2
    assert "price_in" in terminal.err
