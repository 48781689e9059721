"""`gradsan learn`: the course. The work is in `gradsan.learn`; this is its command line."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from gradsan.learn import assess, progress, session, show
from gradsan.learn.catalogue import find
from gradsan.learn.checker import Checker
from gradsan.learn.errors import CourseError

COURSE, ASSESSMENT = Path("gradsan-course"), Path("gradsan-assessment")


@click.command("learn")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--check", "name", metavar="NAME", help="Check one exercise and exit: 0 right, 1 not yet.")
@click.option("--list", "listing", is_flag=True, help="Show all exercises and what is done.")
@click.option(
    "--assess", "assessing", is_flag=True, help="Check everything without hints; a score per topic."
)
def command(folder: Path | None, name: str | None, listing: bool, assessing: bool) -> None:
    """Learn autograd for reinforcement learning, exercise by exercise.

    Puts the exercises into DIR (default: gradsan-course), watches it, and checks the current one
    whenever you save it. Start it again to go on where you left off.

    --assess keeps to a folder of its own (default: gradsan-assessment), so that you start from
    unsolved tasks; give your course's DIR to score that instead.
    """
    if (name is not None) + listing + assessing > 1:
        raise click.UsageError("--check, --list and --assess exclude each other.")
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())  # a pipe has no width to wrap to
    try:
        right = _run(console, folder, name, listing, assessing)
    except CourseError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("\nYour progress is kept.")
        sys.exit(130)
    sys.exit(0 if right else 1)


def _run(console: Console, folder: Path | None, name: str | None, listing: bool, assessing: bool) -> bool:
    if name is not None:
        return _check_one(console, folder or COURSE, name)
    if listing:
        show.contents(console, progress.load(folder or COURSE))
        return True
    if assessing:
        return assess.assess(folder or ASSESSMENT, console)
    session.learn(folder or COURSE, console)
    return True


def _check_one(console: Console, folder: Path, name: str) -> bool:
    exercise = find(name)
    path = folder / exercise.file
    if not path.is_file():
        raise CourseError(
            f"{path} is not there. `gradsan learn {folder}` puts the exercises into that folder."
        )
    state = progress.load(folder)
    with Checker() as checker:
        verdict = checker.check(exercise, path)
    show.verdict(console, exercise, verdict)
    if verdict.right:
        state.done.add(exercise.name)
        state.save()
    return verdict.right
