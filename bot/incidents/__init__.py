"""Alerts as incidents: what is heard where, which belong together, what may run."""
