"""What Slack shows, as pure functions: value → blocks. No client, no clock, no environment."""
