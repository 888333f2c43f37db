"""`proofthread tools`: what the bot can look at, and why not where it cannot."""

from __future__ import annotations

import asyncio

import typer

from bot.commands.options import AsJson


def register(app: typer.Typer) -> None:
    app.command("tools")(tools)


def tools(as_json: AsJson = False) -> None:
    """List the tools: which can serve with these settings, and what the others lack."""
    from bot.app import open_app
    from bot.settings import load_settings
    from bot.terminal.lines import Line, console_for, show
    from bot.terminal.output import print_json

    async def collected() -> tuple[dict[str, str], dict[str, str]]:
        async with open_app(load_settings()) as app:
            specs = (app.registry.get(name) for name in app.registry.names)
            return app.registry.unavailable(app.tools), {spec.name: spec.description for spec in specs if spec}

    reasons, specs = asyncio.run(collected())
    if as_json:
        listed = [
            {"name": name, "available": name not in reasons, "reason": reasons.get(name), "description": text}
            for name, text in specs.items()
        ]
        print_json({"tools": listed})
        return
    width = max(len(name) for name in specs) + 6
    for name, text in specs.items():
        mark = "✗" if name in reasons else "✓"
        show(console_for(), [Line(reasons.get(name) or text.split(". ")[0], lead=f"{mark} {name}".ljust(width))])
