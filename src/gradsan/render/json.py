"""The report as one JSON object."""

from __future__ import annotations

import json

from gradsan.judge.report.findings import Report
from gradsan.render.page import Page


def render(report: Report, page: Page) -> str:
    """ASCII throughout, so that no name or code line can steer a terminal or break an encoding."""
    return json.dumps(report.as_dict(), indent=2) + "\n"
