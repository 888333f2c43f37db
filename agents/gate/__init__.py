"""The Gatekeeper: which claims rest on words that a tool returned in this run, decided in code."""

from agents.gate.check import Demotion, GateReport, check_claims
from agents.gate.rules import RULES, RULESET_VERSION

__all__ = ["RULES", "RULESET_VERSION", "Demotion", "GateReport", "check_claims"]
