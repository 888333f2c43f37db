"""Incidents at work: which run when, and what their threads show."""
