from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agents.offline.question import codes_of, read
from agents.offline.times import window_of

NOW = datetime(2026, 11, 30, 9, 10, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("slow since 14:00", "11-30 14:00", None),
        ("last 30 minutes", "11-30 16:40", None),
        ("errors in the past 3 hours", "11-30 14:10", None),
        ("between 14:00 and 15:30", "11-30 14:00", "11-30 15:30"),
        ("why at 2pm?", "11-30 13:45", "11-30 14:45"),
        ("since 08:41 UTC", "11-30 16:41", None),
        ("昨晚下单失败", "11-29 18:00", "11-30 06:00"),
        ("从下午2点开始变慢", "11-30 14:00", None),
        ("昨晚9点半", "11-29 21:15", "11-29 22:15"),
        ("最近半小时", "11-30 16:40", None),
        ("since 23:00", "11-29 23:00", None),
        ("errors since thursday", "11-26 00:00", None),
        ("logs on 2026-11-28", "11-28 00:00", "11-29 00:00"),
        ("since 2026-11-28", "11-28 00:00", None),
        ("周五以来的错误", "11-27 00:00", None),
        ("why is checkout slow since yesterday?", "11-29 00:00", None),
        ("errors since last night", "11-29 18:00", None),
        ("昨晚以来下单失败", "11-29 18:00", None),
        ("从昨天开始变慢", "11-29 00:00", None),
        ("what failed yesterday?", "11-29 00:00", "11-30 00:00"),
        ("slow yesterday from 03:00 to 03:10", "11-29 03:00", "11-29 03:10"),
        ("slow between 03:00 and 04:00 yesterday", "11-29 03:00", "11-29 04:00"),
        ("yesterday at 03:00", "11-29 02:45", "11-29 03:45"),
        ("errors since 16:00 yesterday", "11-29 16:00", None),
        ("yesterday since 14:00", "11-29 14:00", None),
        ("昨天从3点到4点", "11-29 03:00", "11-29 04:00"),
        ("yesterday 23:00 to 01:00", "11-29 23:00", "11-30 01:00"),
    ],
)
def test_time_words_are_read_in_the_askers_zone(text: str, since: str, until: str | None) -> None:
    window = window_of(text, NOW, SHANGHAI)
    assert window is not None
    assert window.since.astimezone(SHANGHAI).strftime("%m-%d %H:%M") == since
    assert (window.until.astimezone(SHANGHAI).strftime("%m-%d %H:%M") if window.until else None) == until


@pytest.mark.parametrize("text", ["port 8080 times out", "10.0.0.1:8080 fails", "post the last 10 logs", "pod web-1 restarts"])
def test_numbers_that_are_no_times_make_no_window(text: str) -> None:
    assert window_of(text, NOW, SHANGHAI) is None


@pytest.mark.parametrize(
    ("text", "names", "namespaces"),
    [
        ("What is the issue with job java-api-checker in namespace app-12", ("java-api-checker",), ("app-12",)),
        ("get last logs from video-streamer in the app-57 namespace", ("video-streamer",), ("app-57",)),
        ("Check rabbitmq's health", ("rabbitmq",), ()),
        ("Why is checkout slow?", ("checkout",), ()),
        ("orders-api in namespace prod cannot reach the database", ("orders-api",), ("prod",)),
        ("How many pods are in the test-1 namespace?", (), ("test-1",)),
    ],
)
def test_names_of_workloads_and_namespaces_are_told_apart(
    text: str, names: tuple[str, ...], namespaces: tuple[str, ...]
) -> None:
    question = read(text, NOW, SHANGHAI)
    assert (question.names, question.namespaces) == (names, namespaces)


def test_a_resource_stated_as_json_is_the_subject() -> None:
    question = read('What is wrong with << {"type": "pod", "name": "web-6f", "namespace": "app-2"} >> ?', NOW, SHANGHAI)
    assert question.subject is not None
    assert (question.kind, question.names, question.namespaces) == ("pod", ("web-6f",), ("app-2",))


def test_broken_json_between_the_marks_is_ignored() -> None:
    assert read("Explain << {type: pod} >>", NOW, SHANGHAI).subject is None


def test_a_chinese_question_names_services_by_their_english_words() -> None:
    assert {"checkout", "slow"} <= set(read("结账为什么变慢了？", NOW, SHANGHAI).terms)


def test_records_and_codes_are_told_apart() -> None:
    question = read("Why did order SO-20261130-4380 fail with ORD-5031?", NOW, SHANGHAI)
    assert (question.records, question.codes) == (("SO-20261130-4380",), ("ORD-5031",))


def test_codes_are_error_codes_and_exceptions_and_no_ordinary_capitals() -> None:
    text = "2026 UTC-8 HTTP/1.1 ORD-5031 java.net.UnknownHostException: db SHA256 ERR_1042 TLS13"
    assert codes_of(text) == ("ORD-5031", "UnknownHostException", "ERR_1042")


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("How many pods run?", "count"),
        ("show me the logs of web-1", "logs"),
        ("list all clusterroles", "listing"),
        ("Check rabbitmq's health", "health"),
        ("What does ORD-5031 mean?", "meaning"),
        ("checkout is slow", "why"),
        ("Which image does web-1 run?", "fact"),
        ("有多少个 pod", "count"),
    ],
)
def test_the_way_of_asking_is_recognised(text: str, ask: str) -> None:
    assert read(text, NOW, SHANGHAI).ask == ask


@pytest.mark.parametrize("text", ["<<{" * 40_000, "a-" * 60_000 + " namespace", '"' * 100_000, "last " * 20_000, "2026-11-30" * 9_000])
def test_a_huge_or_odd_question_is_read_at_once(text: str) -> None:
    assert len(read(text, NOW, SHANGHAI).text) <= 8_000


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("is order O-20390 ok?", ("O-20390",)),
        ("订单 10023 为什么失败？", ("10023",)),
        ("why did 550e8400-e29b-41d4-a716-446655440000 fail?", ("550e8400-e29b-41d4-a716-446655440000",)),
        ("orders since 2026-11-30 fail", ()),
        ("why are orders slow since 14:00?", ()),
    ],
)
def test_what_stands_behind_the_word_order_is_a_record(text: str, records: tuple[str, ...]) -> None:
    assert read(text, NOW, SHANGHAI).records == records


def test_a_deployment_with_a_name_is_no_question_about_changes() -> None:
    assert not read("Which image does the deployment mail-relay run?", NOW, SHANGHAI).asks_for_changes
    assert read("When was the last deployment of mail-relay?", NOW, SHANGHAI).asks_for_changes
