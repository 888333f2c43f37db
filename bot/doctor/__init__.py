"""Whether each configured system answers."""
