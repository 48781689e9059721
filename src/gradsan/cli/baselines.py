"""`--baseline` and `--write-baseline`: findings that are known, read before a run and written after it."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from gradsan.cli import options
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.baseline_file import BaselineError
from gradsan.judge.report.findings import Report
from gradsan.render.output import OutputFile
from gradsan.render.page import plain


def chosen(given: dict[str, Any]) -> Baseline | None:
    """One that is going to be written need not be there yet; if it is, it is brought up to date."""
    path, target = given["baseline"], given["write_baseline"]
    if given["no_baseline"] and path is not None:
        options.stop("give --baseline or --no-baseline, not both")
    if path is None:
        return None
    if target is not None and os.path.realpath(target) == os.path.realpath(path) and not os.path.exists(path):
        return None
    try:
        return Baseline.read(path)
    except BaselineError as error:
        options.stop(str(error))


def write(report: Report, file: OutputFile, old: Baseline | None) -> str:
    """Gives one sentence about what was written; raises OutputError where nothing was."""
    is_update = old is not None and old.path.resolve() == file.path
    base = old if old is not None and is_update else Baseline(str(file.path), Counter())
    file.write(base.updated(report))
    number = len(report.findings) + len(report.known)
    return f"{number} {'finding is' if number == 1 else 'findings are'} known now, by {plain(file.shown)}"
