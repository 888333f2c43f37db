"""What a run has spent and what it already had: model calls by key, and the caps that end a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.contracts import RunUsage
from agents.errors import LimitReached
from storage.trace import Step

WITHOUT_MODEL = "offline"


@dataclass(frozen=True)
class RunLimits:
    """Caps of one run; each ends it with what is proven. Seconds and tool calls are capped by the lease's deadline and
    by the tool door. `cost` None = no cap on money. `model_seconds` bounds one model call,
    `poll_seconds` is how often a run looks for Stop."""

    steps: int = 25
    tokens: int = 60_000
    cost: float | None = None
    technical_retries: int = 2
    lease_seconds: int = 30
    poll_seconds: float = 1.0
    model_seconds: float = 60.0


@dataclass(frozen=True)
class StepKey:
    """Where in the graph a model call stands: replay needs the same place and the same request."""

    node: str
    round: int
    sequence: int


@dataclass(frozen=True)
class Left:
    """What the caps still allow."""

    steps: int
    tokens: int


class Ledger:
    """Every step of the run, those of earlier attempts included. Failed ones count as spent and are never replayed; what
    the engine without a model did is no model call, so that it can still finish what a failing model has left."""

    def __init__(
        self,
        recorded: Sequence[Step],
        limits: RunLimits,
        deadline: datetime,
        clock: Callable[[], datetime],
    ) -> None:
        self._limits = limits
        self._deadline = deadline
        self._clock = clock
        self._answers: dict[tuple[str, int, int, str], Step] = {}
        self._tokens: list[tuple[int, int, bool]] = []
        self._steps = self._calls = self._prompt = self._completion = self._cached = 0
        self._cost: float | None = None
        for step in recorded:
            self.add(step)

    def add(self, step: Step) -> None:
        self._tokens.append((step.id, step.token_count, _is_model_call(step)))
        self._steps += 1
        self._calls += _is_model_call(step)
        self._prompt += step.prompt_tokens
        self._completion += step.completion_tokens
        self._cached += step.cached_tokens
        if step.cost is not None:
            self._cost = (self._cost or 0.0) + step.cost
        if step.ok:
            self._answers[step.node, step.round, step.sequence, step.request_hash] = step

    def answer(self, key: StepKey, request_hash: str) -> Step | None:
        """The step that already answered this request at this place."""
        return self._answers.get((key.node, key.round, key.sequence, request_hash))

    def left_after(self, step_id: int) -> Left:
        """What was left when this step was done: the same when the run is resumed later."""
        until = [(tokens, is_call) for id, tokens, is_call in self._tokens if id <= step_id]
        calls = sum(is_call for _, is_call in until)
        return Left(self._limits.steps - calls, self._limits.tokens - sum(tokens for tokens, _ in until))

    @property
    def is_half_spent(self) -> bool:
        """Whether another round as dear as what was done so far would meet a cap."""
        limits = self._limits
        tokens = self._prompt + self._completion
        is_dear = limits.cost is not None and (self._cost or 0.0) > limits.cost / 2
        return 2 * self._calls > limits.steps or 2 * tokens > limits.tokens or is_dear

    def remaining_seconds(self) -> float:
        return (self._deadline - self._clock()).total_seconds()

    def check(self) -> None:
        """Raises LimitReached where a cap is spent. Called before each node and each live model call."""
        limits = self._limits
        if self.remaining_seconds() <= 0:
            raise LimitReached("seconds", "the run's time is spent")
        if self._calls >= limits.steps:
            raise LimitReached("steps", f"{limits.steps} model calls are spent")
        if self._prompt + self._completion >= limits.tokens:
            raise LimitReached("tokens", f"{limits.tokens} tokens are spent")
        if limits.cost is not None and (self._cost or 0.0) >= limits.cost:
            raise LimitReached("cost", f"the run's {limits.cost} of money are spent")

    def usage(self, model: str, tool_calls: int) -> RunUsage:
        return RunUsage(
            model=model,
            prompt_tokens=self._prompt,
            completion_tokens=self._completion,
            cached_tokens=self._cached,
            cost=self._cost,
            steps=self._steps,
            tool_calls=tool_calls,
        )


def _is_model_call(step: Step) -> bool:
    return step.model_name != WITHOUT_MODEL
