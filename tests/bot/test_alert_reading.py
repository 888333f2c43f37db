"""What alert posts are made of: words, times, named values, headings, and what is no alert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.contracts import Alert
from bot.alert_reading.build import Links
from bot.alert_reading.headings import read_heading
from bot.alert_reading.labels import pairs_of
from bot.alert_reading.markup import bare, links_in, plain
from bot.alert_reading.times import read_time
from bot.alert_reading.words import severity_of, severity_written, status_of
from bot.alerts import parse_alerts, senders

OWN = Path(__file__).resolve().parents[1] / "data" / "alerts"


def _bot(text: str = "", username: str = "monitor", **more: Any) -> dict[str, Any]:
    return {"type": "message", "subtype": "bot_message", "text": text, "ts": "1.1", "username": username, "bot_id": "B1", **more}


@pytest.mark.parametrize(
    ("word", "level"),
    [
        ("Disaster", "critical"), ("P1", "critical"), ("sev-1", "critical"), ("紧急", "critical"), ("критическая", "critical"),
        ("حرجة", "critical"), ("심각", "critical"), ("major", "high"), ("ERROR", "high"), ("P2", "high"), ("высокая", "high"),
        ("Average", "warning"), ("🟡 Warning", "warning"), ("警告", "warning"), ("경고", "warning"), ("notice", "info"), ("P5", "info"),
        ("none", None), ("Not classified", None), ("", None), ("checkout", None),
    ],
)  # fmt: skip
def test_a_level_is_known_in_any_language(word: str, level: str | None) -> None:
    assert severity_of(word) == level


@pytest.mark.parametrize(("word", "raw"), [("High", "high"), ("p2", "P2"), ("[CRITICAL]", "critical"), ("严重", "严重"), (" ", None)])
def test_a_level_is_kept_as_written(word: str, raw: str | None) -> None:
    assert severity_written(word) == raw


@pytest.mark.parametrize(
    ("word", "status"),
    [("FIRING", "firing"), ("Recovered", "resolved"), ("已恢复", "resolved"), ("нет данных", "no_data"), ("INSUFFICIENT_DATA", "no_data"),
     ("복구", "resolved"), ("تم الحل", "resolved"), ("acked", "acknowledged"), ("障害", "firing"), ("maybe", None)],
)  # fmt: skip
def test_a_status_is_known_in_any_language(word: str, status: str | None) -> None:
    assert status_of(word) == status


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-11-30T08:15:01.532Z", "2026-11-30T08:15:01.532Z"),
        ("2026-11-30 16:20:05 +08:00", "2026-11-30T08:20:05Z"),
        ("2026-11-30 08:20:05.123456789 +0000 UTC", "2026-11-30T08:20:05.123456789Z"),
        ("2026.11.30 09:14:22", "2026-11-30T09:14:22"),
        ("30.11.2026 09:14:22 MSK", "2026-11-30T06:14:22Z"),
        ("2026年11月30日 下午4:20:05", "2026-11-30T16:20:05"),
        ("Mon Nov 30 2026 08:01:22 UTC", "2026-11-30T08:01:22Z"),
        ("Mon, 30 Nov 2026 08:01:22 GMT", "2026-11-30T08:01:22Z"),
        ("Nov 30, 2026 8:01 PM UTC", "2026-11-30T20:01:00Z"),
        ("Mon Nov 30 08:01:22 UTC 2026", "2026-11-30T08:01:22Z"),
        ("30/11/2026 08:00:00", "2026-11-30T08:00:00"),
        ("1796000200", "2026-11-30T00:56:40Z"),
        ("1796000200123", "2026-11-30T00:56:40.123Z"),
        ("2026-11-30 08:00:00 CST", "2026-11-30T08:00:00"),
        ("04/05/2026 08:00:00", None),
        ("since 08:05Z", None),
        ("2026-11-30", None),
        ("2026-13-45 08:00:00", None),
        ("12 minutes ago", None),
    ],
)
def test_a_time_is_read_or_left_out_but_never_guessed(text: str, read: str | None) -> None:
    assert read_time(text) == read


def test_a_zone_that_the_field_names_counts() -> None:
    assert read_time("2026-11-30 15:41:12", zone="Asia/Shanghai") == "2026-11-30T07:41:12Z"
    assert read_time("2026-11-30 15:41:12", zone="UTC+8") == "2026-11-30T07:41:12Z"
    assert read_time("2026-11-30 15:41:12", zone="Nowhere/Land") == "2026-11-30T15:41:12"


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("*服务:* order-service", [("服务", "order-service")]),
        (" • *severity:* `critical`", [("severity", "critical")]),
        (" - alertname = HighLoad", [("alertname", "HighLoad")]),
        ("environment: `production`  level: `error`", [("environment", "production"), ("level", "error")]),
        ("Value: A=0.143, C=1", [("Value", "A=0.143, C=1")]),
        ("https://a.example/x: see there", []),
        ("at 08:15 it went on", []),
        ("this is a whole sentence that goes on: and on", []),
    ],
)
def test_named_values_are_told_from_sentences(text: str, pairs: list[tuple[str, str]]) -> None:
    assert pairs_of(text) == pairs


@pytest.mark.parametrize(
    ("line", "name", "status", "severity"),
    [
        ("[CRITICAL] disk full", "disk full", "firing", "CRITICAL"),
        ("Resolved in 12m 3s: lag", "lag", "resolved", None),
        ("🔴 API is down", "API", "firing", None),
        ("disk-usage: critical", "disk-usage", "firing", "critical"),
        ("【严重告警】CPU使用率过高", "CPU使用率过高", "firing", "严重"),
        ("High latency [P2]", "High latency", "firing", "P2"),
        ("PROBLEM: load - CRITICAL", "load", "firing", "CRITICAL"),
        ("Alert resolved: load is CRITICAL", "load", "resolved", "CRITICAL"),
        ("CRITICAL: latency at p99.9 is high", "latency at p99.9 is high", "firing", "CRITICAL"),
        ("Latency: high", "Latency", "firing", "high"),
        ("The deploy of checkout is done", "The deploy of checkout is done", None, None),
    ],
)
def test_a_heading_gives_name_status_and_level(line: str, name: str, status: str | None, severity: str | None) -> None:
    heading = read_heading(line)
    assert (heading.name, heading.status, heading.severity) == (name, status, severity)


def test_markup_is_read_once_and_addresses_stay_whole() -> None:
    markup = "&lt;b&gt; &amp;lt; <https://x.example/?a=1&amp;region=2|see *here*> <!channel> <@U1>"
    assert plain(markup) == "<b> &lt; see *here* @channel @U1"
    assert [(link.label, link.url) for link in links_in(markup)] == [("see here", "https://x.example/?a=1&region=2")]
    assert (bare("*a* 2 * 3"), bare("*.example.com"), bare("_x_"), bare("disk_space._data")) == ("a 2 * 3", "*.example.com", "x", "disk_space._data")


def test_links_keep_their_kinds_and_no_address_twice() -> None:
    links = Links().add_all([("Runbook", "https://a.example/1"), ("View", "https://a.example/1"), ("Runbook 2", "https://a.example/2")])
    assert links.add("source", "javascript:alert(1)").by_kind() == {"runbook": "https://a.example/1", "runbook_2": "https://a.example/2"}


@pytest.mark.parametrize(
    ("fired", "ended"),
    [
        ("zabbix_problem_average", "zabbix_resolved_new_post"),
        ("grafana_webhook_firing", "grafana_resolved"),
        ("grafana_legacy_alerting", "grafana_legacy_ok"),
        ("unknown_nagios_problem", "unknown_nagios_recovery"),
        ("unknown_chinese_brackets", "unknown_chinese_recovery"),
        ("unknown_russian", "unknown_russian_recovery"),
    ],
)
def test_a_recovery_has_its_problems_fingerprint(fired: str, ended: str) -> None:
    first, second = (_first_alert(name) for name in (fired, ended))
    assert (first.status, second.status) == ("firing", "resolved")
    assert first.fingerprint == second.fingerprint


def test_each_pod_is_an_alert_of_its_own() -> None:
    def read(pod: str) -> str:
        return parse_alerts(_bot(f"CRITICAL: crash looping\nPod: {pod}\nNamespace: shop")).alerts[0].fingerprint

    assert read("cart-1") != read("cart-2")


def test_another_host_has_another_fingerprint_and_another_value_has_not() -> None:
    def print_of(host: str, value: str) -> str:
        return parse_alerts(_bot(f"CRITICAL: disk full\nHost: {host}\nValue: {value}")).alerts[0].fingerprint

    assert print_of("db-1", "91%") == print_of("db-1", "97%") != print_of("db-2", "97%")


def test_this_bots_own_post_is_known_by_any_of_its_ids() -> None:
    for own in ("B1", "U1", "A1"):
        event = _bot("CRITICAL: disk full", user="U1", app_id="A1")
        assert parse_alerts(event, own_bot_ids=[own]).ignored_reason == "this bot's own post"
    assert parse_alerts(_bot("CRITICAL: disk full"), own_bot_ids=["", "B2"]).count == 1


def test_an_edit_that_only_adds_a_preview_is_no_alert_and_one_with_other_words_is() -> None:
    before = {"text": "CRITICAL: disk full on db-1", "bot_id": "B1", "username": "monitor", "ts": "5.5"}
    event = {"type": "message", "subtype": "message_changed", "ts": "6.6", "previous_message": before}
    preview = {**before, "attachments": [{"from_url": "https://x.example", "title": "CRITICAL: a page"}]}
    assert parse_alerts({**event, "message": preview}).alerts == ()
    assert parse_alerts({**event, "message": preview}).update_of_ts == "5.5"
    changed = parse_alerts({**event, "message": {**before, "text": "RESOLVED: disk full on db-1"}})
    assert (changed.status, changed.update_of_ts) == ("resolved", "5.5")


def test_a_senders_post_in_its_own_thread_updates_the_first_one() -> None:
    parsed = parse_alerts(_bot("RESOLVED: disk full on db-1", thread_ts="0.9"))
    assert (parsed.status, parsed.update_of_ts) == ("resolved", "0.9")


def test_a_deploy_note_is_kept_as_a_change() -> None:
    change = parse_alerts(_bot(":rocket: *orders* 5.12.0 deployed to *production* by ana", "deploybot")).change
    assert change is not None
    assert (change.kind, change.service, change.version, change.environment, change.author) == ("deploy", "orders", "5.12.0", "production", "ana")
    back = parse_alerts(_bot("Rolled back cart to v1.2.2 in production", "deploybot")).change
    assert back is not None
    assert (back.kind, back.service) == ("rollback", "cart")


@pytest.mark.parametrize(
    ("text", "service", "version", "environment"),
    [
        ("Deploy started: checkout v5.12.0 → production", "checkout", "v5.12.0", "production"),
        ("checkout v5.12.0 is now live in production", "checkout", "v5.12.0", "production"),
        ("部署完成：订单服务 v1.2.3 已发布到生产环境，操作人: 李娜", "订单服务", "v1.2.3", "生产"),
        ("リリース完了: checkout v2.3.0 (本番)", "checkout", "v2.3.0", "本番"),
        ("Config change: pool_size 20 -> 10 (prod)", None, None, "prod"),
    ],
)
def test_a_deploy_note_is_understood_or_left_open(text: str, service: str | None, version: str | None, environment: str) -> None:
    change = parse_alerts(_bot(text, "deploybot")).change
    assert change is not None
    assert (change.service, change.version, change.environment) == (service, version, environment)


@pytest.mark.parametrize("text", ["[RESOLVED] deployment latency high", "CRITICAL: deployment checkout has no replicas"])
def test_an_alert_about_a_deployment_is_no_deploy_note(text: str) -> None:
    parsed = parse_alerts(_bot(text))
    assert (parsed.count, parsed.change) == (1, None)


@pytest.mark.parametrize(
    "text",
    ["Alert summary (last 7 days)\nFiring: 14", "每日告警汇总：共 14 条", "日次アラートレポート: 14件", "Summary of the last 24 hours: 14 alerts"],
)
def test_a_digest_is_no_alert(text: str) -> None:
    parsed = parse_alerts(_bot(text))
    assert (parsed.alerts, parsed.ignored_reason) == ((), "a digest, not an alert")


@pytest.mark.parametrize("text", ["might be the 14:00 deploy of checkout v5.1.0?", "should we deploy v5.1.0 to prod", "deploy is green"])
def test_talk_of_a_deploy_is_no_change(text: str) -> None:
    assert parse_alerts({"user": "U1", "client_msg_id": "c", "text": text, "ts": "1.1"}).change is None


def test_senders_have_names_of_their_own_and_the_generic_one_is_last() -> None:
    names = [sender.name for sender in senders()]
    assert len(set(names)) == len(names)
    assert names[-1] == "unknown"


def test_a_version_or_a_percentile_is_no_host() -> None:
    for text in ("CRITICAL: errors on v1.2.3", "CRITICAL: latency on p99.9"):
        assert parse_alerts(_bot(text)).alerts[0].labels == {}


def test_150_alerts_of_a_post_are_all_read() -> None:
    lines = "\n".join(f"• [CRITICAL] disk full on db-{number}" for number in range(150))
    parsed = parse_alerts(_bot(f"150 alerts firing\n{lines}"))
    assert (parsed.count, len({alert.labels["host"] for alert in parsed.alerts})) == (150, 150)


def _first_alert(name: str) -> Alert:
    (path,) = OWN.glob(f"1??_{name}.json")
    return parse_alerts(json.loads(path.read_text(encoding="utf-8"))["event"]).alerts[0]
