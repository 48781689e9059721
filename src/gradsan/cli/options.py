"""Options that several commands share, and how a command says that it cannot go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import click

from gradsan.judge.findings import SEVERITIES, Report
from gradsan.judge.selection import UnknownRule, select
from gradsan.render import FORMATS
from gradsan.render.output import OutputError, OutputFile
from gradsan.rules.base import Rule

F = TypeVar("F", bound=Callable[..., Any])
NEVER = "never"

_SHARED = (
    click.option(
        "--select",
        multiple=True,
        metavar="CODES",
        help="Judge by these rules only: codes (GS301), names, or the beginning of codes (GS4).",
    ),
    click.option("--ignore", multiple=True, metavar="CODES", help="Judge by all rules but these."),
    click.option(
        "--format",
        "format_",
        type=click.Choice(list(FORMATS)),
        default="text",
        show_default=True,
        help="How the report is written.",
    ),
    click.option("--output", metavar="FILE", help="Write the report to FILE."),
    click.option(
        "--html", metavar="FILE", help="Write a report for the browser: findings, gradient flow, charts."
    ),
    click.option(
        "--fail-on",
        type=click.Choice(["error", "warning", NEVER]),
        default="error",
        show_default=True,
        help="Exit with status 1 on a finding at least this severe.",
    ),
    click.option(
        "--finding-status",
        type=click.IntRange(1, 255),
        default=1,
        show_default=True,
        metavar="N",
        help="The exit status on such a finding. A script that crashes ends with 1, too.",
    ),
    click.option("--tensorboard", metavar="DIR", help="Write norms and losses as TensorBoard scalars."),
)


def report_options(command: F) -> F:
    for option in reversed(_SHARED):
        command = option(command)
    return command


def stop(sentence: str) -> NoReturn:
    """Bad usage: one clear sentence, exit status 2."""
    refuse(f"gradsan: {sentence}")


def refuse(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    raise click.exceptions.Exit(2)


def chosen_rules(selected: tuple[str, ...], ignored: tuple[str, ...]) -> list[type[Rule]]:
    try:
        return select(selected, ignored)
    except UnknownRule as error:
        stop(str(error))


def output_file(path: str | None) -> OutputFile | None:
    try:
        return OutputFile(path) if path is not None else None
    except OutputError as error:
        stop(str(error))


def scalars_folder(path: str | None) -> str | None:
    from gradsan.follow.scalars import ScalarsError, folder

    try:
        return folder(path) if path is not None else None
    except ScalarsError as error:
        stop(str(error))


def fails(report: Report, fail_on: str) -> bool:
    return fail_on != NEVER and report.worst() >= SEVERITIES.index(fail_on)
