"""Our packages have plain names; this says so clearly where another distribution's package stands in their place."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from bot.errors import ConfigError

OURS = ("agents", "tools", "storage")
ADVICE = "Install Proofthread in an environment of its own (uv tool install, a virtual environment, a container)."


def check_packages(names: Sequence[str] = OURS, home: Path = Path(__file__).parent.parent) -> None:
    """Raise ConfigError unless each package is found beside this one (openai-agents, say, also ships `agents`)."""
    for name in names:
        spec = find_spec(name)
        found = Path(spec.origin).parent.parent if spec and spec.origin else None
        if found is None or found.resolve() != home.resolve():
            raise ConfigError(f"Another package named `{name}` is installed at {found}, ours is in {home}. {ADVICE}")
