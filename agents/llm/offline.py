"""The backend that needs no model: rules over the typed values of a request (agents/offline)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import BaseModel

from agents.errors import ModelRefused
from agents.llm.base import Backend, Model, ModelReply, ModelRequest, ModelSettings, Role, ToolCall
from agents.offline.alert_executor import alert_turn
from agents.offline.alert_planner import plan_alert
from agents.offline.composer import compose
from agents.offline.executor import turn
from agents.offline.planner import plan
from agents.offline.verifier import verify

_ANSWERS: Mapping[Role, Callable[[ModelRequest], BaseModel | tuple[ToolCall, ...]]] = {
    "planner": plan,
    "executor": turn,
    "verifier": verify,
    "composer": compose,
    "aiops_planner": plan_alert,
    "aiops_executor": alert_turn,
}


class OfflineModel:
    """A pure function of the request: the same request gives the same reply, so that a resumed run takes the same way."""

    name = "offline"
    uses_model = False

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Raises ModelRefused for a role that rules cannot play."""
        answer = _ANSWERS.get(request.role)
        if answer is None:
            raise ModelRefused(f"the offline backend has no rules for the role {request.role}")
        done = answer(request)
        return ModelReply("", tool_calls=done) if isinstance(done, tuple) else ModelReply(done.model_dump_json())

    async def close(self) -> None:
        return None


def build(_: ModelSettings) -> Model:
    return OfflineModel()


BACKEND = Backend("offline", build)
