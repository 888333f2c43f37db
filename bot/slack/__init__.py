"""Slack's side of the bot: calls, messages, people, and what an event says."""
