"""The work behind `proofthread ask`, kept from the command so that --help need not import it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import get_args

from rich.console import Console

from agents.contracts import RunOutcome
from bot.app import App, open_app, prepare
from bot.asking import Question, ask, nothing_to_look_at, resume
from bot.errors import ConfigError
from bot.evaluation.samples import sample
from bot.inputs import language_of, moment_of, zone_named
from bot.settings import Loaded, Settings
from bot.terminal.lines import Line, show
from bot.terminal.progress import progress_on

NOTHING_CONFIGURED = (
    "No logs, metrics, orders or changes are configured, so nothing about your system can be proven. "
    "Set logs_roots or prometheus_url (proofthread doctor says how), or try: proofthread ask --sample"
)


@dataclass(frozen=True)
class Wanted:
    """The command's options as they were typed."""

    text: str
    sample: bool
    session: str | None
    model: str | None
    now: str | None
    zone: str | None
    language: str | None


async def answered(wanted: Wanted, loaded: Loaded, console: Console) -> RunOutcome:
    """Raises the operator's errors: a wrong option or setting, a database that is away."""
    loaded = with_options(loaded, wanted)
    now = moment_of(wanted.now, loaded.zone) if wanted.now else datetime.now(UTC)
    if not wanted.sample:
        async with open_app(loaded) as app:
            await prepare(app)
            say_warnings(app, console)
            return await _asked(app, _question(wanted, app, now), console)
    from bot.demo import open_sample

    async with open_sample(loaded, sample(), now) as world:
        moment = now if wanted.now else world.now
        return await _asked(world.app, _question(wanted, world.app, moment), console)


async def resumed(run_id: str, wanted: Wanted, loaded: Loaded, console: Console) -> RunOutcome:
    """Finish a run whose process is gone, in the world that it was asked about. Raises what `answered` raises."""
    loaded = with_options(loaded, wanted)
    if not wanted.sample:
        async with open_app(loaded) as app:
            await prepare(app)
            return await resume(app, run_id, progress_on(console), on_stop=lambda: say_stopping(console))
    from bot.demo import open_sample

    async with open_sample(loaded, sample(), datetime.now(UTC)) as world:
        return await resume(world.app, run_id, progress_on(console), on_stop=lambda: say_stopping(console))


async def _asked(app: App, question: Question, console: Console) -> RunOutcome:
    return await ask(app, question, progress_on(console), on_stop=lambda: say_stopping(console))


def say_warnings(app: App, console: Console) -> None:
    show(console, [Line(text, lead="! ", style="yellow") for text in _warnings(app)])


def say_stopping(console: Console) -> None:
    stopping = Line("Stopping; what is proven so far follows. Ctrl-C again ends at once.", lead="! ", style="yellow")
    show(console, [stopping])


def _warnings(app: App) -> Iterator[str]:
    yield from (f"A playbook was left out: {problem}" for problem in app.tools.skills.problems)
    if nothing_to_look_at(app):
        yield NOTHING_CONFIGURED


def with_options(loaded: Loaded, wanted: Wanted) -> Loaded:
    """Options win over settings."""
    changed: dict[str, object] = {}
    if wanted.model:
        changed |= {"model": wanted.model, "role_models": {}}
    if wanted.language:
        allowed = get_args(Settings.model_fields["language"].annotation)
        if wanted.language not in allowed:
            raise ConfigError(f"--language {wanted.language!r} is unknown: write one of {', '.join(allowed)}.")
        changed["language"] = wanted.language
    zone = zone_named(wanted.zone) if wanted.zone else loaded.zone
    return replace(loaded, settings=loaded.settings.model_copy(update=changed), zone=zone)


def _question(wanted: Wanted, app: App, now: datetime) -> Question:
    chosen = app.settings.language
    language = language_of(wanted.text, default="en") if chosen == "auto" else chosen
    return Question(wanted.text, language, app.zone.key, now, session_id=wanted.session)
