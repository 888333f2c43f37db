"""Which of this machine's fonts write a chart, and which characters they have."""

from __future__ import annotations

from collections.abc import Sequence

_FIRST = "DejaVu Sans"  # comes with Matplotlib
# For Chinese, Japanese and Korean, where the machine has one.
_FURTHER = (
    "Noto Sans CJK SC", "Noto Sans SC", "Noto Sans CJK JP", "Source Han Sans SC", "Source Han Sans CN", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Heiti SC", "Microsoft YaHei", "SimHei", "Arial Unicode MS",
)  # fmt: skip


def families() -> tuple[str, ...]:
    """One of Matplotlib's own and at most one further: the first that has a character writes it."""
    from matplotlib.font_manager import fontManager

    known = {entry.name for entry in fontManager.ttflist}
    return (_FIRST, *[name for name in _FURTHER if name in known][:1])


def drawable(text: str, names: Sequence[str]) -> str:
    """The text without what none of the fonts has, and without what takes no place."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    fonts = [get_font(findfont(FontProperties(family=[name]))) for name in names]
    return "".join(
        character
        for character in text
        if character == " " or (character.isprintable() and any(font.get_char_index(ord(character)) for font in fonts))
    )
