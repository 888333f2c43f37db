"""From words to series and queries."""

import pytest

from tools.metric_words import fits_labels, named_metrics, queries, settled_words, sorted_words

NAMES = [
    "http_server_p99_seconds",
    "http_requests_total",
    "hikaricp_connections_active",
    "hikaricp_connections_max",
    "request_duration_seconds_bucket",
    "request_duration_seconds_count",
    "request_duration_seconds_sum",
    "kafka_consumergroup_lag",
]
CHECKOUT = {"service": "checkout-service", "pod": "checkout-service-7d9f"}
ORDER = {"service": "order-service", "pod": "order-service-55c"}


def series(*names: str) -> list[dict[str, str]]:
    return [{"__name__": name, **labels} for name in names for labels in (CHECKOUT, ORDER)]


def asked(match: str, *names: str) -> list[str]:
    words = sorted_words(match, NAMES)
    return queries([labels for labels in series(*names) if fits_labels(labels, words)], words)


def test_words_of_metric_names_are_told_from_words_of_labels() -> None:
    words = sorted_words("connections order-service", NAMES)
    assert named_metrics(words, NAMES) == ["hikaricp_connections_active", "hikaricp_connections_max"]
    assert words.labels == ("order-service",)


def test_latency_means_durations_and_percentiles_too() -> None:
    words = sorted_words("latency", NAMES)
    assert "http_server_p99_seconds" in named_metrics(words, NAMES)
    assert "request_duration_seconds_bucket" in named_metrics(words, NAMES)
    assert words.labels == ()


def test_without_a_metric_word_every_metric_fits() -> None:
    assert named_metrics(sorted_words("order-service", NAMES), NAMES) == sorted(NAMES)


def test_a_gauge_is_read_as_it_is() -> None:
    assert asked("connections order-service", "hikaricp_connections_max") == [
        'hikaricp_connections_max{service="order-service"}'
    ]


def test_a_counter_is_read_as_a_rate() -> None:
    assert asked("requests", "http_requests_total") == ["rate(http_requests_total[5m])"]


def test_a_histogram_is_read_as_its_99th_percentile_and_its_parts_are_left_out() -> None:
    family = [f"request_duration_seconds_{part}" for part in ("bucket", "count", "sum")]
    assert asked("duration", *family) == [
        "histogram_quantile(0.99, sum by (le, service) (rate(request_duration_seconds_bucket[5m])))"
    ]


def test_a_workload_is_found_without_its_suffix() -> None:
    words = sorted_words("checkout-service", NAMES)
    assert fits_labels({"app": "checkout"}, words)
    assert fits_labels({"pod": "checkout-7d9f-abcde"}, words)
    assert not fits_labels({"app": "order"}, words)


@pytest.mark.parametrize("match", ["", "   ", ",,"])
def test_no_words_are_no_words(match: str) -> None:
    words = sorted_words(match, NAMES)
    assert (words.metrics, words.labels) == ((), ())


def test_at_most_eight_metrics_are_read() -> None:
    names = [f"queue_{n}_depth" for n in range(20)]
    words = sorted_words("depth", names)
    assert len(queries(series(*names), words)) == 8


def test_the_name_of_a_workload_is_a_label_word_though_a_metric_is_named_after_it() -> None:
    names = ["checkout_latency_seconds", "checkout_requests_total"]
    found = [{"__name__": name, "service": "checkout"} for name in names]
    words = settled_words(sorted_words("latency checkout", names), found)
    assert (words.metrics, words.labels) == (("latency",), ("checkout",))
