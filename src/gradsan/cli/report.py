"""`gradsan report`: a recorded trace, judged again or shown in another format."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from typing import Any

import click

from gradsan.cli import baselines, options
from gradsan.cli.exit_status import decide
from gradsan.cli.publish import write_html
from gradsan.follow.scalars import Scalars
from gradsan.judge.baseline import Baseline
from gradsan.judge.engine import Engine
from gradsan.judge.findings import Report
from gradsan.judge.source import pin_base
from gradsan.picture.collector import PictureCollector
from gradsan.record.events import SiteSeen
from gradsan.record.sinks import Sink, Sinks
from gradsan.record.trace import TraceError, read
from gradsan.render import render
from gradsan.render.output import OutputError
from gradsan.render.page import Page
from gradsan.rules.base import Rule
from gradsan.runner.program import remember_code
from gradsan.runner.watch import draw

LARGEST_SOURCE = 10_000_000


@click.command()
@click.argument("trace", metavar="TRACE")
@options.report_options
@click.pass_context
def command(ctx: click.Context, /, trace: str, **given: Any) -> None:
    """Judge a recorded trace (`gradsan run --trace FILE`) by the rules of today.

    The report goes to standard output, or to --output FILE. The trace of a run that was killed
    counts as far as it goes.
    """
    options.with_defaults(ctx, given)
    rules = options.chosen_rules(given["select"], given["ignore"])
    wanted = None if given["output"] == "-" else given["output"]
    output, html = options.output_file(wanted), options.output_file(given["html"])
    scalars = options.scalars_folder(given["tensorboard"])
    baseline, target = baselines.chosen(given), options.output_file(given["write_baseline"])
    pin_base()
    try:
        report = judge(Path(trace), rules, html is not None, scalars, baseline)
    except TraceError as error:
        options.stop(str(error))
    report.exit = decide(report, given["fail_on"], given["finding_status"], written=target is not None)
    page = Page.of(sys.stdout) if output is None else Page(width=100)
    text = render(given["format_"], report, page)
    try:
        if output is not None:
            output.write(text)
        if html is not None:
            write_html(report, html)
        said = baselines.write(report, target, baseline) if target is not None else ""
    except OutputError as error:
        options.stop(str(error))
    if output is None:
        click.echo(text, nl=False, color=True)
    if said:
        click.echo(f"gradsan: {said}", err=True)
    ctx.exit(report.exit.status)


def judge(
    path: Path,
    rules: list[type[Rule]],
    draws: bool = False,
    scalars: str | None = None,
    baseline: Baseline | None = None,
) -> Report:
    engine, picture = Engine(rules), PictureCollector() if draws else None
    follower = Scalars(scalars) if scalars is not None else None
    given: list[Sink | None] = [engine, picture, follower]
    sinks = Sinks(sink for sink in given if sink is not None)
    about: dict[str, Any] = {}
    for record in read(path):
        if isinstance(record, dict):
            about.update(record)
            if "code" in record:
                remember_code(str(record["code"]))
            continue
        if isinstance(record, SiteSeen):
            _refuse_odd_source(record.file)
        sinks.feed(record)
    sinks.finish()
    report = engine.report()
    if baseline is not None:
        baseline.apply(report)
    if picture is not None:
        draw(report, picture)
    report.script, report.mode = str(about.get("script", "")), str(about.get("mode", ""))
    report.torch = str(about.get("torch", ""))
    report.not_watched = str(about.get("not_watched", ""))
    return report


def _refuse_odd_source(file: str) -> None:
    """A trace is data: it must not make us read a device, a pipe or something huge as source code."""
    if file.startswith("<") or file in linecache.cache:
        return
    if not os.path.isfile(file) or os.path.getsize(file) > LARGEST_SOURCE:
        linecache.cache[file] = (0, None, [], file)
