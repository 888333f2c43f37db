"""What reading an alert's post costs, and whether any post breaks or stalls it or gives what cannot be written as JSON.

Run: python benchmarks/alert_parser.py [--posts 100000] [--seed 4] [--keep FOLDER]. Reads every fixture of tests/data/alerts and of
shared/alerts beside the repository. CPU is this process's. --keep writes the posts that failed or took longest.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bot.alerts import parse_alerts

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "tests" / "data" / "alerts", ROOT.parent / "shared" / "alerts")
LIMIT_MS = 50.0
MAX_VALUES = 3_000  # past it a post is not made larger; 100 attachments of 20 values are below it
ODD = ("\x00", "\ud800", "\u202e", "😀", "𝔘", "é", "\u200b", "告警", "ſ", "İ", "\u2028", "﷽", "`", "```", "<", ">", "|", "*", "_", "~", "[", "]", "{", "}", "&lt;", "\r", "<!date^", "<http")  # fmt: skip
FILLS = ("a", " ", "*", "a ", "a: ", "<", "[", "`", "- ", "\n", "a.b", "0", "1:1 ", "{a:b", "=", "a=b, ", "<https://a|b> ", "** ", "(", '"', "x is down ", "[FIRING:1] ", "#1 ", "告警", ": ", "\t", "_", "A-", "\n- a = b", "*a:* b\n", "\n\n")  # fmt: skip
ROOT_TYPES: tuple[Any, ...] = (None, 0, -1, 1e308, True, "", "x", [], {}, [[]], {"text": None})

Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class Measured:
    milliseconds: float
    event: Any
    error: str | None = None


def main() -> None:
    options = _options()
    events = [json.loads(path.read_text(encoding="utf-8"))["event"] for folder in FOLDERS for path in sorted(folder.glob("*.json"))]
    for event in events:
        parse_alerts(event)
    _print_plain(events)
    _print_mutated(list(_mutated(events, options.posts, random.Random(options.seed))), options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--keep", type=Path)
    return parser.parse_args()


# ---------------------------------------------------------------- fixtures as they are


def _print_plain(events: list[Any]) -> None:
    per_4_kb = sorted(_cost_of_4_kb(event) for event in events)
    whole = sum(len(json.dumps(event, ensure_ascii=False).encode()) for event in events)
    print(f"{len(events)} fixtures, {whole / 1024:.0f} kB; CPU in ms a 4 kB (a shorter post counts as 4 kB): "
          f"median {statistics.median(per_4_kb):.3f}, p95 {per_4_kb[int(len(per_4_kb) * 0.95)]:.3f}, longest {per_4_kb[-1]:.3f}")  # fmt: skip


def _cost_of_4_kb(event: Any) -> float:
    """The best of five groups of ten."""
    size = max(1.0, len(json.dumps(event, ensure_ascii=False).encode()) / 4096)
    groups = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(10):
            parse_alerts(event)
        groups.append((time.process_time() - start) * 100)
    return min(groups) / size


# ---------------------------------------------------------------- mutated posts


def _mutated(events: list[Any], count: int, chance: random.Random) -> Iterator[Measured]:
    for _ in range(count):
        event = copy.deepcopy(chance.choice(events))
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
            if len(list(islice(_paths(event), MAX_VALUES))) < MAX_VALUES:
                event = chance.choice(MUTATIONS)(event, chance)
        yield _measure(event)


def _measure(event: Any) -> Measured:
    """One over the limit is measured twice more, the best counts: collections of rubbish and other processes are not the reader's."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        try:
            parsed = parse_alerts(event)
            best = min(best, (time.process_time() - start) * 1000)
            parsed.model_dump_json()
        except Exception as error:  # noqa: BLE001 (any at all is what is looked for)
            return Measured(0.0, event, f"{type(error).__name__}: {error}"[:300])
        if best <= LIMIT_MS:
            break
    return Measured(best, event if best > LIMIT_MS / 5 else None)


def _print_mutated(all_measured: list[Measured], options: argparse.Namespace) -> None:
    gc.collect()
    failed = [each for each in all_measured if each.error]
    times = sorted(each.milliseconds for each in all_measured)
    over = [each for each in all_measured if each.milliseconds > LIMIT_MS]
    print(f"{len(all_measured)} mutated posts (seed {options.seed}): {len(failed)} exceptions, {len(over)} over {LIMIT_MS:.0f} ms CPU; "
          f"median {statistics.median(times):.2f} ms, p99 {times[int(len(times) * 0.99)]:.2f} ms, longest {times[-1]:.1f} ms")  # fmt: skip
    for each in failed[:5]:
        print("  ", each.error)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        worst = sorted((each for each in all_measured if each.event is not None), key=lambda each: -each.milliseconds)
        for number, each in enumerate([*failed[:20], *worst[:20]]):
            text = json.dumps({"error": each.error, "ms": each.milliseconds, "event": each.event})
            (options.keep / f"{number:02}.json").write_text(text, encoding="utf-8")


# ---------------------------------------------------------------- mutations


def _paths(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Of every value in it, itself not among them; no deeper than 40."""
    if len(at) > 40:
        return
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*at, key)
        yield from _paths(inner, (*at, key))


def _at(event: Any, path: Path_) -> Any:
    for key in path:
        event = event[key]
    return event


def _change(event: Any, chance: random.Random, change: Callable[[Any], Any], kind: type = object) -> Any:
    """One value of that kind in place of itself changed."""
    places = [path for path in _paths(event) if isinstance(_at(event, path), kind)]
    if places:
        path = chance.choice(places)
        _at(event, path[:-1])[path[-1]] = change(_at(event, path))
    return event


def _truncate(event: Any, chance: random.Random) -> Any:
    return _change(event, chance, lambda text: text[: chance.randint(0, len(text))], str)


def _swap(event: Any, chance: random.Random) -> Any:
    places = list(_paths(event))
    if len(places) > 1:
        one, two = chance.choice(places), chance.choice(places)
        if one[: len(two)] != two and two[: len(one)] != one:
            first, second = _at(event, one), _at(event, two)
            _at(event, one[:-1])[one[-1]], _at(event, two[:-1])[two[-1]] = second, first
    return event


def _duplicate(event: Any, chance: random.Random) -> Any:
    return _change(event, chance, lambda items: [copy.deepcopy(item) for item in items * chance.choice((2, 10, 150))], list)


def _nest(event: Any, chance: random.Random) -> Any:
    def nested(value: Any) -> Any:
        for _ in range(chance.choice((1, 3, 60))):
            value = chance.choice(([value], {"text": value}, {"type": "section", "elements": [value]}, {"blocks": [value]}))
        return value

    return _change(event, chance, nested)


def _odd(event: Any, chance: random.Random) -> Any:
    def spoiled(text: str) -> str:
        for _ in range(chance.randint(1, 20)):
            place = chance.randint(0, len(text))
            text = text[:place] + chance.choice(ODD) * chance.randint(1, 5) + text[place:]
        return text

    return _change(event, chance, spoiled, str)


def _huge(event: Any, chance: random.Random) -> Any:
    def grown(text: str) -> str:
        size = chance.choice((2_000, 20_000, 100_000, 300_000))
        piece = chance.choice((text or "x", chance.choice(FILLS), chance.choice(FILLS) + chance.choice(FILLS), text[-20:] + chance.choice(FILLS)))
        filled = (piece * (size // max(1, len(piece)) + 1))[:size]
        return chance.choice((filled, text + filled, filled + text))

    return _change(event, chance, grown, str)


def _retype(event: Any, chance: random.Random) -> Any:
    return _change(event, chance, lambda _: copy.deepcopy(chance.choice(ROOT_TYPES)))


def _drop(event: Any, chance: random.Random) -> Any:
    places = list(_paths(event))
    if places:
        path = chance.choice(places)
        del _at(event, path[:-1])[path[-1]]
    return event


def _shuffle(event: Any, chance: random.Random) -> Any:
    def shuffled(text: str) -> str:
        words = text.split(" ")
        chance.shuffle(words)
        return " ".join(words)

    return _change(event, chance, shuffled, str)


MUTATIONS = (_truncate, _swap, _duplicate, _nest, _odd, _huge, _retype, _drop, _shuffle)

if __name__ == "__main__":
    main()
