"""The Evidence modal: each statement, and under it the lines that it rests on, with the quoted span marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.contracts import AllowedClaim, VerifiedEvidence
from bot.answers.evidence_source import arguments_text, where
from bot.answers.printable import printable
from bot.blocks import ids
from bot.blocks.modal import Item, View, gone_view, loading_view, paged_view, pages_of
from bot.blocks.parts import divider, line, paragraph
from bot.blocks.reader import Reader
from bot.blocks.rich import Block, Span, quote, rich, section, spans
from bot.blocks.text import shown_pieces, split_text
from bot.shapes.rules import units
from storage.trace import StoredInvocation

# One piece of a long line. Small pieces let a page fill up before the next begins.
_PIECE_CHARS, _LEAST_ROOM = 2_000, 200


@dataclass(frozen=True)
class Quote:
    """`line` is the whole text that the span stands in, None where only the span is stored any more."""

    evidence: VerifiedEvidence
    line: str | None
    query: str


@dataclass(frozen=True)
class Proof:
    allowed: AllowedClaim
    quotes: tuple[Quote, ...]


def proofs_of(claims: Sequence[AllowedClaim], invocations: Sequence[StoredInvocation]) -> tuple[Proof, ...]:
    """Each claim with the stored lines and queries that its evidence points at."""
    calls = {str(call.id): call for call in invocations}
    return tuple(Proof(claim, tuple(_quoted(one, calls) for one in claim.evidence)) for claim in claims)


def _quoted(evidence: VerifiedEvidence, calls: Mapping[str, StoredInvocation]) -> Quote:
    call = calls.get(str(evidence.source_invocation_id))
    if call is None:
        return Quote(evidence, None, "")
    refs: Sequence[Mapping[str, Any]] = call.retrieval_details.get("evidence_refs", ())
    texts = (str(ref.get("text", "")) for ref in refs if ref.get("raw_path") == evidence.raw_path)
    holding = (text for text in texts if text[evidence.span_start : evidence.span_end] == evidence.span_text)
    return Quote(evidence, next(holding, None), f"{call.tool_name}({arguments_text(call.input_params)})")


# ---------------------------------------------------------------- the modal


def evidence_loading(reader: Reader) -> View:
    return loading_view(ids.EVIDENCE, reader)


def evidence_gone(reader: Reader) -> View:
    return gone_view(ids.EVIDENCE, reader)


def evidence_view(run_id: str, proofs: Sequence[Proof], page: int, reader: Reader) -> View:
    """Page `page`, from 1. The buttons evidence_previous and evidence_next carry RUN:PAGE."""
    return paged_view(ids.EVIDENCE, run_id, evidence_pages(proofs, reader), page, reader)


def evidence_pages(proofs: Sequence[Proof], reader: Reader) -> list[list[Block]]:
    if not proofs:
        return [[paragraph(reader.say("evidence_none"), reader)]]
    items = [Item(paragraph(reader.say("evidence_intro"), reader, italic=True))]
    for proof in proofs:
        items += _items(proof, reader)
    return pages_of(items)


def _items(proof: Proof, reader: Reader) -> Iterator[Item]:
    claim, number = proof.allowed.claim, proof.allowed.number
    kind = f"{reader.say(f'claim_{claim.claim_type}')}, {reader.say(f'support_{claim.support_level}')}"
    yield Item(divider())
    for index, piece in enumerate(shown_pieces(claim.claim_text, _PIECE_CHARS)):
        mark = spans(f"[{number}] ", bold=True) if index == 0 else []
        yield Item(rich(section(mark, spans(piece, reader.link_hosts, bold=True))))
    yield Item(rich(section(spans(kind, italic=True))))
    again = rich(section(spans(reader.say("continued", number=number), italic=True)))
    for one in proof.quotes:
        for block in _quote_blocks(one, reader):
            yield Item(block, again)


def _quote_blocks(one: Quote, reader: Reader) -> Iterator[Block]:
    evidence = one.evidence
    facts = [("place", where(evidence, reader.say("call"), reader.zone))]
    facts += [("query", one.query)] if one.query else []
    facts += [("source", url) for url in _urls(evidence)]
    for key, text in facts:
        for index, piece in enumerate(shown_pieces(text, _PIECE_CHARS)):
            label = spans(reader.say(key), bold=True) if index == 0 else []
            yield rich(section(label, spans(piece, reader.link_hosts)))
    yield from (rich(quote(marked)) for marked in _marked(one))
    if one.line is None:
        yield rich(line(reader.say("line_gone"), reader, italic=True))


def _urls(evidence: VerifiedEvidence) -> list[str]:
    return [value for value in evidence.scope.values() if value.startswith(("http://", "https://"))]


def _marked(one: Quote) -> Iterator[list[Span]]:
    """The line in pieces. Only the span is bold code: among plain text it stands out, among code it hardly does."""
    evidence = one.evidence
    if one.line is None:
        parts = [(evidence.span_text, True)]
    else:
        start, end = evidence.span_start, evidence.span_end
        parts = [(one.line[:start], False), (one.line[start:end], True), (one.line[end:], False)]
    piece: list[Span] = []
    room = _PIECE_CHARS
    for part, quoted in parts:
        text = printable(part)
        while text:
            if room < _LEAST_ROOM:
                yield piece
                piece, room = [], _PIECE_CHARS
            first = split_text(text, room)[0]
            piece += spans(first, code=True, bold=True) if quoted else spans(first)
            room -= units(first)
            text = text[len(first) :]
    if piece:
        yield piece
