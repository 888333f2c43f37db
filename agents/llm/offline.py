"""The backend that needs no model: rules over the typed values of a request (agents/offline)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import BaseModel

from agents.errors import ModelRefused
from agents.llm.base import Backend, Model, ModelReply, ModelRequest, ModelSettings, Role
from agents.offline.composer import compose
from agents.offline.executor import turn
from agents.offline.planner import plan
from agents.offline.verifier import verify

_ANSWERS: Mapping[Role, Callable[[ModelRequest], BaseModel]] = {"planner": plan, "verifier": verify, "composer": compose}


class OfflineModel:
    """A pure function of the request: the same request gives the same reply, so that a resumed run takes the same way."""

    name = "offline"
    uses_model = False

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Raises ModelRefused for a role that rules cannot play."""
        if request.role == "executor":
            done = turn(request)
            return ModelReply("", tool_calls=done) if isinstance(done, tuple) else ModelReply(done.model_dump_json())
        answer = _ANSWERS.get(request.role)
        if answer is None:
            raise ModelRefused(f"the offline backend has no rules for the role {request.role}")
        return ModelReply(answer(request).model_dump_json())

    async def close(self) -> None:
        return None


def build(_: ModelSettings) -> Model:
    return OfflineModel()


BACKEND = Backend("offline", build)
