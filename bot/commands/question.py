"""What was asked, before anything heavy is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from bot.greetings import reply_to
from bot.inputs import question_of, read_text


@dataclass(frozen=True)
class Typed:
    """`remark` says where the question was cut; `reply` is set where it is small talk, which starts no run."""

    text: str
    remark: str | None
    reply: str | None


def read_question(question: str | None, sample: bool) -> Typed:
    """`-` is stdin; with --sample and no question, the sample's own. Raises ConfigError where nothing is asked."""
    if question is None and sample:
        from bot.evaluation.samples import sample as sample_incident

        question = sample_incident().file.input.text
    text, remark = question_of(read_text("-") if question == "-" else question or "")
    return Typed(text, remark, reply_to(text))
