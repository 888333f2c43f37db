"""A metric as a picture: the series, the threshold, when the alert began, what changed. Drawn dark, so that it does not glare
at night, with text large enough for a phone. Draws in whatever process calls it: `bot.charts.finding` keeps it out of the bot's."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from bot.charts.values import time_ticks, value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

MAX_BYTES = 60_000
MARKS = 3
_SIZE, _DPI, _LOW_DPI = (5.0, 3.75), 160, 96
_PAPER, _INK, _FAINT, _GRID = "#1b1f27", "#eef1f6", "#aab2c0", "#343b48"
_SERIES, _LIMIT, _CHANGE = "#6cb2ff", "#ff8178", "#ffc35c"
_SMALL, _PLAIN, _LARGE = 10.5, 12.0, 14.0
_EDGE, _COLOURS = 0.03, 64


@dataclass(frozen=True)
class Mark:
    """`at` in Unix seconds."""

    at: float
    text: str


@dataclass(frozen=True)
class ChartWords:
    """Each in the reader's language, then in English for where no font has the first."""

    threshold: tuple[str, ...] = ("threshold",)
    started: tuple[str, ...] = ("alert",)


@dataclass(frozen=True)
class ChartData:
    """`title` has up to two lines. `points` are (Unix seconds, value), a NaN is a hole; `unit` as in tools/series. The
    alert fires above the threshold, or below it where `fires_below`. `zone` is the reader's."""

    title: str
    unit: str
    points: tuple[tuple[float, float], ...]
    threshold: float | None = None
    started_at: float | None = None
    changes: tuple[Mark, ...] = ()
    fires_below: bool = False
    zone: str = "UTC"
    words: ChartWords = ChartWords()


def draw(data: ChartData) -> bytes:
    """A PNG of at most 60 kB. Raises ValueError where no point is a number."""
    if not any(math.isfinite(value) for _, value in data.points):
        raise ValueError("a chart needs a point")
    picture = _drawn(data, _DPI)
    return picture if len(picture) <= MAX_BYTES else _drawn(data, _LOW_DPI)


def _drawn(data: ChartData, dpi: int) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, dpi=dpi, facecolor=_PAPER)
    canvas = FigureCanvasAgg(figure)
    pen = _Pen(figure)
    marks = _seen(data)
    below = 0.16 + 0.062 * len(marks)
    axes = figure.add_axes((0.155, below, 0.815, 0.81 - below), facecolor=_PAPER)
    _titles(pen, data)
    _series(axes, data)
    _limits(axes, data)
    _axes(axes, pen, data)
    _marks(axes, pen, data, marks)
    return _png(canvas)


def _png(canvas: FigureCanvasAgg) -> bytes:
    """With few colours: a third of the bytes, and nobody sees it."""
    from PIL import Image

    raw = io.BytesIO()
    canvas.figure.savefig(raw, format="rgba")
    out = io.BytesIO()
    picture = Image.frombytes("RGBA", canvas.get_width_height(), raw.getvalue()).convert("RGB")
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(out, "png")
    return out.getvalue()


# ---------------------------------------------------------------- text


class _Pen:
    """Writes with the fonts of this machine. What none of them has is left out, since an empty box says nothing."""

    def __init__(self, figure: Figure) -> None:
        from bot.charts.fonts import families

        self.figure, self._families = figure, families()

    def font(self, size: float, *, bold: bool = False) -> Any:
        from matplotlib.font_manager import FontProperties

        return FontProperties(family=list(self._families), size=size, weight="bold" if bold else "normal")

    def write(self, x: float, y: float, text: str, size: float, *, bold: bool = False, color: str = _INK, **more: Any) -> None:
        """At a place of the figure, one line, shortened to its width."""
        written = self.figure.text(x, y, "", color=color, parse_math=False, fontproperties=self.font(size, bold=bold), **more)
        shown = self.known(text)
        room = self.figure.bbox.width * ((x if more.get("ha") == "right" else 1 - x) - _EDGE)
        written.set_text(shown)
        while shown and (width := written.get_window_extent().width) > room:
            shown = shown[: min(len(shown) - 1, int(len(shown) * room / width))].rstrip()
            written.set_text(f"{shown}…")

    def known(self, text: str) -> str:
        from bot.charts.fonts import drawable

        return " ".join(drawable(text, self._families).split())

    def first_known(self, words: Sequence[str]) -> str:
        return next((word for word in words if self.known(word) == word), words[-1])


def _titles(pen: _Pen, data: ChartData) -> None:
    lines = [line for line in data.title.splitlines() if line.strip()][:2]
    for line, (y, size, bold, color) in zip(
        lines, ((0.925, _LARGE, True, _INK), (0.855, _SMALL, False, _FAINT)), strict=False
    ):
        pen.write(0.03, y, line, size, bold=bold, color=color)


# ---------------------------------------------------------------- lines


def _series(axes: Axes, data: ChartData) -> None:
    at, values = _columns(data)
    alone = sum(math.isfinite(value) for value in values) == 1
    axes.plot(at, values, color=_SERIES, linewidth=2.2, marker="o" if alone else None, zorder=3)
    if data.threshold is not None:
        bad = [(value < data.threshold) is data.fires_below and value != data.threshold for value in values]
        axes.fill_between(at, values, data.threshold, where=bad, color=_LIMIT, alpha=0.28, linewidth=0, interpolate=True)


def _columns(data: ChartData) -> tuple[list[float], list[float]]:
    ordered = sorted(data.points)
    return [at for at, _ in ordered], [value if math.isfinite(value) else math.nan for _, value in ordered]


def _limits(axes: Axes, data: ChartData) -> None:
    at, values = _columns(data)
    shown = [value for value in values if math.isfinite(value)]
    shown += [data.threshold] if data.threshold is not None else []
    low, high = min(shown), max(shown)
    low = min(low, 0.0) if low >= 0 and low <= high / 2 else low
    room = (high - low) * 0.12 or abs(high) * 0.2 or 1.0
    axes.set_ylim(low if low == 0 else low - room, high + room)
    axes.set_xlim(at[0], at[-1] if at[-1] > at[0] else at[0] + 60)


def _axes(axes: Axes, pen: _Pen, data: ChartData) -> None:
    from matplotlib.ticker import MaxNLocator

    zone = ZoneInfo(data.zone)
    ticks = time_ticks(*axes.get_xlim(), zone)
    axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks], fontproperties=pen.font(_PLAIN))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    low, high = axes.get_ylim()
    values = [value for value in axes.get_yticks() if low <= value <= high]
    axes.set_yticks(values, [value_text(value, data.unit) for value in values], fontproperties=pen.font(_PLAIN))
    axes.tick_params(colors=_FAINT, labelcolor=_INK, length=0, pad=7)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    for side in axes.spines.values():
        side.set_visible(False)
    last = datetime.fromtimestamp(axes.get_xlim()[1], zone)
    pen.write(0.97, 0.02, f"{last:%Y-%m-%d}  {last:%Z}", _SMALL, color=_FAINT, ha="right")


# ---------------------------------------------------------------- marks


def _seen(data: ChartData) -> list[Mark]:
    """The changes of the time that is drawn, the last ones before the alert first of all."""
    at, _ = _columns(data)
    inside = sorted((mark for mark in data.changes if at[0] <= mark.at <= at[-1]), key=lambda mark: mark.at)
    before = [mark for mark in inside if data.started_at is None or mark.at <= data.started_at]
    after = [mark for mark in inside if mark not in before]
    return sorted([*before[-MARKS:], *after][:MARKS], key=lambda mark: mark.at)


def _marks(axes: Axes, pen: _Pen, data: ChartData, marks: Sequence[Mark]) -> None:
    zone = ZoneInfo(data.zone)
    if data.threshold is not None:
        axes.axhline(data.threshold, color=_LIMIT, linewidth=1.6, linestyle=(0, (5, 3)), zorder=2)
        text = f"{pen.first_known(data.words.threshold)} {value_text(data.threshold, data.unit)}"
        _label(axes, pen, (0, data.threshold), text, _LIMIT, axes.get_yaxis_transform(), "left", "bottom")
    start = data.started_at
    if start is not None and axes.get_xlim()[0] <= start <= axes.get_xlim()[1]:
        axes.axvline(start, color=_LIMIT, linewidth=1.8, zorder=2)
        text = f"{pen.first_known(data.words.started)} {datetime.fromtimestamp(start, zone):%H:%M}"
        side = "left" if start < sum(axes.get_xlim()) / 2 else "right"
        _label(axes, pen, (start, 1), text, _LIMIT, axes.get_xaxis_transform(), side, "top")
    for number, mark in enumerate(marks, 1):
        axes.axvline(mark.at, color=_CHANGE, linewidth=1.6, linestyle=(0, (2, 2)), zorder=2)
        _label(axes, pen, (mark.at, 0), str(number), _CHANGE, axes.get_xaxis_transform(), "right", "bottom")
    for (number, mark), y in zip(enumerate(marks, 1), _rows(len(marks)), strict=True):
        pen.write(0.03, y, f"{number}  {datetime.fromtimestamp(mark.at, zone):%H:%M}  {mark.text}", _SMALL, color=_CHANGE)


def _rows(count: int) -> Iterator[float]:
    yield from (0.082 + 0.062 * (count - 1 - index) for index in range(count))


def _label(
    axes: Axes, pen: _Pen, at: tuple[float, float], text: str, color: str, place: Any, across: str, up: str
) -> None:
    """Beside its line, on paper of its own."""
    away = (-4 if across == "right" else 4, -2 if up == "top" else 2)
    axes.annotate(
        text, at, away, xycoords=place, textcoords="offset points", ha=across, va=up, color=color, parse_math=False,
        fontproperties=pen.font(_SMALL, bold=True), zorder=4,
        bbox={"facecolor": _PAPER, "edgecolor": "none", "alpha": 0.75, "pad": 1},
    )  # fmt: skip
