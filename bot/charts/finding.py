"""Charts of reports: found in what a run recorded, drawn by one process beside the bot that ends when it has nothing to do."""

from __future__ import annotations

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from agents.contracts import RunOutcome
from agents.state import load_state
from bot.blocks.reader import Reader
from bot.charts.data import ChartSource, NoChart, chart_data
from bot.charts.drawing import ChartData, ChartWords
from bot.charts.process import answered, asked
from storage.engine import Database
from storage.trace import StoredInvocation, TraceStore
from tools.clients.prometheus import PrometheusClient

_LINE_BYTES = 1 << 20
# What an answer leads to that is no Prometheus's: a report goes out without its chart.
_ODD = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FoundChart:
    """`missing` says why there is none; empty where none was to be expected."""

    data: ChartData | None = None
    missing: str = ""


@dataclass
class Charts:
    """`find_seconds` bounds the look-up, which a report waits for, `draw_seconds` the picture; after `idle_seconds`
    without a picture the process ends and its memory is free."""

    db: Database
    prometheus: PrometheusClient | None = None
    find_seconds: float = 8.0
    draw_seconds: float = 20.0
    idle_seconds: float = 60.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _process: Process | None = None
    _rest: asyncio.TimerHandle | None = None
    _ending: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Of the process that draws, while there is one."""
        return self._process.pid if self._process is not None else None

    async def find(self, outcome: RunOutcome, reader: Reader) -> FoundChart:
        """What the report's chart shows. Raises StorageError and StateUnreadable."""
        alert = next(iter(outcome.report.alerts), None) if outcome.report else None
        if alert is None:
            return FoundChart()
        calls, now = await self.db.call(self._recorded, outcome.run_id)
        quotes = (quote for claim in outcome.claims for quote in claim.evidence)
        quoted = frozenset((str(quote.source_invocation_id), quote.raw_path) for quote in quotes)
        source = ChartSource(alert, calls, quoted, now, reader.zone, _words(reader))
        try:
            async with asyncio.timeout(self.find_seconds):
                return FoundChart(await chart_data(source, self.prometheus))
        except NoChart as error:
            why = reader.say(error.key, **error.values)
        except TimeoutError:
            why = reader.say("chart_slow")
        except _ODD as error:
            log.warning("run %s has no chart: %s: %s", outcome.run_id, type(error).__name__, error)
            why = reader.say("chart_odd")
        return FoundChart(missing=reader.say("chart_missing", why=why) if self.prometheus is not None else "")

    async def draw(self, data: ChartData) -> bytes | None:
        """A PNG; None, with a line in the log, where it cannot be drawn. One at a time: a storm of them waits."""
        async with self._turn:
            try:
                async with asyncio.timeout(self.draw_seconds):
                    return answered(await self._exchanged(asked(data)))
            except (OSError, ValueError, TimeoutError) as error:
                log.warning("a chart could not be drawn: %s", str(error) or type(error).__name__)
                return None
            finally:
                self._rest = asyncio.get_running_loop().call_later(self.idle_seconds, self._let_end)

    async def close(self) -> None:
        async with self._turn:
            await self._end()

    # ---------------------------------------------------------------- the process

    async def _exchanged(self, line: bytes) -> bytes:
        """Raises OSError where the process dies. One whose answer nobody read to its end is of no more use."""
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        reply = b""
        try:
            process.stdin.write(line)
            await process.stdin.drain()
            reply = await process.stdout.readline()
        finally:
            if not reply.endswith(b"\n"):
                await self._end()
        if not reply:
            raise ConnectionResetError("the drawing process ended")
        return reply

    async def _running(self) -> Process:
        if self._rest is not None:
            self._rest.cancel()
        if self._process is None or self._process.returncode is not None:
            command = (sys.executable, "-m", "bot.charts.process")
            self._process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=_LINE_BYTES)
        return self._process

    def _let_end(self) -> None:
        self._ending = asyncio.create_task(self.close())

    async def _end(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    # ---------------------------------------------------------------- in the database's threads

    def _recorded(self, run_id: str) -> tuple[list[StoredInvocation], datetime]:
        store = TraceStore(self.db)
        return store.invocations(run_id), load_state(store.run(run_id).state).now


def _words(reader: Reader) -> ChartWords:
    english = Reader(reader.words, "en", reader.zone)
    return ChartWords(
        threshold=(reader.say("chart_threshold"), english.say("chart_threshold")),
        started=(reader.say("chart_started"), english.say("chart_started")),
    )
