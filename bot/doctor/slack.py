"""Slack for `doctor`: what the tokens may do, where the bot may be asked, and what Slack itself says of our payloads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from bot.app import App, prepare
from bot.blocks.incident import incident_words
from bot.blocks.samples import Sample, samples
from bot.doctor.systems import Finding
from bot.errors import ConfigError
from bot.incidents.channels import AlertChannels
from bot.settings import variable
from bot.slack.client import SlackAway, SlackCalls, SlackRefused, found_problems, open_slack
from bot.slack.identity import Identity, access, identify, scopes, socket_address
from bot.slack.people import LookupFailed, People, Place
from bot.slack.validator import Problem
from storage.errors import StorageError

UPDATE = "Update the app from `proofthread manifest` and install it again."
INVITE = "Invite the bot there (/invite), or correct slack_channels and alert_channels."
WATCH = "Type /proofthread watch in the channel where monitors post, or set alert_channels."


async def slack(app: App) -> list[Finding]:
    """Tokens, scopes and channels. Nothing is posted, and no socket is opened."""
    if app.settings.slack_bot_token is None:
        advice = "For the bot, set slack_bot_token and slack_app_token; `proofthread manifest` makes the app."
        return [Finding(name="slack", state="off", detail="not configured", advice=advice)]
    async with _asked_once(app) as calls:
        if isinstance(calls, Finding):
            return [calls]
        try:
            identity = await identify(calls, _at_once)
        except ConfigError as error:
            return [Finding(name="slack", state="fail", detail=str(error))]
        people = People(calls, identity.team, identity.enterprise)
        found = [_token(identity), await _sockets(app, calls), await _channels(app.settings.slack_channels, people)]
        return [*found, await _alerts(app, identity, people)]


async def payloads(app: App) -> list[Finding]:
    """One payload of every kind to Slack's blocks.validate: it shows nothing to anybody and needs no scope."""
    if app.settings.slack_bot_token is None:
        missing = f"nothing was sent: slack_bot_token ({variable('slack_bot_token')}) is not set"
        return [Finding(name="payloads", state="fail", detail=missing, advice="Set it, or leave out --slack.")]
    sent = samples(incident_words(app.work.replies))
    async with _asked_once(app) as calls:
        if isinstance(calls, Finding):
            return [calls.model_copy(update={"name": "payloads"})]
        try:
            refused = [finding for sample in sent async for finding in _refusals(calls, sample)]
        except (SlackAway, SlackRefused) as error:
            return [Finding(name="payloads", state="fail", detail=str(error))]
    taken = len(sent) - len({finding.name for finding in refused})
    told = Finding(name="payloads", state="ok", detail=f"Slack takes {taken} of {len(sent)} kinds of payload")
    return [told if not refused else told.model_copy(update={"state": "fail", "advice": _REPORT}), *refused]


_REPORT = "Please report this with the pointers below: Slack has changed a rule. Until then its plain text goes out."


# ---------------------------------------------------------------- tokens, scopes, channels


def _token(identity: Identity) -> Finding:
    where = f"{identity.name} in {identity.team_name} ({identity.team})"
    if not identity.scopes:
        return Finding(name="slack", state="ok", detail=f"{where}; Slack does not say which scopes it has")
    wanted = scopes()
    detail = f"{where}; {len(wanted) - len(identity.missing)} of {len(wanted)} scopes"
    if not identity.missing:
        return Finding(name="slack", state="ok", detail=detail)
    lost = "; ".join(f"{scope.name} ({scope.without})" for scope in identity.missing)
    return Finding(name="slack", state="warn", detail=detail, advice=f"Missing: {lost}. {UPDATE}")


async def _sockets(app: App, calls: SlackCalls) -> Finding:
    """Asking for a socket's address proves the token. Over HTTP the signing secret cannot be proven without an event."""
    settings = app.settings
    if settings.slack_app_token is None:
        if settings.slack_signing_secret is not None:
            return Finding(name="events", state="ok", detail="over HTTP alone: `serve --http`, with slack_signing_secret")
        advice = "Set slack_app_token (Socket Mode), or slack_signing_secret for `serve --http`."
        return Finding(name="events", state="fail", detail="no token to take events with", advice=advice)
    try:
        await socket_address(calls, settings.slack_app_token.get_secret_value().strip(), _at_once)
    except ConfigError as error:
        return Finding(name="events", state="fail", detail=str(error))
    return Finding(name="events", state="ok", detail="Socket Mode: slack_app_token is good")


async def _channels(listed: Sequence[str], people: People) -> Finding:
    if not listed:
        return Finding(name="channels", state="ok", detail="wherever the bot is invited (slack_channels is empty)")
    try:
        places = await asyncio.gather(*(people.place(channel) for channel in listed))
    except LookupFailed as error:
        return Finding(name="channels", state="fail", detail=str(error))
    wrong = "; ".join(f"{place.name or place.id}: {trouble}" for place in places if (trouble := _trouble(place)))
    detail = f"{len(listed)} channels of slack_channels"
    if wrong:
        return Finding(name="channels", state="warn", detail=detail, advice=f"{wrong}. {INVITE}")
    return Finding(name="channels", state="ok", detail=detail)


async def _alerts(app: App, identity: Identity, people: People) -> Finding:
    """Channels whose alerts are watched, by the settings and by what people said there."""
    watching = AlertChannels(app.database, app.settings, identity.team, app.work.clock)
    try:
        await prepare(app)
        places = [await people.place(one.channel) for one in await watching.watched()]
    except (LookupFailed, StorageError) as error:
        return Finding(name="alerts", state="fail", detail=str(error))
    if not places:
        return Finding(name="alerts", state="off", detail="no channel is watched", advice=WATCH)
    detail = f"watched in {', '.join(place.name or place.id for place in places)}"
    wrong = "; ".join(f"{place.name or place.id}: {trouble}" for place in places if (trouble := _trouble(place)))
    return Finding(name="alerts", state="warn" if wrong else "ok", detail=detail, advice=f"{wrong}. {INVITE}" if wrong else "")


def _trouble(place: Place) -> str:
    if place.is_archived:
        return "is archived"
    if not place.is_member:
        return "the bot is not in it" if place.is_known else "does not exist, or the bot is not in it"
    return ""


# ---------------------------------------------------------------- payloads


async def _refusals(calls: SlackCalls, sample: Sample) -> AsyncIterator[Finding]:
    """Raises SlackRefused for a refusal that is none of this payload (a token)."""
    problems: tuple[Problem, ...] = ()
    try:
        problems = found_problems(await calls.call("blocks.validate", **{sample.kind: sample.payload}))
    except SlackRefused as error:
        if not error.problems and "block" not in error.error and "argument" not in error.error:
            raise
        problems = error.problems
        if not problems:
            yield _refused(sample, error.error)
    for problem in problems:
        yield _refused(sample, f"{problem.pointer}: {problem.message}")


def _refused(sample: Sample, why: str) -> Finding:
    return Finding(name=sample.name, state="fail", detail=why)


# ---------------------------------------------------------------- asking


@asynccontextmanager
async def _asked_once(app: App) -> AsyncIterator[SlackCalls | Finding]:
    """The Web API; where its address is none, what is wrong."""
    try:
        where = access(app.settings)
    except ConfigError as error:
        yield Finding(name="slack", state="fail", detail=str(error))
        return
    async with open_slack(where) as calls:
        yield calls


async def _at_once(_: float) -> None:
    """Somebody waits at a terminal: a Slack that is away is reported, not waited for."""
