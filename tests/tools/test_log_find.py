"""Which files are logs, and why the others are not."""

import os
from pathlib import Path

import pytest

from tools.logs.find import find_logs


def touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("2026-11-30 08:43:12 INFO x\n")


def test_plain_rotated_and_packed_logs_are_found_and_other_files_named(tmp_path: Path) -> None:
    touch(tmp_path, "a.log", "a.log.1", "a.log.2.gz", "b-2026-11-30.log", "c.jsonl", "syslog", "notes.csv", "d.log.zst")
    found = find_logs([tmp_path], None, 100)
    assert [file.name for file in found.files] == ["a.log", "a.log.1", "a.log.2.gz", "b-2026-11-30.log", "c.jsonl", "syslog"]
    assert dict(found.skipped)["d.log.zst"].startswith("packed with zstd")
    assert "name it in glob" in dict(found.skipped)["notes.csv"]


@pytest.mark.parametrize(
    ("name", "service"),
    [
        ("order-service.log", "order-service"),
        ("order-service-2026-11-30.log.gz", "order-service"),
        ("order-service.log.1", "order-service"),
        ("order-service_access.log", "order-service"),
        ("payment/app.log", "payment"),
        ("payment/logs/error.log.2", "payment"),
        ("pods/shop_cart-7d97b69596-lmsfv_0f2c7a51-9a0e-4a1b-8c44-0a1b2c3d4e5f/cart/0.log", "cart"),
        (f"containers/cart-7d97b69596-lmsfv_shop_web-{'a' * 64}.log", "web"),
    ],
)
def test_the_service_comes_from_the_file_or_its_folder(tmp_path: Path, name: str, service: str) -> None:
    touch(tmp_path, name)
    assert [file.service for file in find_logs([tmp_path], None, 100).files] == [service]


def test_kubernetes_names_give_pod_and_namespace(tmp_path: Path) -> None:
    touch(tmp_path, f"cart-7d97b69596-lmsfv_shop_web-{'a' * 64}.log")
    assert find_logs([tmp_path], None, 100).files[0].labels == {"pod": "cart-7d97b69596-lmsfv", "namespace": "shop"}


def test_a_glob_chooses_by_name_or_by_path(tmp_path: Path) -> None:
    touch(tmp_path, "a/order.log", "b/order.log", "b/cart.log", "b/metrics.csv")
    for glob, names in {
        "order*": ["a/order.log", "b/order.log"],
        "b/*": ["b/cart.log", "b/metrics.csv", "b/order.log"],
        "**/cart.log": ["b/cart.log"],
    }.items():
        assert [file.name for file in find_logs([tmp_path], glob, 100).files] == names


def test_a_link_out_of_the_folder_is_refused_and_a_loop_ends(tmp_path: Path) -> None:
    inside, outside = tmp_path / "logs", tmp_path / "secret"
    touch(inside, "a.log")
    touch(outside, "b.log")
    (inside / "out.log").symlink_to(outside / "b.log")
    (inside / "loop").symlink_to(inside)
    (inside / "dangling.log").symlink_to(inside / "gone.log")
    found = find_logs([inside], None, 100)
    assert [file.name for file in found.files] == ["a.log"]
    reasons = dict(found.skipped)
    assert reasons["out.log"] == "a link that leads outside the log folders"
    assert "not followed" in reasons["loop"]
    assert reasons["dangling.log"] == "No such file or directory"


def test_a_file_reached_twice_is_read_once(tmp_path: Path) -> None:
    touch(tmp_path, "a.log")
    (tmp_path / "same.log").symlink_to(tmp_path / "a.log")
    assert len(find_logs([tmp_path, tmp_path / "a.log"], None, 100).files) == 1


def test_several_roots_and_patterns_carry_the_roots_name(tmp_path: Path) -> None:
    touch(tmp_path, "web-1/app.log", "web-2/app.log", "db/app.log")
    found = find_logs([tmp_path / "web-*", tmp_path / "nowhere"], None, 100)
    assert [file.name for file in found.files] == ["web-1/app.log", "web-2/app.log"]
    assert found.skipped == [(str(tmp_path / "nowhere"), "does not exist")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "closed/a.log")
    (tmp_path / "closed").chmod(0)
    found = find_logs([tmp_path], None, 100)
    (tmp_path / "closed").chmod(0o755)
    assert found.skipped == [(str(tmp_path / "closed"), "Permission denied")]


def test_too_many_files_end_the_walk_and_say_so(tmp_path: Path) -> None:
    touch(tmp_path, *(f"{number}.log" for number in range(12)))
    found = find_logs([tmp_path], None, 10)
    assert len(found.files) == 10
    assert "more than 10 files" in found.skipped[-1][1]
