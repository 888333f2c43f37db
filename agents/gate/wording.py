"""The few sentences the gate writes itself, in the claim's language."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from agents.gate.tokens import has_cjk

_FACT = {"en": Template('$tool recorded: "$quote"'), "zh": Template("$tool 的记录：“$quote”")}
_BASIS = {
    "en": Template("Quoted from $tools only; a cause needs a second kind of evidence."),
    "zh": Template("仅引自 $tools；认定原因还需要另一类证据。"),
}
_NEEDED = {
    "en": Template("evidence of the same event from a tool other than $tools"),
    "zh": Template("来自 $tools 以外工具的同一事件的证据"),
}


def fact_text(claim_text: str, tool: str, quote: str) -> str:
    return _FACT[_language(claim_text)].substitute(tool=tool, quote=quote)


def hypothesis_basis(claim_text: str, tools: Sequence[str]) -> str:
    return _BASIS[_language(claim_text)].substitute(tools=", ".join(tools))


def needed_evidence(claim_text: str, tools: Sequence[str]) -> str:
    return _NEEDED[_language(claim_text)].substitute(tools=", ".join(tools))


def _language(text: str) -> str:
    return "zh" if has_cjk(text) else "en"
