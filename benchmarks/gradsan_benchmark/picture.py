"""One picture: for each tool a bar of its outcomes on the bugs of the unseen half."""

from __future__ import annotations

from collections import Counter
from html import escape

from gradsan_benchmark.score import OUTCOMES

COLOURS = ("#1b7837", "#7fbf7b", "#c7e0a8", "#d8b365", "#d9d9d9")
NAMES = ("right code and line", "right line", "among its sites", "elsewhere", "silent")
LEFT, WIDTH, HEIGHT, GAP = 130, 560, 22, 10


def draw(counts: dict[str, Counter[str]], title: str) -> str:
    """An SVG image; each bar is as long as all bugs together."""
    parts = [_text(LEFT, 18, title, "bold")]
    for place, (name, colour) in enumerate(zip(NAMES, COLOURS, strict=True)):
        corner = LEFT + place * 132 - 60
        parts += [_box(corner, 30, 11, 11, colour), _text(corner + 16, 40, name)]
    y = 56.0
    for tool, count in counts.items():
        whole = sum(count.values())
        parts.append(_text(LEFT - 8, y + 15, tool, anchor="end"))
        x = float(LEFT)
        for outcome, colour in zip(OUTCOMES, COLOURS, strict=True):
            wide = WIDTH * count[outcome] / whole if whole else 0.0
            parts.append(_box(x, y, wide, HEIGHT, colour))
            if wide > 26:
                parts.append(_text(x + wide / 2, y + 15, str(count[outcome]), anchor="middle"))
            x += wide
        y += HEIGHT + GAP
    size = f'width="{LEFT + WIDTH + 20}" height="{y + 4:.0f}"'
    style = 'font-family="sans-serif" font-size="11"'
    background = f'<rect width="{LEFT + WIDTH + 20}" height="{y + 4:.0f}" fill="white"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{background}{"".join(parts)}</svg>\n'


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


def _text(x: float, y: float, words: str, weight: str = "normal", anchor: str = "start") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"'
    return f"<text {where}>{escape(words)}</text>"
