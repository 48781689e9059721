"""Shows a report that nobody asked for by name: rich in a notebook, as text on standard error elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gradsan.judge.cells import is_notebook

if TYPE_CHECKING:
    from gradsan.api.report import WatchReport


def show(report: WatchReport) -> None:
    if is_notebook():
        from IPython.display import display

        display(report)
    else:
        print(report, file=sys.stderr)
