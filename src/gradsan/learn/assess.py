"""The assessment: every exercise, without lessons, without hints, a score per topic."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from gradsan.learn import show
from gradsan.learn.catalogue import course
from gradsan.learn.checker import Checker
from gradsan.learn.folder import lay_out


def assess(folder: Path, console: Console) -> bool:
    """Check all of `folder`; True where everything is right. Says which are wrong, never why."""
    made = lay_out(folder, course(), lessons=False)
    if made:
        console.print(Text(f"{len(made)} tasks were put into {folder}. Solve them and run this again."))
    results = []
    with Checker(lambda sentence: console.print(sentence, style="yellow", markup=False)) as checker:
        for exercise in course():
            passed = checker.check(exercise, folder / exercise.file).right
            mark = Text("✓", style="green") if passed else Text("✗", style="red")
            console.print(Text.assemble(mark, f" {exercise.file}"))
            results.append((exercise, passed))
    show.scores(console, results)
    return all(passed for _, passed in results)
