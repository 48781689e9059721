"""Options that several commands share, and how a command says that it cannot go on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import click
from click.core import ParameterSource

from gradsan.judge.report.findings import SEVERITIES, Report
from gradsan.judge.report.selection import UnknownRule, select
from gradsan.render import FORMATS
from gradsan.render.output import Output, OutputError, OutputFile, StandardOutput
from gradsan.rules.base import Rule
from gradsan.runner.packages import UnknownPackage, check_packages
from gradsan.settings import FAIL_ON, PATHS, Settings, SettingsError, load, nearest

F = TypeVar("F", bound=Callable[..., Any])
NEVER = FAIL_ON[-1]
RIVALS = {
    "live": {"quiet"},
    "quiet": {"live"},
    "baseline": {"no_baseline"},
}  # one on the command line takes the other one of the file away
CALLED = {"format": "format_"}  # options whose name is taken in Python

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
    click.option("--output", metavar="FILE", help="Write the report to FILE; - is standard output."),
    click.option(
        "--html", metavar="FILE", help="Write a report for the browser: findings, gradient flow, charts."
    ),
    click.option(
        "--fail-on",
        type=click.Choice(FAIL_ON),
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
    click.option("--baseline", metavar="FILE", help="Report only findings that are not in FILE."),
    click.option("--no-baseline", is_flag=True, help="Report all findings, whatever the settings say."),
    click.option(
        "--write-baseline",
        metavar="FILE",
        help="Write the findings to FILE, for --baseline; they do not fail.",
    ),
    click.option(
        "--config", metavar="FILE", help="Take defaults from FILE, not from the nearest pyproject.toml."
    ),
    click.option("--no-config", is_flag=True, help="Take no defaults from any file."),
)


_OF_A_RUN = ("html", "tensorboard")  # what is drawn from a run that was watched


def report_options(command: F) -> F:
    for option in reversed(_SHARED):
        command = option(command)
    return command


def lint_options(command: F) -> F:
    """Those of them that need no run."""
    command = report_options(command)
    given = command.__dict__["__click_params__"]
    given[:] = [option for option in given if option.name not in _OF_A_RUN]
    return command


def stop(sentence: str) -> NoReturn:
    """Bad usage: one clear sentence, exit status 2."""
    refuse(f"gradsan: {sentence}")


def refuse(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    raise click.exceptions.Exit(2)


def with_defaults(context: click.Context, given: dict[str, Any]) -> Settings:
    """Fill in, from the settings file, what the command line does not say. Which file it was is returned."""
    if given["config"] is not None and given["no_config"]:
        stop("give --config or --no-config, not both")
    try:
        found = Settings() if given["no_config"] else _settings(given["config"])
    except SettingsError as error:
        stop(str(error))
    said = {name for name in given if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    for key, value in found.values.items():
        name = CALLED.get(key, key)
        if name in given and name not in said and not said & RIVALS.get(name, set()):
            given[name] = _near(value) if key in PATHS else value
    return found


def _settings(file: str | None) -> Settings:
    return nearest() if file is None else load(file)


def _near(path: str) -> str:
    """As one would write it here."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def chosen_rules(selected: tuple[str, ...], ignored: tuple[str, ...]) -> list[type[Rule]]:
    try:
        return select(selected, ignored)
    except UnknownRule as error:
        stop(str(error))


def known_packages(names: tuple[str, ...], home: str) -> tuple[str, ...]:
    try:
        check_packages(names, home)
    except UnknownPackage as error:
        stop(str(error))
    return names


def report_output(path: str | None) -> Output | None:
    return StandardOutput() if path == "-" else output_file(path)


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


def fails(report: Report, fail_on: str, written: bool = False) -> bool:
    """Findings that were just written down as known do not fail."""
    return not written and fail_on != NEVER and report.worst() >= SEVERITIES.index(fail_on)
