"""A server that is not installed skips its tests with the reason, and fails them where the CI says so."""

import pytest
from _pytest.outcomes import Failed, Skipped
from binaries import require_binary


def test_a_missing_server_skips_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROOFTHREAD_REQUIRE_SERVERS", raising=False)
    with pytest.raises(Skipped, match="apt-get install some-package"):
        require_binary("no-such-program", "some-package")


def test_the_ci_turns_the_skip_into_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFTHREAD_REQUIRE_SERVERS", "1")
    with pytest.raises(Failed, match="not installed"):
        require_binary("no-such-program")


def test_an_installed_program_is_found() -> None:
    assert require_binary("sh").endswith("/sh")
