"""Short form of benchmarks/alert_storm.py: two real processes, one database, a Slack with its rate limits."""

from __future__ import annotations

from pathlib import Path

from storm import Storm, stormed


async def test_in_a_storm_nothing_is_lost_and_each_incident_has_one_run(tmp_path: Path, database_url: str) -> None:
    found = await stormed(tmp_path, database_url, Storm(300, incidents=6, channels=2, a_second=30.0, debounce=1.0))
    assert (found.lost, found.given_up, found.refused) == (0, 0, ())
    assert (found.incidents, found.closed) == (6, 6)
    assert (found.runs, found.most_runs_an_incident) == (6, 1)
    assert (found.reports, found.most_reports_a_thread) == (6, 1)
    assert found.closest >= 3.0, "a post a second and channel"
    before, after = found.megabytes[-2], found.megabytes[-1]
    assert max(now - then for then, now in zip(before, after, strict=True)) <= 20
