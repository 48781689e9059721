"""`--verify-fixes`: the repairs that a report is going to show are tried before it is written."""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

from gradsan.cli import options
from gradsan.fix.trial import TrialProgram, Trials
from gradsan.judge.report.findings import Report
from gradsan.observe.last_resort import attempt
from gradsan.processes.follower import Follower
from gradsan.runner.bare import say


def trials_of(
    ctx: click.Context, given: dict[str, Any], words: tuple[str, ...], include: tuple[str, ...]
) -> Trials | None:
    if not given.get("verify_fixes"):
        return None
    if given["code"] is not None or (given["html"] is None and given["format_"] != "sarif"):
        if ctx.get_parameter_source("verify_fixes") is not ParameterSource.COMMANDLINE:
            return None  # a settings file speaks of the runs that have such a report
        options.stop("--verify-fixes is for --html and --format sarif, of a SCRIPT or of -m MODULE")
    return Trials(TrialProgram(words, given["module"], include, given["mode"], os.getcwd()))


def verify_repairs(trials: Trials, report: Report, follower: Follower | None) -> None:
    """The trials are no processes of the script's: nobody follows them."""
    from gradsan.fix.verified import verify  # only here: it loads LibCST

    if follower is not None:
        attempt("processes", follower.finish)
    if failure := attempt(
        "verifying repairs", verify, report.findings, trials, lambda line: say(f"gradsan: {line}")
    ):
        say(f"gradsan: no repair could be tried: {failure}")
