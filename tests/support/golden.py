"""Files whose change a reviewer should see. PROOFTHREAD_TEST_UPDATE=1 rewrites them."""

from __future__ import annotations

import os
from pathlib import Path


def check_golden(path: Path, text: str) -> None:
    if os.environ.get("PROOFTHREAD_TEST_UPDATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path.name} is missing: run once with PROOFTHREAD_TEST_UPDATE=1 and review it"
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs: review, then PROOFTHREAD_TEST_UPDATE=1"
