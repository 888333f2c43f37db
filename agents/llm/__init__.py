"""Models by name: the one place that knows the backends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec

from agents.llm.base import Backend, Model, ModelSettings, Role

DEFAULT_BACKEND = "openai_compatible"


@dataclass(frozen=True)
class RoleModels:
    """One model for all roles, others for some. Models that share a name are one object."""

    default: Model
    by_role: tuple[tuple[str, Model], ...] = ()

    def for_role(self, role: Role) -> Model:
        return dict(self.by_role).get(role, self.default)

    @property
    def uses_model(self) -> bool:
        return any(model.uses_model for model in self._all())

    async def close(self) -> None:
        for model in {id(model): model for model in self._all()}.values():
            await model.close()

    def _all(self) -> tuple[Model, ...]:
        return (self.default, *(model for _, model in self.by_role))


def build_model(name: str, settings: ModelSettings) -> Model:
    """`offline`, `scripted:PATH`, or the name of a model at the settings' endpoint. Does no I/O but reading a script.

    A module of this folder with BACKEND serves its own name and `name:anything`; every other name is a model's.
    """
    backend = _backend(name.partition(":")[0]) or _backend(DEFAULT_BACKEND)
    assert backend is not None
    return backend.build(replace(settings, model=name))


def build_models(settings: ModelSettings) -> RoleModels:
    built: dict[str, Model] = {}
    for name in (settings.model, *settings.role_models.values()):
        if name not in built:
            built[name] = build_model(name, settings)
    by_role = tuple((role, built[name]) for role, name in settings.role_models.items())
    return RoleModels(built[settings.model], by_role)


def _backend(module: str) -> Backend | None:
    if not module.isidentifier() or find_spec(f"{__name__}.{module}") is None:
        return None
    backend = getattr(import_module(f"{__name__}.{module}"), "BACKEND", None)
    return backend if isinstance(backend, Backend) else None
