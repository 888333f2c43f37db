"""The README's table of settings, made from the settings model so that the two cannot differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from bot.settings import JSON_ONLY, Settings, is_secret, kinds_of, variable

HEAD = "| setting | variable | default | meaning |\n|---|---|---|---|"


def settings_table() -> str:
    return "\n".join([HEAD, *(_row(name) for name in Settings.model_fields)])


def _row(name: str) -> str:
    field = Settings.model_fields[name]
    description = (field.description or "").replace("|", "\\|")
    return f"| `{name}` | `{variable(name)}` | {_default(name)} | {description}{_form(name)} |"


def _default(name: str) -> str:
    if name == "data_dir":
        return "`~/.local/share/proofthread`"
    default: Any = Settings.model_fields[name].get_default(call_default_factory=True)
    if default is PydanticUndefined or default in (None, "", (), {}):
        return ""
    if isinstance(default, SecretStr):
        return f"`{default.get_secret_value()}`" if default.get_secret_value() else ""
    if isinstance(default, tuple):
        return f"`{','.join(map(str, default))}`"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _form(name: str) -> str:
    """How the variable is written, where that is not plain text."""
    kinds = kinds_of(Settings.model_fields[name].annotation)
    if dict in kinds or name in JSON_ONLY:
        return " As a variable: JSON."
    if tuple in kinds:
        return " As a variable: separated by commas."
    if is_secret(name):
        return f" Or `{variable(name)}_FILE`, a file that holds it."
    return ""


BEGIN, END = "<!-- settings: written by `python -m bot.settings_table` -->\n", "\n<!-- end of settings -->"


def with_table(readme: str) -> str:
    """The README with this version's table between its two marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{settings_table()}{END}{after}"


if __name__ == "__main__":
    _README = Path(__file__).parent.parent / "README.md"
    _README.write_text(with_table(_README.read_text(encoding="utf-8")), encoding="utf-8")
