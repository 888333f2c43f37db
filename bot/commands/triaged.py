"""The work behind `proofthread triage`, kept from the command so that --help need not import it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from rich.console import Console

from agents.contracts import Alert, RunOutcome
from bot.app import open_app, prepare
from bot.asking import carried_out
from bot.commands.asked import Wanted, say_stopping, say_warnings, with_options
from bot.incidents.enrichment import enriched
from bot.incidents.request import triage_request
from bot.inputs import moment_of
from bot.settings import Loaded
from bot.terminal.progress import progress_on


async def triaged(alerts: Sequence[Alert], wanted: Wanted, loaded: Loaded, console: Console) -> RunOutcome:
    """Raises the operator's errors: a wrong option or setting, a database that is away."""
    loaded = with_options(loaded, wanted)
    now = moment_of(wanted.now, loaded.zone) if wanted.now else datetime.now(UTC)
    async with open_app(loaded) as app:
        await prepare(app)
        say_warnings(app, console)
        request = triage_request(
            # What fires now says nothing of an alert of another time.
            alerts if wanted.now else await enriched(alerts, app.tools, now),
            session_id=uuid4().hex,
            language=app.settings.language,
            zone=app.zone.key,
            now=now,
            seconds=app.settings.alert_max_seconds,
        )
        return await carried_out(app, request, progress_on(console), on_stop=lambda: say_stopping(console))
