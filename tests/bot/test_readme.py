"""The README says what the program does: its settings are the model's, its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

from bot.settings_table import with_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readmes_settings_are_the_models_settings() -> None:
    assert with_table(README) == README, "run: python -m bot.settings_table"


def test_every_command_of_the_readme_exists() -> None:
    from typer.main import get_command

    from bot.cli import terminal

    app = get_command(terminal())
    rows = re.findall(r"^\| (`.*?) \|", README.split("## Commands")[1].split("## Settings")[0], re.MULTILINE)
    named = [words for row in rows for words in re.findall(r"`([a-z ]+?)(?: [A-Z\[].*?)?`", row)]
    assert {"ask", "kb sync", "kb search", "cite check", "db upgrade", "doctor", "tools", "skills"} <= set(named)
    for words in named:
        command = app
        for word in words.split():
            command = command.commands[word]  # type: ignore[attr-defined]


def test_the_first_command_starts_from_a_fresh_machine_in_one_line() -> None:
    commands = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    first, second, third = (command.strip() for command in commands[:3])
    assert "\n" not in first
    assert first.startswith("PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install -q uv &&")
    assert first.endswith("proofthread demo")
    assert "proofthread ask --sample" in second
    assert "pytest" in third
