"""`proofthread skills`: the playbooks the planner may choose from."""

from __future__ import annotations

import typer

from bot.commands.options import AsJson


def register(app: typer.Typer) -> None:
    app.command("skills")(skills)


def skills(as_json: AsJson = False) -> None:
    """List the playbooks, and the SKILL.md files that could not be read."""
    from bot.settings import load_settings
    from bot.terminal.lines import Line, console_for, show
    from bot.terminal.output import print_json
    from bot.wiring import load_skills

    registry = load_skills(load_settings().settings)
    cards = registry.cards()
    problems = [str(problem) for problem in registry.problems]
    if as_json:
        listed = [{"name": name, "description": description} for name, description in cards]
        print_json({"skills": listed, "problems": problems})
        return
    width = max((len(name) for name, _ in cards), default=0) + 2
    lines = [Line(description, lead=name.ljust(width), lead_style="bold") for name, description in cards]
    show(console_for(), [*lines, *(Line(problem, lead="✗ ", style="red") for problem in problems)])
