"""Which tools exist, and which of them can serve."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType

import tools.builtin
from tools.contracts import ToolDeps, ToolSpec
from tools.errors import ToolConfigError


class ToolRegistry:
    """Tools by name, in the order given. Two tools of one name, or one that takes any field, raise ToolConfigError."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs: dict[str, ToolSpec] = {}
        for spec in specs:
            self._add(spec)

    @classmethod
    def builtin(cls) -> ToolRegistry:
        """Every module of tools/builtin; each must define TOOL."""
        return cls(_tool_of(module) for module in _modules_of(tools.builtin))

    def with_external(self, specs: Iterable[ToolSpec]) -> ToolRegistry:
        """A registry in which an external tool takes the place of a built-in one of the same name."""
        external = ToolRegistry(specs)
        kept = (spec for spec in self._specs.values() if spec.name not in external._specs)
        return ToolRegistry((*kept, *external._specs.values()))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._specs)

    def get(self, name: str) -> ToolSpec | None:
        return self._specs.get(name)

    def offered(self, deps: ToolDeps) -> list[ToolSpec]:
        """The tools that can serve, each described with what is configured for it."""
        return [_described(spec, deps) for spec in self._specs.values() if spec.unavailable(deps) is None]

    def unavailable(self, deps: ToolDeps) -> dict[str, str]:
        """Name → why it cannot serve."""
        reasons = ((spec.name, spec.unavailable(deps)) for spec in self._specs.values())
        return {name: reason for name, reason in reasons if reason is not None}

    def _add(self, spec: ToolSpec) -> None:
        if spec.name in self._specs:
            raise ToolConfigError(f"two tools are named {spec.name!r}: rename one")
        if spec.origin == "builtin" and spec.input_model.model_config.get("extra") != "forbid":
            raise ToolConfigError(
                f'the input model of {spec.name!r} must set extra="forbid": a misspelt field is an error'
            )
        self._specs[spec.name] = spec


def _described(spec: ToolSpec, deps: ToolDeps) -> ToolSpec:
    return spec if spec.told is None else replace(spec, description=f"{spec.description} {spec.told(deps)}")


def _modules_of(package: ModuleType) -> Iterable[ModuleType]:
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def _tool_of(module: ModuleType) -> ToolSpec:
    spec = getattr(module, "TOOL", None)
    if not isinstance(spec, ToolSpec):
        raise ToolConfigError(f"{module.__name__} must define TOOL, a ToolSpec")
    return spec
