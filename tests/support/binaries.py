"""Where a server's binary is, or why a test cannot run."""

import os
import shutil

import pytest

SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/usr/libexec"])


def find_binary(name: str) -> str | None:
    return shutil.which(name, path=SEARCHED)


def require_binary(name: str, package: str | None = None) -> str:
    """The path of an installed program. Without it the test is skipped, or fails where PROOFTHREAD_REQUIRE_SERVERS=1."""
    found = find_binary(name)
    if found is None:
        missing(f"{name} is not installed: apt-get install {package or name}")
    return found


def missing(reason: str) -> None:
    if os.environ.get("PROOFTHREAD_REQUIRE_SERVERS") == "1":
        pytest.fail(f"{reason} (PROOFTHREAD_REQUIRE_SERVERS=1)", pytrace=False)
    pytest.skip(reason)
