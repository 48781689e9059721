"""Reports in every format. A renderer takes a finished report and a page, and nothing else."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from gradsan.judge.report.findings import Report
from gradsan.render.page import Page

# One module per format, each with `render(report, page) -> str`; imported only when asked for.
FORMATS = {
    "text": "gradsan.render.text",
    "json": "gradsan.render.json",
    "sarif": "gradsan.render.sarif",
    "github": "gradsan.render.github",
}


def render(name: str, report: Report, page: Page) -> str:
    """The whole report in one string, with a line end."""
    renderer: Callable[[Report, Page], str] = importlib.import_module(FORMATS[name]).render
    return renderer(report, page)
