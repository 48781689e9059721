"""Shows a report that nobody asked for by name: rich in a notebook, as text on standard error elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gradsan.judge.report.cells import is_notebook

if TYPE_CHECKING:
    from gradsan.api.report import WatchReport
    from gradsan.api.watch_context import WatchContext


def show_findings(watching: WatchContext) -> None:
    """The whole report, where there is something in it; one that joined another leaves it to that one."""
    if watching.is_own and (watching.report.findings or not watching.report.watched):
        show(watching.report)


def say_in_short(report: WatchReport) -> None:
    """One line at the end of a `with` block: on a terminal, or where something was found. A notebook shows the
    report itself, and a test has other ways to ask for it."""
    stream = sys.stderr
    in_test = "PYTEST_CURRENT_TEST" in os.environ and "pytest" in sys.modules
    if stream is None or is_notebook() or in_test:
        return
    if not report.findings and not stream.isatty():
        return
    from gradsan.render.page import Page
    from gradsan.render.text import summary

    page = Page.of(stream)
    console, text = page.console(), summary(report.snapshot())
    console.print(text.append("; print(report) shows more") if report.findings else text, soft_wrap=True)
    stream.write(page.text_of(console))
    stream.flush()


def show(report: WatchReport) -> None:
    if is_notebook():
        from IPython.display import display

        display(report)
    else:
        print(report, file=sys.stderr)
