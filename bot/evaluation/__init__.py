"""Scenarios: read, run again, graded, frozen."""
