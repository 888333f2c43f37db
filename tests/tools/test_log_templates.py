"""Which lines are of one kind."""

import pytest

from tools.logs.compare import Baseline, ranked, spread
from tools.logs.templates import Kind, Tally


def templates_of(*lines: str) -> list[str]:
    tally = Tally()
    for line in lines:
        tally.kind("shop", None, line).count += 1
    return sorted(kind.template for kind in tally.merged())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("order 17 took 34ms", "order 99812 took 1.5ms"),
        ("from 10.0.0.1:8080", "from 192.168.7.12:443"),
        ("trace 6f3cbf058c2765548a39ad724905d6a1", "trace 9d3aace6e511e88ca48f3de2a942b10d"),
        ("route f3d4d4ef-693b-4456-8eed-59c0d717dd08", "route 0b23bd3e-876a-4af3-b920-c50a90c90b04"),
        ("at 2026-11-30T08:43:12.250Z", "at 2026-11-29T17:01:00Z"),
        ("pod ts-travel-service-64469b5b48-5rjvb", "pod ts-travel-service-5c66d57d58-6mp2b"),
        ("耗时 34 毫秒", "耗时 2071 毫秒"),
    ],
)
def test_lines_that_differ_in_values_are_one_kind(one: str, other: str) -> None:
    assert len(templates_of(one, other)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pool exhausted", "pool recovered"),
        ("failed with E1042", "failed with E2001"),
        ("ORA-01555: snapshot too old", "ORA-12541: no listener"),
        ('"GET /a HTTP/1.1" 200 17', '"GET /a HTTP/1.1" 503 17'),
        ("status=200 took 3ms", "status=500 took 3ms"),
        ("exit code 0", "exit code 137"),
        ("user alice logged in", "user bob logged in"),
    ],
)
def test_lines_that_say_different_things_stay_apart(one: str, other: str) -> None:
    assert len(templates_of(one, other)) == 2


def test_a_place_with_six_values_is_variable() -> None:
    names = ("alice", "bob", "carol", "dave", "erin", "frank")
    assert templates_of(*(f"user {name} logged in" for name in names)) == ["user <*> logged in"]


def test_templates_do_not_depend_on_the_order_of_lines() -> None:
    lines = [f"train number: {letter}12{number}] left {city}" for number in range(9) for letter in "GDZ" for city in ("a", "b")]
    assert templates_of(*lines) == templates_of(*reversed(lines))


def test_a_million_free_texts_stay_in_bounded_memory() -> None:
    tally = Tally()
    for number in range(40_000):
        word = "".join(chr(97 + (number >> shift) % 16) for shift in range(0, 20, 4))
        tally.kind("shop", "INFO", f"{word} {word[::-1]} x {word}").count += 1
        if number % 1000 == 0:
            tally.keep_small()
    assert len(tally.kinds) < 25_000
    assert tally.spilled > 0
    assert sum(kind.count for kind in tally.merged()) == 40_000


def test_codes_in_great_number_are_masked_in_the_end() -> None:
    tally = Tally()
    for number in range(9_000):
        tally.kind("shop", "INFO", f"order ORD-{number} placed").count += 1
        if number % 1000 == 0:
            tally.keep_small()
    assert [kind.count for kind in tally.merged()] == [9_000]


def test_new_and_gone_come_before_the_noise() -> None:
    kinds = [
        Kind("cart", "INFO", "steady", 5000, 4900, sample=b"x"),
        Kind("cart", "ERROR", "fresh", 19, 0, sample=b"x"),
        Kind("route", "INFO", "vanished", 0, 54, sample=b"x"),
        Kind("cart", "WARN", "known", 7, 7, sample=b"x"),
    ]
    baseline = Baseline(1.0)
    assert [kind.template for kind in ranked(kinds, baseline)] == ["fresh", "vanished", "known", "steady"]
    assert [baseline.status(kind) for kind in kinds] == ["same", "new", "gone", "same"]


def test_without_lines_before_nothing_is_called_new() -> None:
    assert Baseline(None).status(Kind("cart", "ERROR", "boom", 19, 0)) == "not_compared"


def test_a_count_that_grew_is_shifted_only_where_chance_cannot_explain_it() -> None:
    assert Baseline(1.0).status(Kind("cart", "INFO", "x", 4, 1)) == "same"
    assert Baseline(1.0).status(Kind("cart", "INFO", "x", 40, 10)) == "shifted"
    assert Baseline(4.0).status(Kind("cart", "INFO", "x", 40, 10)) == "same"  # the window is covered four times as long


def test_one_loud_service_leaves_room_for_others() -> None:
    loud = [Kind("loud", "ERROR", f"l{number}", 100 - number) for number in range(20)]
    quiet = [Kind("quiet", "ERROR", "q", 1)]
    chosen = spread([*loud, *quiet], 9)
    assert [kind.service for kind in chosen].count("quiet") == 1
    assert len(chosen) == 9
