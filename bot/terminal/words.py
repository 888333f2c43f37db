"""The fixed words of the terminal, in Chinese and English. Quotes are never translated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    passed: str
    low_confidence: str
    rejected: str
    evidence: str
    gaps: str
    next_steps: str
    call: str
    cancelled: str
    degraded: str
    no_model: str
    run: str
    session: str
    blast: str
    affected: str
    healthy: str
    other_reason: str
    not_checked: str
    cases: str
    looked_at: str


ENGLISH = Words(
    passed="proven",
    low_confidence="not fully proven",
    rejected="not proven",
    evidence="Evidence",
    gaps="Missing",
    next_steps="Next steps",
    call="call",
    cancelled="Stopped. This is what was proven until then.",
    degraded="degraded",
    no_model="no model",
    run="run",
    session="session",
    blast="Blast radius",
    affected="affected",
    healthy="checked and healthy",
    other_reason="changed for another reason",
    not_checked="not checked",
    cases="Similar cases (leads, not evidence)",
    looked_at="Looked at: ",
)
CHINESE = Words(
    passed="已证实",
    low_confidence="证据不足",
    rejected="未能证实",
    evidence="证据",
    gaps="证据缺口",
    next_steps="下一步",
    call="调用",
    cancelled="已停止。以下是停止之前已证实的内容。",
    degraded="降级",
    no_model="未使用模型",
    run="运行",
    session="会话",
    blast="影响范围",
    affected="受影响",
    healthy="已检查且正常",
    other_reason="因其他原因变化",
    not_checked="未检查",
    cases="相似案例（仅为线索，不是证据）",
    looked_at="查看的时段：",
)


def words_of(language: str) -> Words:
    return CHINESE if language == "zh" else ENGLISH
