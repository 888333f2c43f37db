"""Names inside names: what an alert is called must neither cut nor stand for what it is about."""

import pytest
from alert_posts import fires
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import Alert
from bot.incidents.course import title_of
from bot.incidents.grouping import related
from bot.incidents.names import SAYS_NOTHING, SERVICE_TAIL, names_it, names_of, subject_of

WORDS = st.from_regex(r"[a-z]{3,9}", fullmatch=True)
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(lambda parts: "".join(part.capitalize() for part in parts))
JOINTS = st.sampled_from(["", "-", ".", "_", "-svc-", "-1-"])


def titled(name: str, value: str) -> Alert:
    return fires(name, raw=f"[FIRING:1] {name} ({value} critical)")


@given(NAMES, WORDS, JOINTS, st.booleans(), st.sampled_from([str.lower, str.upper, str]))
def test_a_value_that_holds_the_alerts_name_stays_whole(name: str, word: str, joint: str, is_first: bool, cased: type[str]) -> None:
    value = cased(f"{name}{joint}{word}" if is_first else f"{word}{joint}{name}")
    whole = SERVICE_TAIL.sub("", value.lower())
    assert names_of(titled(name, value)).values == {whole} - SAYS_NOTHING


@given(NAMES, WORDS, WORDS, JOINTS)
def test_alerts_of_one_name_about_two_things_named_after_it_stay_apart(name: str, one: str, other: str, joint: str) -> None:
    pair = [titled(name, f"{name.lower()}{joint or '-'}{word}") for word in (one, other)]
    first, second = (names_of(alert) for alert in pair)
    assert related(first, second, same_alert=True) == (one == other)


@given(WORDS, st.integers(1, 99), st.integers(0, 9))
def test_a_machine_is_not_named_by_one_whose_name_goes_on(word: str, number: int, digit: int) -> None:
    machine = f"{word}-{number}"
    assert names_it(f"{machine} is down", machine.upper())
    assert not names_it(f"{machine}{digit} is down", machine)
    assert not names_it(f"{machine}-eu is down", machine)
    assert not names_it(f"x{machine} is down", machine)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (titled("DiskFull", "diskfull-svc"), titled("DiskFull", "diskfull-web")),
        (titled("Pay", "payments-svc"), titled("Pay", "payouts-svc")),
        (fires("node-down-5m", raw="node-down-5m"), fires("node-down-5m", raw="node-down-5m", host="web-1")),
        (fires("Host down", raw="Host web-1 is down"), fires("Host down", raw="Host web-12 is down")),
    ],
)
def test_what_only_looks_alike_stays_apart(one: Alert, other: Alert) -> None:
    assert not related(names_of(one), names_of(other), same_alert=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (titled("DiskFull", "diskfull-svc"), fires("Slow", service="diskfull")),
        (titled("DiskFull", "orders-svc"), fires("Slow", service="Orders-Service")),
        (titled("disk full", "orders,"), titled("Slow", "orders")),
    ],
)
def test_a_title_value_is_read_as_a_label_is(one: Alert, other: Alert) -> None:
    assert related(names_of(one), names_of(other), same_alert=False)


def test_a_subject_is_named_unless_the_alerts_name_says_it() -> None:
    entities = {"rank": [1, 1], "alerts": ["A"]}
    assert title_of(entities | {"name": "web-12 is slow", "subject": "web-1"}) == "web-1: web-12 is slow"
    assert title_of(entities | {"name": "CheckoutSlow", "subject": "checkout"}) == "CheckoutSlow"


def test_a_dotted_label_names_the_subject() -> None:
    assert subject_of(fires("Slow", **{"service.name": "Orders"})) == "Orders"
