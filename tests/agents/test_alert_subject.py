"""What a storm of alerts is about."""

from offline_alerts import alert

from agents.alert_subject import main_entity, shared_machine
from agents.contracts import Alert


def storm(count: int, node: str = "node-7") -> list[Alert]:
    return [alert(f"Alert{i}", {"pod": f"cart-{i}", "node": node if i % 2 else f"{node}:9100"}) for i in range(count)]


def test_a_storm_is_about_the_machine_that_most_of_its_alerts_name() -> None:
    strangers = [alert("DiskFull", {"pod": "db-0", "node": "node-2"})] * 4
    assert main_entity([*strangers[:1], *storm(39)]) == "node-7"


def test_two_alerts_of_one_machine_are_about_the_first_ones_thing() -> None:
    assert main_entity(storm(2)) == "cart-0"


def test_a_machine_that_half_of_the_alerts_name_is_not_shared() -> None:
    assert shared_machine([*storm(3), *storm(3, "node-8")]) is None
