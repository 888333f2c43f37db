"""What can go wrong between us and a Prometheus: each is told with what to do. A loopback server plays the other side."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from loopback_http import Query, served
from tool_door import NOW, DoorOfRun

from tools.builtin.query_metrics import TOOL
from tools.clients.prometheus import PrometheusClient
from tools.contracts import EvidenceStatus, ToolDeps
from tools.errors import ToolConfigError, ToolFailed
from tools.invoke import Invocation
from tools.skills import SkillRegistry

START = datetime(2026, 11, 30, 8, 10, tzinfo=UTC)


def success(result: list[Any], kind: str = "matrix", **more: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"status": "success", "data": {"resultType": kind, "result": result}, **more}


def series(values: list[str], **labels: str) -> dict[str, Any]:
    times = [(START + timedelta(minutes=n)).timestamp() for n in range(len(values))]
    return {"metric": labels, "values": [[at, value] for at, value in zip(times, values, strict=True)]}


async def ask(run_door: DoorOfRun, url: str, **arguments: Any) -> Invocation:
    client = PrometheusClient(url, timeout=2)
    try:
        door = run_door.open([TOOL], ToolDeps(skills=SkillRegistry(), prometheus=client))
        return await run_door.call(door, "query_metrics", **arguments)
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (400, {"status": "error", "errorType": "bad_data", "error": "parse error: unexpected end of input"}, "cannot read the query: parse error: unexpected end of input. Correct it"),
        (422, {"status": "error", "errorType": "execution", "error": "query processing would load too many samples"}, "could not run the query (HTTP 422 execution): query processing would load too many samples"),
        (503, {"status": "error", "errorType": "timeout", "error": "query timed out in expression evaluation"}, "HTTP 503 timeout"),
        (401, b"Unauthorized", "refuses us (HTTP 401): the operator must set prometheus_token"),
        (403, {"status": "error", "error": "no"}, "refuses us (HTTP 403)"),
        (200, b"<!DOCTYPE html><title>Log in</title>", "answers HTTP 200 with a web page, not with Prometheus's JSON"),
        (502, b"  <html>Bad gateway</html>", "answers HTTP 502 with a web page"),
        (200, b"hello", "no Prometheus JSON: check prometheus_url"),
        (404, b"404 page not found", "does not serve this call (HTTP 404)"),
        (302, b"", "answers HTTP 302"),
        (200, {"status": "success", "data": {"resultType": "streams", "result": []}}, "in an unknown form"),
    ],
)  # fmt: skip
async def test_a_refusal_is_passed_on_with_what_to_do(run_door: DoorOfRun, status: int, body: Any, told: str) -> None:
    with served(lambda path, query: (status, body)) as url:
        invocation = await ask(run_door, url, query="up")
    assert told in str(invocation.error)
    assert invocation.evidence_status is EvidenceStatus.FAILED


async def test_a_server_that_is_away_is_told(run_door: DoorOfRun) -> None:
    with served(lambda path, query: success([])) as url:
        pass
    invocation = await ask(run_door, url, mode="alerts")
    assert f"Prometheus at {url} is away" in str(invocation.error)


async def test_a_slow_server_is_told(run_door: DoorOfRun) -> None:
    released = threading.Event()

    def hangs(path: str, query: Query) -> tuple[int, Any]:
        released.wait(5)
        return success([])

    with served(hangs) as url:
        client = PrometheusClient(url, timeout=0.05)
        with pytest.raises(ToolFailed, match=r"did not answer within 0\.05 s: shorten the window"):
            await client.instant("up", NOW)
        await client.close()
        released.set()


async def test_an_answer_of_any_size_is_read_no_further_than_the_cap() -> None:
    with served(lambda path, query: (200, b"x" * 3_000_000)) as url:
        client = PrometheusClient(url, max_body_bytes=1_048_576)
        with pytest.raises(ToolFailed, match="larger than 1 MiB: aggregate"):
            await client.instant("up", NOW)
        await client.close()


async def test_a_query_of_a_million_series_is_refused_before_it_is_run(run_door: DoorOfRun) -> None:
    asked: list[str] = []

    def answer(path: str, query: Query) -> tuple[int, Any]:
        asked.append(query["query"][0])
        return success([series(["1000000"])])

    with served(answer) as url:
        invocation = await ask(run_door, url, query='{__name__!=""}')
    assert asked == ['count({__name__!=""})']
    assert '{__name__!=""} matches 1000000 series, more than 300' in str(invocation.error)
    assert "sum by (service)" in str(invocation.error)


async def test_nothing_found_names_the_query_and_the_window(run_door: DoorOfRun) -> None:
    with served(lambda path, query: success([])) as url:
        invocation = await ask(run_door, url, query='up{job="x"}', since="09:10", until="09:40")
    assert invocation.evidence_status is EvidenceStatus.NO_EVIDENCE
    assert invocation.refs[0].text == (
        'Query up{job="x"} returned no series from 2026-11-30T08:10:00Z to 2026-11-30T08:40:00Z.'
    )


async def test_points_that_are_no_numbers_do_not_spoil_a_series(run_door: DoorOfRun) -> None:
    rows = [series(["1", "NaN", "+Inf", "3"], __name__="x"), series(["NaN", "NaN"], __name__="y", job="a")]
    with served(lambda path, query: success([] if "count(" in query["query"][0] else rows)) as url:
        invocation = await ask(run_door, url, query="x", baseline=False)
    texts = [ref.text for ref in invocation.refs]
    assert texts[0].startswith("x{} from=2026-11-30T08:10:00Z")
    assert "min=1 max=3" in texts[0]
    assert "not_a_number=2" in texts[0]
    assert texts[1] == 'y{job="a"} no finite number in 2 points'


async def test_the_warnings_of_a_partial_answer_are_kept(run_door: DoorOfRun) -> None:
    with served(lambda path, query: success([series(["1", "1"], __name__="x")], warnings=["store-2 is away"])) as url:
        invocation = await ask(run_door, url, query="x")
    assert (invocation.details["warnings"], invocation.truncated) == (["store-2 is away"], True)


async def test_a_prefix_headers_and_an_aligned_window_are_sent() -> None:
    seen: list[tuple[str, Query]] = []

    def answer(path: str, query: Query) -> tuple[int, Any]:
        seen.append((path, query))
        return success([])

    with served(answer) as url:
        client = PrometheusClient(f"{url}/prometheus/", headers={"X-Scope-OrgID": "team"})
        await client.range("up", START, START + timedelta(minutes=1), 30)
        await client.close()
    path, query = seen[0]
    assert path == "/prometheus/api/v1/query_range"
    assert (query["step"], query["start"]) == (["30"], [f"{START.timestamp():.3f}"])


async def test_the_alerts_of_a_bare_query_front_end_come_from_their_series(run_door: DoorOfRun) -> None:
    row = {"metric": {"__name__": "ALERTS", "alertname": "Down", "alertstate": "firing", "job": "a"}, "value": [1, "1"]}

    def answer(path: str, query: Query) -> tuple[int, Any]:
        return (404, b"not found") if path.endswith("/alerts") else success([row], "vector")

    with served(answer) as url:
        invocation = await ask(run_door, url, mode="alerts")
    assert [ref.text for ref in invocation.refs] == ["alertname=Down state=firing job=a"]


async def test_native_histograms_without_plain_values_are_left_out(run_door: DoorOfRun) -> None:
    row = {"metric": {"__name__": "x"}, "histograms": [[1, {"count": "2"}]]}
    with served(lambda path, query: success([row])) as url:
        invocation = await ask(run_door, url, query="x")
    assert invocation.evidence_status is EvidenceStatus.NO_EVIDENCE


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"mode": "instant"}, "needs query, in PromQL"),
        ({"mode": "range"}, "needs query (PromQL) or match (words"),
        ({"mode": "labels", "label": "a/b"}, "field 'label'"),
        ({"query": "x" * 5_000}, "field 'query'"),
        ({"query": "up", "since": "soon"}, "since 'soon' is not a time"),
        ({"mode": "rnge"}, "field 'mode'"),
    ],
)
async def test_a_wrong_question_is_told_before_anything_is_sent(
    run_door: DoorOfRun, arguments: dict[str, Any], told: str
) -> None:
    with served(lambda path, query: pytest.fail("a request was sent")) as url:
        invocation = await ask(run_door, url, **arguments)
    assert told in str(invocation.error)


@pytest.mark.parametrize("address", ["", "prometheus:9090", "ftp://x", "http://", "file:///etc/passwd"])
def test_an_address_that_is_none_is_the_operators_to_mend(address: str) -> None:
    with pytest.raises(ToolConfigError, match="write http://prometheus:9090"):
        PrometheusClient(address)


async def test_no_password_of_the_address_is_shown() -> None:
    client = PrometheusClient("http://user:hunter2@127.0.0.1:9/prefix", timeout=1)
    assert client.shown_url == "http://127.0.0.1:9/prefix"
    with pytest.raises(ToolFailed) as failed:
        await client.check()
    assert "hunter2" not in str(failed.value)
    await client.close()
