"""`proofthread doctor`: what is configured, what answers, what is missing, what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands.options import AsJson

if TYPE_CHECKING:
    from bot.doctor.systems import Finding
    from bot.terminal.lines import Line

_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red"), "off": ("-", "dim")}


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    slack: Annotated[
        bool, typer.Option("--slack", help="Also have Slack check a payload of every kind. Nothing is posted.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every configured system. Exit code 2 if one is broken."""
    from bot.app import open_app
    from bot.doctor import slack as doctor_slack
    from bot.doctor.systems import examine
    from bot.settings import load_settings
    from bot.terminal.lines import console_for, show
    from bot.terminal.output import print_json

    async def examined() -> list[Finding]:
        loaded = load_settings()
        async with open_app(loaded) as app:
            findings = [*await examine(app, loaded), *await doctor_slack.slack(app)]
            return [*findings, *await doctor_slack.payloads(app)] if slack else findings

    findings = asyncio.run(examined())
    healthy = all(finding.state != "fail" for finding in findings)
    if as_json:
        print_json({"healthy": healthy, "findings": findings})
    else:
        show(console_for(), _lines(findings))
    raise typer.Exit(0 if healthy else 2)


def _lines(findings: list[Finding]) -> Iterator[Line]:
    from bot.terminal.lines import Line

    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark, style = _MARKS[finding.state]
        lead = f"{mark} {finding.name:<{width}} "
        yield Line(finding.detail, lead=lead, lead_style=style)
        if finding.advice:
            yield Line(finding.advice, lead=" " * len(lead) + "→ ", style="dim")
