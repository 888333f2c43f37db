"""What a run cost, in one line. An unknown price is no price: tokens are shown, never 0.00."""

from __future__ import annotations

from agents.contracts import RunOutcome
from bot.answers.times import window_text
from bot.blocks.reader import Reader


def usage_line(outcome: RunOutcome, reader: Reader) -> str:
    usage = outcome.usage
    parts = [
        model_text(usage.model, reader),
        seconds_text(outcome.duration_ms, reader),
        *spent(usage.prompt_tokens + usage.completion_tokens, usage.cost, reader),
        reader.say("degraded_short") if outcome.orchestration_trace.degraded else "",
        reader.say("run", run=outcome.run_id),
    ]
    return " · ".join(part for part in parts if part)


def window_line(outcome: RunOutcome, reader: Reader) -> str:
    """What the run looked at, in the asker's zone; empty where it looked at nothing that has a window."""
    trace = outcome.orchestration_trace
    window = window_text(trace.window_from, trace.window_to, reader.zone)
    return reader.say("looked_at", window=window) if window else ""


def model_text(model: str, reader: Reader) -> str:
    return reader.say("no_model") if model in ("", "offline") else reader.say("model", name=model)


def seconds_text(duration_ms: int, reader: Reader) -> str:
    return reader.say("seconds", seconds=f"{duration_ms / 1000:.1f}")


def spent(tokens: int, cost: float | None, reader: Reader) -> list[str]:
    if not tokens:
        return []
    shown = [reader.say("tokens", count=f"{tokens:,}")]
    return [*shown, reader.say("cost", amount=money(cost))] if cost else shown


def money(amount: float) -> str:
    """Two decimals from 0.10 on, four below, and never a rounded zero."""
    if amount < 0.0001:
        return "< 0.0001"
    return f"{amount:.2f}" if amount >= 0.1 else f"{amount:.4f}"
