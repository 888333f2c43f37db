"""The Gatekeeper on real log lines: what it accepts and refuses, what a check costs, and whether it stays linear.

    python benchmarks/gatekeeper.py [FOLDER_WITH_logs.jsonl.gz ...] [--lines 3000] [--seed 7]

Prints one JSON object. Without folders it reads ../shared/incidents beside the repository, else a built-in sample.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agents.contracts import Claim, EvidenceBinding, InvocationEvidence
from agents.gate import RULESET_VERSION, check_claims
from agents.gate.tokens import informative_tokens
from tools.contracts import EvidenceRef, EvidenceStatus

RUN = "run-1"
SAMPLE = [
    f"2026-11-30 08:43:{at % 60:02d}.345 ERROR [http-nio-8080-exec-{at}] c.e.OrderService#{at} HikariPool-1 - Connection is "
    f"not available, request timed out after {30000 + at}ms (total=10, active=10, idle=0, waiting={at})"
    for at in range(400)
]
Attack = Callable[[str, str, random.Random], "str | None"]


def main() -> None:
    arguments = _arguments()
    chance = random.Random(arguments.seed)
    lines = _lines(arguments.folders, arguments.lines, chance)
    report = {
        "ruleset_version": RULESET_VERSION,
        "lines": len(lines),
        "true_refused": {name: _rate(_true(lines, change, chance)) for name, change in TRUE.items()},
        "fabricated_accepted": {name: _rate(_fabricated(lines, change, chance)) for name, change in FABRICATED.items()},
        "wrong_key_accepted": {
            name: _rate(_wrong_key(lines, name)) for name in ("id", "run", "tool", "path", "status")
        },
        "claim_number_changed_accepted": _rate(_changed_claims(lines, chance)),
        "claim_number_kept_refused": _rate(_kept_claims(lines)),
        **_speed(lines),
    }
    print(json.dumps(report, ensure_ascii=False))


# ---------------------------------------------------------------- sets: (wrong answers, asked)


def _true(lines: Sequence[str], change: Callable[[str], str], chance: random.Random) -> Iterator[bool]:
    for line in lines:
        quote = _piece(line, chance)
        if len(informative_tokens(quote)) >= 3 and len(change(quote)) <= 1000:
            yield not _passes(line, change(quote))


def _fabricated(lines: Sequence[str], attack: Attack, chance: random.Random) -> Iterator[bool]:
    for line, other in zip(lines, [*lines[1:], lines[0]], strict=True):
        excerpt = attack(line, other, chance)
        if excerpt is None:
            continue
        if attack in PIECES or " ".join(excerpt.split()) not in " ".join(line.split()):
            yield _passes(line, excerpt)


def _wrong_key(lines: Sequence[str], part: str) -> Iterator[bool]:
    for line in lines:
        binding = EvidenceBinding(
            source_invocation_id=99 if part == "id" else 1,
            tool_name="query_metrics" if part == "tool" else "query_logs",
            raw_path="$.logs[5]" if part == "path" else "$.logs[0]",
            evidence_excerpt=line[:900],
        )
        status = EvidenceStatus.FAILED if part == "status" else EvidenceStatus.SUPPORTED
        yield _passes(line, line[:900], binding=binding, run="run-2" if part == "run" else RUN, status=status)


def _changed_claims(lines: Sequence[str], chance: random.Random) -> Iterator[bool]:
    """The claim names one number of its quote; one digit of it is changed."""
    for line, key, number in _keyed(lines):
        at = chance.randrange(len(number))
        digit = chance.choice([one for one in "123456789" if one != number[at]])
        yield _passes(line, line, claim=f"{key} is {number[:at]}{digit}{number[at + 1 :]} here")


def _kept_claims(lines: Sequence[str]) -> Iterator[bool]:
    for line, key, number in _keyed(lines):
        yield not _passes(line, line, claim=f"{key} is {number} here")


def _keyed(lines: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for line in lines:
        for key, number in re.findall(r"([A-Za-z]{3,20})\s?[=:]\s?(\d{1,12})(?![\w.:/-])", line)[:3]:
            if len(line) <= 1000:
                yield line, key, number


# ---------------------------------------------------------------- excerpts


def _piece(line: str, chance: random.Random) -> str:
    words = line.split(" ")
    count = min(len(words), chance.randint(5, 20))
    start = chance.randint(0, len(words) - count)
    return " ".join(words[start : start + count])


def _full_width(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else "\u3000" if one == " " else one for one in text)


def _ansi(text: str) -> str:
    return " ".join(f"\x1b[31m{word}\x1b[0m" for word in text.split(" "))


def _digit(line: str, _: str, chance: random.Random) -> str | None:
    quote = _piece(line, chance)
    places = [at for at, one in enumerate(quote) if one.isdigit()]
    if not places:
        return None
    at = chance.choice(places)
    return quote[:at] + chance.choice([one for one in "0123456789" if one != quote[at]]) + quote[at + 1 :]


def _splice(line: str, other: str, chance: random.Random) -> str:
    return f"{_piece(line, chance)} ... {_piece(other, chance)}"


def _silent_splice(line: str, other: str, chance: random.Random) -> str:
    return f"{_piece(line, chance)} {_piece(other, chance)}"


def _order(line: str, _: str, chance: random.Random) -> str:
    words = _piece(line, chance).split(" ")
    return " ".join([*words[1:], words[0]])


def _case(line: str, _: str, chance: random.Random) -> str:
    return _piece(line, chance).swapcase()


def _cut_number(line: str, _: str, chance: random.Random) -> str | None:
    numbers = list(re.finditer(r"(?<![\w.])\d{2,}(?![\w.])", line))
    return line[: chance.choice(numbers).end() - 1][-900:] if numbers else None


def _stamp_only(line: str, _: str, __: random.Random) -> str | None:
    found = re.match(r"[\d:.,\- T]+(?:Z|INFO|WARN|ERROR)?", line)
    return found[0].strip() if found and found[0].strip() else None


def _bidi(line: str, _: str, chance: random.Random) -> str:
    quote = _piece(line, chance)
    return f"{quote[:3]}\u202e{quote[3:]}"


TRUE: dict[str, Callable[[str], str]] = {
    "as_written": lambda quote: quote,
    "re_wrapped": lambda quote: quote.replace(" ", "\n   "),
    "full_width": _full_width,
    "no_break_space": lambda quote: quote.replace(" ", "\u00a0"),
    "json_escaped": lambda quote: json.dumps(quote)[1:-1],
    "ansi": _ansi,
    "zero_width": lambda quote: "\u200b".join(quote),
}
FABRICATED: dict[str, Attack] = {
    "digit_altered": _digit,
    "spliced": _splice,
    "silently_spliced": _silent_splice,
    "word_order": _order,
    "case": _case,
    "number_cut_short": _cut_number,
    "time_stamp_only": _stamp_only,
    "level_only": lambda *_: "INFO",
    "empty": lambda *_: "  ",
    "bidi": _bidi,
}
PIECES = (FABRICATED["number_cut_short"], FABRICATED["time_stamp_only"], FABRICATED["level_only"], FABRICATED["empty"])


# ---------------------------------------------------------------- one check, many checks


def _passes(
    line: str,
    excerpt: str,
    *,
    claim: str = "The record shows this event",
    binding: EvidenceBinding | None = None,
    run: str = RUN,
    status: EvidenceStatus = EvidenceStatus.SUPPORTED,
) -> bool:
    refs = (EvidenceRef(raw_path="$.logs[0]", text=line),)
    invocation = InvocationEvidence(
        id=1, run_id=run, tool_name="query_logs", evidence_status=status, evidence_refs=refs
    )
    bound = binding or _binding(1, "$.logs[0]", excerpt)
    return bool(check_claims([_claim("c1", claim, bound)], [invocation], RUN).result.passed_claim_ids)


def _claim(claim_id: str, text: str, binding: EvidenceBinding) -> Claim:
    return Claim(
        claim_id=claim_id, claim_type="symptom", claim_text=text, support_level="direct", evidence_bindings=(binding,)
    )


def _binding(invocation: int, path: str, excerpt: str) -> EvidenceBinding:
    return EvidenceBinding(
        source_invocation_id=invocation, tool_name="query_logs", raw_path=path, evidence_excerpt=excerpt
    )


def _speed(lines: Sequence[str]) -> dict[str, object]:
    sizes = (1000, 10_000)
    costs = {size: min(_gate_seconds(lines, size) for _ in range(5)) for size in sizes}  # the least disturbed run
    return {
        "us_per_check": {str(size): round(cost / size * 1e6, 1) for size, cost in costs.items()},
        "linearity": round(costs[10_000] / 10_000 / (costs[1000] / 1000), 2),
    }


def _gate_seconds(lines: Sequence[str], size: int) -> float:
    """CPU seconds of one gate over `size` bindings; each claim states a number of its quote."""
    texts = [f"{lines[at % len(lines)]}" for at in range(size)]
    invocations = [
        InvocationEvidence(
            id=first,
            run_id=RUN,
            tool_name="query_logs",
            evidence_status=EvidenceStatus.SUPPORTED,
            evidence_refs=tuple(
                EvidenceRef(raw_path=f"$.logs[{at}]", text=text, scope={"service": "ts-order-service"})
                for at, text in enumerate(texts[first : first + 50])
            ),
        )
        for first in range(0, size, 50)
    ]
    claims = [
        _claim(
            f"c{at}",
            _stated(texts[at]),
            _binding(at // 50 * 50, f"$.logs[{at % 50}]", texts[at][:300].rsplit(" ", 1)[0]),
        )
        for at in range(size)
    ]
    began = time.process_time()
    check_claims(claims, invocations, RUN)
    return time.process_time() - began


def _stated(line: str) -> str:
    """A claim with a name, a time and, where the line has one, a number with its key."""
    clock = line[:5] if line[2:3] == ":" else ""
    pair = re.search(r"([A-Za-z]{3,20})\s?[=:]\s?(\d{1,12})(?![\w.:/-])", line[:280])
    stated = f"{pair[1]} is {pair[2]}" if pair else "this line was logged"
    return f"ts-order-service: {stated}{f' at {clock}' if clock else ''}"


def _rate(wrong: Iterator[bool]) -> dict[str, float | int]:
    answers = list(wrong)
    bad = sum(answers)
    return {"wrong": bad, "of": len(answers), "percent": round(100 * bad / len(answers), 2) if answers else 0.0}


def _lines(folders: Sequence[Path], most: int, chance: random.Random) -> list[str]:
    beside = Path(__file__).parents[1].parent / "shared" / "incidents"
    found = [path for folder in (folders or [beside]) for path in sorted(folder.rglob("logs.jsonl.gz"))]
    lines = [json.loads(line)["msg"] for path in found for line in gzip.decompress(path.read_bytes()).splitlines()]
    if not lines:
        return SAMPLE
    chance.shuffle(lines)
    return lines[:most]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--lines", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()
