"""`gradsan report`: a recorded trace, judged again or shown in another format."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from typing import Any

import click

from gradsan.cli import options
from gradsan.cli.exit_status import decide
from gradsan.cli.publish import write_html
from gradsan.follow.scalars import Scalars
from gradsan.judge.engine import Engine
from gradsan.judge.findings import Report
from gradsan.judge.source import pin_base
from gradsan.record.events import SiteSeen
from gradsan.record.trace import TraceError, read
from gradsan.render import render
from gradsan.render.output import OutputError
from gradsan.render.page import Page
from gradsan.rules.base import Rule
from gradsan.runner.program import remember_code

# What a record of the right form and the wrong content makes the history stumble over.
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
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
    rules = options.chosen_rules(given["select"], given["ignore"])
    output, html = options.output_file(given["output"]), options.output_file(given["html"])
    scalars = options.scalars_folder(given["tensorboard"])
    pin_base()
    try:
        report = judge(Path(trace), rules, draws=html is not None, scalars=scalars)
    except TraceError as error:
        options.stop(str(error))
    report.exit = decide(report, given["fail_on"], given["finding_status"])
    page = Page.of(sys.stdout) if output is None else Page(width=100)
    text = render(given["format_"], report, page)
    try:
        if output is not None:
            output.write(text)
        if html is not None:
            write_html(report, html)
    except OutputError as error:
        options.stop(str(error))
    if output is None:
        click.echo(text, nl=False, color=True)
    ctx.exit(report.exit.status)


def judge(path: Path, rules: list[type[Rule]], draws: bool = False, scalars: str | None = None) -> Report:
    engine = Engine(rules)
    follower = Scalars(scalars, engine.history) if scalars is not None else None
    about: dict[str, Any] = {}
    number = 0
    try:
        for record in read(path):
            number += 1
            if isinstance(record, dict):
                about.update(record.get("end", record))
                if "code" in record:
                    remember_code(str(record["code"]))
                continue
            if isinstance(record, SiteSeen):
                _refuse_odd_source(record.file)
            engine.feed(record)
            if follower is not None:
                follower(record)
        engine.finish()
        if follower is not None:
            follower.close()
    except DAMAGE as error:
        raise TraceError(f"{path} is damaged on line {number}") from error
    report = engine.report()
    report.picture = engine.picture(report) if draws else None
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
