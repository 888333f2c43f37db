"""A finished run, told: the words that Slack and the terminal share."""
