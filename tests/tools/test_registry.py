"""Which tools exist, and which can serve."""

import importlib
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel
from tool_door import answering

import tools.builtin
from tools.contracts import ToolDeps
from tools.errors import ToolConfigError
from tools.registry import ToolRegistry
from tools.skills import SkillRegistry

DEPS = ToolDeps(skills=SkillRegistry())


def test_every_module_of_the_folder_is_a_tool_of_its_own_name() -> None:
    modules = {path.stem for path in Path(tools.builtin.__path__[0]).glob("*.py")} - {"__init__"}
    registry = ToolRegistry.builtin()
    assert {name for name in modules if registry.get(name) is not None} == modules
    assert {"date_time", "query_metrics", "query_order", "query_changes", "read_skill"} <= modules


def test_tools_that_lack_their_system_say_what_to_set() -> None:
    registry = ToolRegistry.builtin()
    assert [spec.name for spec in registry.offered(DEPS)] == ["date_time"]
    reasons = registry.unavailable(DEPS)
    assert "prometheus_url" in reasons["query_metrics"]
    assert "business_url" in reasons["query_order"]
    assert "changes_file" in reasons["query_changes"]
    assert "skills_dirs" in reasons["read_skill"]


def test_a_module_without_a_tool_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_module(tmp_path, monkeypatch, "query_nothing", "X = 1")
    with pytest.raises(ToolConfigError, match=r"tools\.builtin\.query_nothing must define TOOL"):
        ToolRegistry.builtin()


def test_a_module_that_cannot_be_imported_is_not_swallowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_module(tmp_path, monkeypatch, "query_broken", "import a_module_that_is_not_there")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        ToolRegistry.builtin()


def test_two_tools_of_one_name_are_an_error() -> None:
    with pytest.raises(ToolConfigError, match="two tools are named 'query_test'"):
        ToolRegistry([answering("x"), answering("y")])


def test_an_external_tool_takes_the_place_of_a_built_in_one() -> None:
    external = answering("x", name="query_metrics", origin="external")
    registry = ToolRegistry.builtin().with_external([external, answering("y", name="kubectl", origin="external")])
    assert registry.get("query_metrics") is external
    assert {"kubectl", "query_metrics", "date_time"} <= {spec.name for spec in registry.offered(DEPS)}


def test_two_external_tools_of_one_name_are_an_error() -> None:
    with pytest.raises(ToolConfigError, match="two tools are named 'query_test'"):
        ToolRegistry([]).with_external([answering("x", origin="external")] * 2)


def test_an_input_that_takes_any_field_is_refused() -> None:
    class Loose(BaseModel):
        text: str

    with pytest.raises(ToolConfigError, match='must set extra="forbid"'):
        ToolRegistry([answering("x", input_model=Loose)])


def _with_module(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(tools.builtin, "__path__", [*tools.builtin.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, f"tools.builtin.{name}", raising=False)
    importlib.invalidate_caches()
