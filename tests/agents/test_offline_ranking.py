from offline_world import NOW, UTC_ZONE, Answers, executor_request  # noqa: F401

from agents.offline.question import read
from agents.offline.ranking import kind_score, ranked_services, surprise, traffic
from agents.offline.reading import collect
from agents.offline.topology import depths


def ranking(answers: Answers) -> list[str]:
    return [piece.service for piece in ranked_services(collect(answers.exchanges))]


def test_surprise_is_nothing_where_nothing_changed_and_grows_with_the_change() -> None:
    assert surprise(50, 50) == 0
    assert 0 < surprise(60, 50) < surprise(100, 50) < surprise(100, 0)


def test_a_new_error_outranks_a_new_line_and_a_shift() -> None:
    answers = Answers().logs("a ERROR 20 0 08:43 boom at dawn", "b INFO 20 0 08:43 hello there", "c INFO 60 40 08:10 tick tock")
    assert ranking(answers)[:2] == ["a", "b"]


def test_a_vanished_line_counts_like_a_new_one() -> None:
    gone, new = Answers().logs("a INFO 0 54 08:10 routes listed"), Answers().logs("a INFO 54 0 08:43 routes listed")
    scores = [kind_score(collect(answers.exchanges).kinds[0]) for answers in (gone, new)]
    assert min(scores) > 1
    assert scores[0] > scores[1] / 5


def test_the_best_piece_of_a_service_decides_and_volume_adds_nothing() -> None:
    busy = [f"busy INFO 60 40 08:10 step {word} done well" for word in ("one", "two", "three", "four", "five", "six")]
    assert ranking(Answers().logs("quiet ERROR 9 0 08:43 boom at dawn", *busy))[0] == "quiet"


def test_a_shift_that_all_traffic_shares_is_no_news() -> None:
    shared = [f"svc-{name} INFO 200 100 08:10 request handled by {name} now" for name in "abcde"]
    kinds = collect(Answers().logs(*shared).exchanges).kinds
    assert traffic(kinds) == 2
    assert all(kind_score(kind, traffic(kinds)) == 0 for kind in kinds)


def test_a_line_known_from_the_hours_before_is_not_new() -> None:
    line = "config INFO 72 0 08:43 reading the configuration of the direct ticket allocation"
    older = "config INFO 9 0 05:10 reading the configuration of the direct ticket allocation"
    answers = Answers().logs(line)
    assert ranking(answers) == ["config"]
    answers.logs(older, service="config", compare=False)
    assert ranking(answers) == []


def test_topology_leads_from_the_asked_service_to_the_one_its_lines_name() -> None:
    answers = Answers().logs(
        "checkout-service ERROR 50 0 08:43 call to order-service failed",
        "order-service ERROR 50 0 08:43 no connection",
        "recommendation-service WARN 500 0 08:30 cache miss",
    )
    reached = depths(read("Why is checkout slow?", NOW, UTC_ZONE), collect(answers.exchanges))
    assert reached == {"checkout-service": 0, "order-service": 1}


def test_a_question_that_names_no_service_reaches_all() -> None:
    answers = Answers().logs("a ERROR 5 0 08:43 boom at dawn", "b ERROR 5 0 08:43 bang at dusk")
    assert set(depths(read("What is wrong?", NOW, UTC_ZONE), collect(answers.exchanges))) == {"a", "b"}
