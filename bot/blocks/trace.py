"""The Trace modal: the way through the graph, every model call and tool call, what it took and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.answers.evidence_source import arguments_text
from bot.blocks import ids
from bot.blocks.modal import Item, View, loading_view, paged_view, pages_of
from bot.blocks.parts import context, header, line
from bot.blocks.reader import Reader
from bot.blocks.report_text import CHECKS
from bot.blocks.rich import Block, rich, section, spans
from bot.blocks.text import phone_line, shown_pieces
from bot.blocks.usage import seconds_text, spent
from storage.trace import Run, Step, StoredInvocation

_PIECE_CHARS = 2_000
_FOUND_CHARS = 300


def trace_loading(reader: Reader) -> View:
    return loading_view(ids.TRACE, reader)


def trace_view(
    run: Run, steps: Sequence[Step], invocations: Sequence[StoredInvocation], page: int, reader: Reader
) -> View:
    """Page `page`, from 1. The buttons trace_previous and trace_next carry RUN:PAGE."""
    pages = pages_of([Item(block) for block in _blocks(run, steps, invocations, reader)])
    return paged_view(ids.TRACE, run.run_id, pages, page, reader)


def _blocks(run: Run, steps: Sequence[Step], calls: Sequence[StoredInvocation], reader: Reader) -> Iterator[Block]:
    for piece in shown_pieces(run.query, _PIECE_CHARS):
        yield rich(line(piece, reader, bold=True))
    yield context(_totals(run, reader))
    for heading, lines in (
        ("trace_path", _path(run.orchestration_trace or {})),
        *_checks(run, reader),
        ("trace_steps", [_step(step, reader) for step in steps]),
        ("trace_calls", [_call(call, reader) for call in calls]),
    ):
        yield header(reader.say(heading))
        for text in lines or [reader.say("trace_none")]:
            yield from (rich(section(spans(piece))) for piece in shown_pieces(text, _PIECE_CHARS))


def _totals(run: Run, reader: Reader) -> str:
    verdict = reader.say(f"verdict_{run.verdict.lower()}") if run.verdict else run.status
    parts = [
        verdict,
        reader.at(run.created_at),
        seconds_text(run.total_duration_ms, reader) if run.total_duration_ms is not None else "",
        reader.say("trace_totals", steps=run.step_count or 0, calls=run.tool_call_count or 0),
        *spent(run.total_token_count or 0, run.cost, reader),
        reader.say("run", run=run.run_id),
    ]
    return " · ".join(part for part in parts if part)


def _path(trace: Mapping[str, Any]) -> list[str]:
    """One line as long as each step begins where the last one ended."""
    lines: list[str] = []
    at = None
    for one in trace.get("transitions", ()):
        reason = "" if one["reason"] == "ok" else f" ({one['reason']})"
        if lines and one["source"] == at:
            lines[-1] += f" → {one['target']}{reason}"
        else:
            lines.append(f"{one['source']} → {one['target']}{reason}")
        at = one["target"]
    return lines


def _checks(run: Run, reader: Reader) -> list[tuple[str, list[str]]]:
    """What an alert's run was measured by, with the reasons."""
    found = (run.self_evaluation or {}).get("aiops_rule_evaluation")
    if not isinstance(found, Mapping):
        return []
    met = [f"{'✓' if found[name] else '✗'} {reader.say(f'check_{name}')}" for name in CHECKS if name in found]
    return [("trace_checks", [*met, *(str(reason) for reason in found.get("reasons") or ())])]


def _step(step: Step, reader: Reader) -> str:
    text = reader.say(
        "trace_step",
        index=step.step_index,
        agent=step.agent_name,
        round=step.round,
        model=step.model_name,
        ms=step.duration_ms,
        tokens=step.token_count,
    )
    return text if step.ok else f"{text} · {reader.say('trace_failed', error=step.error)}"


def _call(call: StoredInvocation, reader: Reader) -> str:
    made = reader.say("trace_call", id=call.id, tool=call.tool_name, arguments=arguments_text(call.input_params))
    if not call.finished:
        return f"{made}\n{reader.say('trace_unfinished')}"
    details = call.retrieval_details
    refs = len(details.get("evidence_refs", ()))
    result = reader.say("trace_result", status=details.get("evidence_status", ""), refs=refs, ms=call.duration_ms)
    failed = reader.say("trace_failed", error=call.error_message) if call.error_message else call.output_preview
    return f"{made}\n{result}: {phone_line(failed, _FOUND_CHARS)}"
