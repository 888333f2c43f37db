"""Alert channels of the bot as `serve` runs it: two processes, one database, one report, and what follows."""

from __future__ import annotations

from pathlib import Path

from alert_bot import ALERTS, ALERTS_ID, alertmanager
from pydantic import SecretStr
from slack_bot import SCHEMA
from slack_worker import part_of
from whole_bot import running

from bot.emulator.slack import SlackEmulator
from bot.manifest import manifest


async def test_two_bots_report_once_and_tell_the_end(tmp_path: Path, database_url: str) -> None:
    settings = {
        "database_url": SecretStr(database_url),
        "alert_channels": (ALERTS_ID,),
        "alert_debounce_seconds": 0.0,
        "logs_roots": (tmp_path,),
    }
    with SlackEmulator(schema=SCHEMA) as slack:
        slack.install(manifest())
        slack.behaviour.copies = (2, 3)
        async with running(slack, tmp_path / "1", **settings) as bot, running(slack, tmp_path / "2", **settings):
            ts = slack.post_as_bot(ALERTS, alertmanager())

            def parts() -> list[str]:
                return [part_of(one)[0] for one in slack.messages(ALERTS, ts)]

            await slack.wait_for(lambda: "answer" in parts(), 30)
            slack.post_as_bot(ALERTS, alertmanager(says="RESOLVED"))
            await slack.wait_for(lambda: "line" in parts(), 30)
            assert bot.desk.incidents.open() == []
            assert (parts().count("answer"), parts().count("line")) == (1, 1)
            assert len(bot.desk.trace.recent_runs(10)) == 1
            assert slack.calls("chat.startStream") == []
            assert slack.refused == []
            assert "Resolved: HighErrorRate" in slack.thread_text(ALERTS, ts)
