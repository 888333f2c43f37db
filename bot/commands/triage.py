"""`proofthread triage`: an alert in, a checked report out."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.ended import show_end
from bot.commands.options import AsJson, ModelName


def register(app: typer.Typer) -> None:
    app.command("triage")(triage)


def triage(
    file: Annotated[
        str,
        typer.Argument(
            help="A Slack message event, or what Alertmanager or Grafana send to a webhook, as JSON; - reads stdin.",
            metavar="FILE",
        ),
    ],
    model: ModelName = None,
    now: Annotated[str | None, typer.Option("--now", help="Look as if it were then (RFC 3339).", metavar="TIME")] = None,
    zone: Annotated[str | None, typer.Option("--zone", help="Your time zone.", metavar="ZONE")] = None,
    language: Annotated[str | None, typer.Option("--language", help="zh or en.", metavar="LANGUAGE")] = None,
    as_json: AsJson = False,
) -> None:
    """Triage an alert as in an alert channel. Progress appears on stderr as it happens, then the report."""
    from bot.commands.asked import Wanted
    from bot.commands.triaged import triaged
    from bot.errors import ConfigError
    from bot.incidents.input import NoAlert, read_alerts
    from bot.inputs import read_text, zone_named
    from bot.settings import load_settings
    from bot.terminal.lines import console_for

    try:
        alerts = read_alerts(read_text(file))
    except NoAlert as error:
        raise ConfigError(str(error)) from error
    loaded = load_settings()
    wanted = Wanted("", sample=False, session=None, model=model, now=now, zone=zone, language=language)
    shown_in = zone_named(zone) if zone else loaded.zone
    raise typer.Exit(show_end(triaged(alerts, wanted, loaded, console_for(stream_is_stderr=True)), shown_in, as_json=as_json))
