"""`gradsan learn`: the course. The work is in `gradsan.learn`; this is its command line."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from gradsan.learn import assess, progress, reset, session, show
from gradsan.learn.catalogue import find
from gradsan.learn.checker import Checker
from gradsan.learn.errors import CourseError
from gradsan.learn.folder import answer

COURSE, ASSESSMENT = Path("gradsan-course"), Path("gradsan-assessment")


@click.command("learn")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--check", "name", metavar="NAME", help="Check one exercise and exit: 0 right, 1 not yet.")
@click.option("--list", "listing", is_flag=True, help="Show all exercises and what is done.")
@click.option(
    "--assess", "assessing", is_flag=True, help="Check everything without hints; a score per topic."
)
@click.option("--solution", metavar="NAME", help="Show the official solution of an exercise that you solved.")
@click.option("--reset", "again", metavar="NAME|all", help="Give an exercise, or all, out anew. Asks first.")
@click.option("--yes", is_flag=True, help="With --reset: do not ask.")
def command(
    folder: Path | None,
    name: str | None,
    listing: bool,
    assessing: bool,
    solution: str | None,
    again: str | None,
    yes: bool,
) -> None:
    """Learn autograd for reinforcement learning, exercise by exercise.

    Puts the exercises into DIR (default: gradsan-course), watches it, and checks the current one
    whenever you save it. Start it again to go on where you left off.

    --assess keeps to a folder of its own (default: gradsan-assessment), so that you start from
    unsolved tasks; give your course's DIR to score that instead. --assess --reset NAME|all gives its
    tasks out anew.
    """
    if (
        sum((name is not None, listing, assessing and again is None, solution is not None, again is not None))
        > 1
    ):
        raise click.UsageError("--check, --list, --assess, --solution and --reset exclude each other.")
    if yes and again is None:
        raise click.UsageError("--yes goes with --reset.")
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())  # a pipe has no width to wrap to
    home = folder or (ASSESSMENT if assessing else COURSE)
    try:
        if name is not None:
            right = _check_one(console, home, name)
        elif solution is not None:
            right = _show_solution(console, home, solution)
        elif again is not None:
            right = _reset(console, home, again, yes, lessons=not assessing)
        else:
            right = _run(console, home, listing, assessing)
    except CourseError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("\nYour progress is kept.")
        sys.exit(130)
    sys.exit(0 if right else 1)


def _run(console: Console, folder: Path, listing: bool, assessing: bool) -> bool:
    if listing:
        show.contents(console, progress.load(folder))
        return True
    if assessing:
        return assess.assess(folder, console)
    session.learn(folder, console)
    return True


def _reset(console: Console, folder: Path, name: str, yes: bool, *, lessons: bool) -> bool:
    exercises = reset.chosen(name)
    question = reset.question(folder, exercises)
    if question and not yes:
        try:
            agreed = click.confirm(question)
        except click.Abort:  # nobody there to answer
            agreed = False
        if not agreed:
            console.print("\nNothing was changed. --yes resets without asking.")
            return False
    reset.reset(folder, exercises, lessons=lessons)
    what = exercises[0].file if len(exercises) == 1 else f"All {len(exercises)} exercises"
    console.print(f"{what} in {folder}: as at the beginning.", markup=False)
    return True


def _show_solution(console: Console, folder: Path, name: str) -> bool:
    exercise = find(name)
    if exercise.name not in progress.load(folder).done:
        raise CourseError(f"The official solution is shown when {exercise.name} is right.")
    show.solution(console, exercise, answer(folder, exercise))
    return True


def _check_one(console: Console, folder: Path, name: str) -> bool:
    exercise = find(name)
    path = folder / exercise.file
    if not path.is_file():
        raise CourseError(
            f"{path} is not there. `gradsan learn {folder}` puts the exercises into that folder."
        )
    state = progress.load(folder)
    with Checker(lambda sentence: console.print(sentence, style="yellow", markup=False)) as checker:
        verdict = checker.check(exercise, path)
    show.verdict(console, exercise, verdict)
    if verdict.right:
        state.done.add(exercise.name)
        state.save()
        show.solution(console, exercise, answer(folder, exercise))
    return verdict.right
