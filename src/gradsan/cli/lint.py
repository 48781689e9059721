"""`gradsan lint`: what is wrong in the code by itself, found without running it."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from gradsan.cli import baselines, options
from gradsan.cli.exit_status import decide
from gradsan.judge.lines.source import pin_base
from gradsan.judge.report.findings import Report
from gradsan.lint.files import python_files
from gradsan.lint.linter import Linter
from gradsan.render import render
from gradsan.render.output import OutputError
from gradsan.render.page import Page


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@options.lint_options
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Find, without running it, what is wrong in the code by itself.

    PATH is a file, or a folder with all that is below it. Rules, comments that silence them, formats and the
    exit status are those of `gradsan run`; the report goes to standard output, or to --output FILE. A file that is
    no Python is named and skipped. Silence is no all-clear: most mistakes show only while the program runs.
    """
    wanted = given["output"]
    defaults = options.with_defaults(ctx, given)
    given["output"] = wanted  # the file of the settings is the run's
    for path in paths:
        if not os.path.exists(path):
            options.stop(f"cannot read {path!r}: No such file or directory")
    linter = Linter(options.chosen_rules(given["select"], given["ignore"]))
    output = options.output_file(None if wanted == "-" else wanted)
    baseline, target = baselines.chosen(given), options.output_file(given["write_baseline"])
    pin_base()
    report = linter.run(python_files(paths))
    report.script = " ".join(paths)
    if given["select"] and "select" not in defaults.values:
        linter.say_what_cannot_be_told()
    _note_if_nothing_was_read(report, paths)
    if baseline is not None:
        baseline.apply(report)
    report.exit = decide(report, given["fail_on"], given["finding_status"], written=target is not None)
    try:
        if output is not None:
            output.write(render(given["format_"], report, Page(width=100)))
        said = baselines.write(report, target, baseline) if target is not None else ""
    except OutputError as error:
        options.stop(str(error))
    if output is None:
        click.echo(render(given["format_"], report, Page.of(sys.stdout)), nl=False, color=True)
    if said:
        click.echo(f"gradsan: {said}", err=True)
    ctx.exit(report.exit.status)


def _note_if_nothing_was_read(report: Report, paths: tuple[str, ...]) -> None:
    """Nothing looked at is not the same as nothing found."""
    if not report.files:
        why = "no file in it could be read" if report.unreadable else "there is no Python file in it"
        report.not_watched = f"{' '.join(paths)}: {why}"
