"""`gradsan report`: a recorded trace, judged again or shown in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from gradsan.cli import baselines, options
from gradsan.cli.exit_status import decide
from gradsan.cli.publish import write_html
from gradsan.follow.scalars import Scalars
from gradsan.judge.lines.source import pin_base
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.findings import Report
from gradsan.processes.folder import beside, traces_in
from gradsan.processes.merge import judged, judged_all, judged_latest, merged
from gradsan.record.trace import TraceError
from gradsan.render import render
from gradsan.render.output import OutputError
from gradsan.render.page import Page
from gradsan.rules.base import Rule
from gradsan.runner.watch import draw


@click.command()
@click.argument("trace", metavar="TRACE")
@options.report_options
@click.pass_context
def command(ctx: click.Context, /, trace: str, **given: Any) -> None:
    """Judge a recorded trace (`gradsan run --trace FILE`), or a folder of them, by the rules of today.

    A folder holds one trace for each process of a run; it may come from several machines. The report goes
    to standard output, or to --output FILE. The trace of a run that was killed counts as far as it goes.
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
    """A trace, or a folder with those of all processes of a run. Beside a trace there may be such a folder."""
    follower = Scalars(scalars) if scalars is not None else None
    if path.is_dir():
        parts, lost = judged_latest(path, rules, draws)
    else:
        parts, lost = [judged(path, rules, draws, follower)], []
        if (others := beside(path)).is_dir():
            run = str(parts[0].about.get("run", ""))
            found, lost = judged_all(traces_in(others), rules, draws, run)
            parts += found
    first, about = parts[0].report, parts[0].about
    first.script, first.mode = str(about.get("script", "")), str(about.get("mode", ""))
    first.torch = str(about.get("torch", ""))
    first.not_watched = str(about.get("not_watched", ""))
    if len(parts) > 1 or lost or (parts[0].process.world_size or 1) > 1:
        return merged(parts, lost, rules, baseline)
    if baseline is not None:
        baseline.apply(first)
    if parts[0].picture is not None:
        draw(first, parts[0].picture)
    return first
