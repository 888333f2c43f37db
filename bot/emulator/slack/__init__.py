"""A loopback Slack: Web API, Events over HTTP, Socket Mode, interactivity and a page to look at, all in memory."""

from __future__ import annotations

from bot.emulator.slack.behaviour import Behaviour
from bot.emulator.slack.emulator import SlackEmulator
from bot.emulator.slack.refusals import ActRefused, Finding

slack_emulator = SlackEmulator

__all__ = ["ActRefused", "Behaviour", "Finding", "SlackEmulator", "slack_emulator"]
