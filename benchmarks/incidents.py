"""Where the offline backend ranks the true service of recorded faults (Train Ticket, 46 services; chance top-3: 6.5 %).

    python benchmarks/incidents.py [FOLDER]

FOLDER holds the incident folders (default: shared/incidents beside the repository). Each is asked at injection + 4 min
"What is wrong since HH:MM UTC?"; the engine makes its own look-ups with the real tools over the log file and over a
Prometheus on loopback. Printed: the rank among the services that its evidence ranks, and among the claims it would make.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.contracts import ExecutorDraft, ExecutorInput, PlannerPlan, ToolPermissions
from agents.llm.base import CitedRef, Exchange, ModelRequest, ToolCall, ToolOffer
from agents.offline.executor import turn
from agents.offline.ranking import ranked_services
from agents.offline.reading import collect
from bot.emulator.prometheus import PrometheusServer
from tools.clients.log_files import LogFiles
from tools.clients.prometheus import PrometheusClient
from tools.contracts import CallContext, EvidenceStatus, ToolDeps
from tools.errors import ToolFailed
from tools.registry import ToolRegistry
from tools.skills import SkillRegistry

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "incidents"
AFTER = timedelta(minutes=4)
MOST_REFS = 60
PLAN = PlannerPlan(selected_skill=None, selection_reason="", plan=("look",), reasoning="")


@dataclass(frozen=True)
class Result:
    name: str
    fault: str
    truth: str
    ranked: list[str]
    claimed: list[str]
    seconds: float

    @property
    def rank(self) -> int | None:
        return self.ranked.index(self.truth) + 1 if self.truth in self.ranked else None

    @property
    def claim_rank(self) -> int | None:
        return self.claimed.index(self.truth) + 1 if self.truth in self.claimed else None


async def investigate(folder: Path) -> Result:
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    injected = datetime.fromisoformat(truth["inject_time_utc"]).replace(tzinfo=UTC)
    now = injected + AFTER
    started = time.process_time()
    with PrometheusServer.of_file(folder / "metrics.csv", now.timestamp()) as server:
        client = PrometheusClient(server.url)
        deps = ToolDeps(skills=SkillRegistry(), logs=LogFiles([folder / "logs.jsonl.gz"]), prometheus=client)
        minute = (injected + timedelta(seconds=30)).replace(second=0)  # people name the nearest minute
        draft, exchanges = await _asked(f"What is wrong since {minute:%H:%M} UTC?", deps, now)
        await client.close()
    ranked = [piece.service for piece in ranked_services(collect(exchanges))]
    return Result(
        name=folder.name,
        fault=truth["fault_type"],
        truth=truth["root_cause_service"],
        ranked=ranked,
        claimed=_services(draft, exchanges),
        seconds=time.process_time() - started,
    )


async def _asked(question: str, deps: ToolDeps, now: datetime) -> tuple[ExecutorDraft, list[Exchange]]:
    registry, context = ToolRegistry.builtin(), CallContext("benchmark", now, ZoneInfo("UTC"))
    offers = tuple(
        ToolOffer(spec.name, spec.description, spec.input_model.model_json_schema(), spec.origin, spec.gives_evidence)
        for spec in registry.offered(deps)
    )
    given = ExecutorInput(question=question, planner_plan=PLAN, tool_permissions=ToolPermissions(method_tools=()))
    exchanges: list[Exchange] = []
    while True:
        request = ModelRequest(
            "executor", (), ExecutorDraft, given, "en", now, context.zone, offers, tuple(exchanges)
        )
        reply = turn(request)
        if not isinstance(reply, tuple):
            return reply, exchanges
        for call in reply:
            exchanges.append(await _exchange(call, registry, deps, context, exchanges))


async def _exchange(
    call: ToolCall, registry: ToolRegistry, deps: ToolDeps, context: CallContext, earlier: Sequence[Exchange]
) -> Exchange:
    spec, number = registry.get(call.name), len(earlier) + 1
    assert spec is not None
    try:
        result = await spec.run(spec.input_model.model_validate(call.arguments), deps, context)
    except ToolFailed as error:
        return Exchange(call, number, EvidenceStatus.FAILED, (), error=str(error))
    first = sum(len(exchange.refs) for exchange in earlier) + 1
    refs = tuple(
        CitedRef(f"E{first + index}", number, call.name, ref) for index, ref in enumerate(result.evidence_refs[:MOST_REFS])
    )
    return Exchange(call, number, result.evidence_status, refs, result.payload)


def _services(draft: ExecutorDraft, exchanges: Sequence[Exchange]) -> list[str]:
    refs = {cited.handle: cited.ref for exchange in exchanges for cited in exchange.refs}
    cited = (refs[citation.ref].scope.get("service", "") for claim in draft.claims for citation in claim.evidence)
    return list(dict.fromkeys(name for name in cited if name))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    found = sorted(path.parent for path in folder.glob("*/truth.json"))
    if not found:
        raise SystemExit(f"no incident folders in {folder}")
    print(f"{'incident':<20}{'fault':<16}{'service':<24}{'rank':>5}{'in claims':>11}{'ranked':>8}{'CPU s':>7}")
    results = [asyncio.run(investigate(path)) for path in found]
    for one in results:
        print(
            f"{one.name:<20}{one.fault:<16}{one.truth:<24}{one.rank or '-':>5}{one.claim_rank or '-':>11}"
            f"{len(one.ranked):>8}{one.seconds:>7.1f}"
        )
    for most in (1, 3, 5):
        print(f"top-{most}: {sum(one.rank is not None and one.rank <= most for one in results)} of {len(results)}")


if __name__ == "__main__":
    main()
