"""The report in a notebook's output cell: the terminal's, in colour, with the gradient flow below it.

The text is plain HTML, which every viewer shows. The picture is drawn by a script, so it lives in a frame of
its own: nothing of the notebook's can be reached from there, and a viewer that allows no scripts leaves it out.
"""

from __future__ import annotations

import io

from markupsafe import escape
from rich.console import Console

from gradsan.judge.report.findings import Report
from gradsan.render.page import THEME
from gradsan.render.text import draw

FONT = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
CELL = (
    f'<pre class="gradsan" style="font-family:{FONT};line-height:1.35;white-space:pre;overflow-x:auto">'
    "{code}</pre>"
)
FRAME = (
    '<iframe class="gradsan-flow" title="Gradient flow" sandbox="allow-scripts" '
    'style="width:100%;height:{height}px;border:0" srcdoc="{page}"></iframe>'
)
HEIGHT = 430


def render(report: Report, width: int = 80) -> str:  # what a cell shows without being scrolled
    console = Console(
        file=io.StringIO(), width=width, theme=THEME, highlight=False, markup=False, emoji=False,
        record=True, force_jupyter=False, color_system="standard", force_terminal=True, _environ={},
    )  # fmt: skip
    draw(console, report)
    return console.export_html(inline_styles=True, code_format=CELL) + _flow(report)


def _flow(report: Report) -> str:
    """Only where it shows something: a clean report stays one line."""
    if report.picture is None or not report.picture.losses or not report.findings:
        return ""
    from gradsan.render.html import frame

    return FRAME.format(height=HEIGHT, page=escape(frame(report)))
