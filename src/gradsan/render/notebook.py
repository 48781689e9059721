"""The report in a notebook's output cell: the terminal's, in colour, as HTML with everything escaped."""

from __future__ import annotations

import io

from rich.console import Console

from gradsan.judge.findings import Report
from gradsan.render.page import THEME
from gradsan.render.text import draw

CELL = '<pre class="gradsan" style="line-height:1.35;white-space:pre;overflow-x:auto">{code}</pre>'


def render(report: Report, width: int = 100) -> str:
    console = Console(
        file=io.StringIO(), width=width, theme=THEME, highlight=False, markup=False, emoji=False,
        record=True, force_jupyter=False, color_system="standard", force_terminal=True, _environ={},
    )  # fmt: skip
    draw(console, report)
    return console.export_html(inline_styles=True, code_format=CELL)
