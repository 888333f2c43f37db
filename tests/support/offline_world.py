"""Hand-made answers of tools for tests of the offline backend."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from agents.contracts import ExecutorDraft, ExecutorInput, KnowledgeDomain, PlannerPlan, RetryContext, ToolPermissions
from agents.llm.base import CitedRef, Exchange, ModelRequest, ToolCall, ToolOffer
from tools.contracts import NO_EVIDENCE_PATH, EvidenceRef, EvidenceStatus

NOW = datetime(2026, 11, 30, 9, 10, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
RUNBOOK = "Cause: ORD-5031 means that the connection pool of order-service is exhausted. Raise the size again."


class Answers:
    """Exchanges in the order of the calls, with handles counted through."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self._refs = 0

    def found(self, tool: str, arguments: dict[str, Any], refs: list[EvidenceRef], **payload: Any) -> "Answers":
        return self._add(tool, arguments, EvidenceStatus.SUPPORTED, refs, payload)

    def nothing(self, tool: str, arguments: dict[str, Any]) -> "Answers":
        text = f"{tool} found nothing of the sort in the window"
        refs = [EvidenceRef(raw_path=NO_EVIDENCE_PATH, text=text, scope={"source": tool})]
        return self._add(tool, arguments, EvidenceStatus.NO_EVIDENCE, refs, {})

    def failed(self, tool: str, arguments: dict[str, Any], error: str) -> "Answers":
        call = ToolCall("x", tool, arguments)
        self.exchanges.append(Exchange(call, self._id, EvidenceStatus.FAILED, (), error=error))
        return self

    def text(self, tool: str, arguments: dict[str, Any], output: str) -> "Answers":
        """The lines of an outside tool's output."""
        scope = {"source": tool} | {key: str(value) for key, value in arguments.items()}
        lines = [line.strip() for line in output.splitlines()]
        refs = [EvidenceRef(raw_path=f"$.lines[{at}]", text=line, scope=scope) for at, line in enumerate(lines) if line]
        return self.found(tool, arguments, refs)

    def logs(self, *templates: str, **arguments: Any) -> "Answers":
        """Each template is `service level count before HH:MM line…`; the line stands behind the time."""
        return self.found("query_logs", {"compare": True, **arguments}, [_log(at, one) for at, one in enumerate(templates)])

    def changes(self, *lines: str) -> "Answers":
        """Each is `service HH:MM summary…`."""
        refs = []
        for at, one in enumerate(lines):
            service, time, summary = one.split(" ", 2)
            text = f'time=2026-11-30T{time}:00Z kind=config service={service} summary="{summary}"'
            refs.append(EvidenceRef(raw_path=f"$.changes[{at}]", text=text, scope={"service": service}))
        return self.found("query_changes", {}, refs)

    def knowledge(self, *chunks: str, domain: str = "runbooks") -> "Answers":
        scope = {"domain": domain, "title": "Pool", "breadcrumb": "Pool", "source": "knowledge"}
        refs = [
            EvidenceRef(raw_path=f"$.evidence_blocks[{at}]", text=text, scope=scope) for at, text in enumerate(chunks)
        ]
        return self.found("lookup_knowledge", {"query": "codes"}, refs)

    @property
    def _id(self) -> int:
        return len(self.exchanges) + 1

    def _add(
        self,
        tool: str,
        arguments: dict[str, Any],
        status: EvidenceStatus,
        refs: list[EvidenceRef],
        payload: dict[str, Any],
    ) -> "Answers":
        cited = []
        for ref in refs:
            self._refs += 1
            cited.append(CitedRef(f"E{self._refs}", self._id, tool, ref))
        call = ToolCall("x", tool, arguments)
        self.exchanges.append(Exchange(call, self._id, status, tuple(cited), payload))
        return self


def _log(at: int, template: str) -> EvidenceRef:
    service, level, count, before, time, line = template.split(" ", 5)
    stamp = f"2026-11-30T{time}:00Z"
    status = "new" if before == "0" else "gone" if count == "0" else "shifted"
    text = (
        f"service={service} level={level} count={count} before={before} status={status} first={stamp} last={stamp} "
        f'line="{stamp} {level} {line}"'
    )
    scope = {"service": service, "source": f"{service}.log"}
    return EvidenceRef(raw_path=f"$.templates[{at}]", text=text, scope=scope)


def offer(name: str, *required: str, optional: tuple[str, ...] = (), origin: Any = "external") -> ToolOffer:
    properties: dict[str, Any] = {field: {"type": "string"} for field in (*required, *optional)}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolOffer(name, name.replace("_", " "), schema, origin)


BUILTIN = (
    offer("query_logs", optional=("service", "level", "text", "since", "until", "compare", "limit"), origin="builtin"),
    offer("query_metrics", optional=("mode", "match", "since", "until", "limit"), origin="builtin"),
    offer("query_changes", optional=("since", "until"), origin="builtin"),
    offer("lookup_knowledge", "query", optional=("limit",), origin="builtin"),
    offer("query_order", optional=("order",), origin="builtin"),
    ToolOffer("read_skill", "", {"properties": {"name": {}}, "required": ["name"]}, gives_evidence=False),
)


def executor_request(
    question: str,
    offers: tuple[ToolOffer, ...],
    answers: Answers,
    *,
    language: str = "en",
    skill: str | None = None,
    retry: RetryContext | None = None,
) -> ModelRequest:
    domain = KnowledgeDomain(domain_id="runbooks", description="", when_to_retrieve="", document_count=1)
    given = ExecutorInput(
        question=question,
        planner_plan=PlannerPlan(selected_skill=skill, selection_reason="", plan=("look",), reasoning=""),
        available_knowledge_domains=(domain,),
        retry_context=retry,
        tool_permissions=ToolPermissions(method_tools=()),
    )
    return ModelRequest(
        "executor", (), ExecutorDraft, given, language, NOW, UTC_ZONE, offers, tuple(answers.exchanges)
    )
