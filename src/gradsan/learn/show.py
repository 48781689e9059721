"""How the course looks: every text that the terminal shows is put together here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradsan.learn.catalogue import PARTS, Exercise, course
from gradsan.learn.official import changes, same_program
from gradsan.learn.progress import Progress
from gradsan.learn.verdict import Grade, Note

KEYS = "h hint · l list · n next · p previous · r rerun · s solution · x reset · q quit"
BAR = 30


def lesson(console: Console, exercise: Exercise, folder: Path) -> None:
    """Which exercise is open and where its file lies."""
    console.print()
    console.rule(Text(f"Part {exercise.part}: {PARTS[exercise.part]}"))
    console.print(Text(exercise.title, style="bold"))
    console.print(Text.assemble("Open ", (str(folder / exercise.file), "bold cyan"), ", read, mend, save."))


def verdict(console: Console, exercise: Exercise, said: Grade) -> None:
    """What is wrong, in the order in which one would mend it."""
    if said.printed.strip():
        console.print(Text("Your file printed:", style="dim"))
        console.print(Text(_plain(said.printed.rstrip()), style="dim"))
    if said.right:
        console.print(Text(f"✓ {exercise.name} is right.", style="bold green"))
        return
    console.print(Text(f"✗ {exercise.name} is not right yet.", style="bold red"))
    for problem in said.problems:
        console.print(Text(_plain(problem)))
    for note in said.notes:
        console.print(_finding(note, exercise.file))


def _finding(note: Note, file: str) -> Text:
    where = f"{file}:{note.line}" if note.line else file
    text = Text.assemble(("gradsan ", "dim"), (f"{note.rule} {note.name}", "yellow"), f" at {where}\n")
    text.append(f"  {_plain(note.message)}\n")
    # The finding's own remedy is left out: it would be the last hint, given first.
    text.append(f"  More: gradsan explain {note.rule}", style="dim")
    return text


def hint(console: Console, exercise: Exercise, shown: int) -> None:
    """The first `shown` hints, because the earlier ones have scrolled away."""
    for number, text in enumerate(exercise.hints[:shown], start=1):
        console.print(Text.assemble((f"Hint {number} of {len(exercise.hints)}: ", "magenta"), text))


def solution(console: Console, exercise: Exercise, answer: str) -> None:
    """What the official solution changes; `answer` is the learner's own, which is right as well."""
    if same_program(answer, exercise):
        console.print("Your answer is the official solution.")
        return
    console.print(Text(f"The official solution of {exercise.file} (yours is right as well):", style="bold"))
    styles = {"+": "green", "-": "red"}
    for line in changes(exercise):
        console.print(Text(line, style=styles.get(line[:1], "dim")))


def not_yet(console: Console, exercise: Exercise) -> None:
    """The answer to everybody who asks for the solution too early."""
    console.print(f"The official solution is shown when {exercise.name} is right; h gives a hint.")


def onwards(console: Console, following: Exercise) -> None:
    """The pause after an exercise: there is something to read first."""
    console.print(Text.assemble(("Press Enter for the next exercise", "bold"), f" ({following.title})."))


def progress(console: Console, state: Progress) -> None:
    """A bar and a count; a skipped exercise is not counted."""
    total = len(course())
    done = sum(exercise.name in state.done for exercise in course())
    filled = max(BAR * done // total, min(done, 1))  # the first one shows, too
    console.print(Text(f"[{'#' * filled}{'-' * (BAR - filled)}] {done} of {total}", style="green"))


def contents(console: Console, state: Progress) -> None:
    """The whole course, with what is done."""
    open_now, part = state.exercise, 0
    for exercise in course():
        if exercise.part != part:
            part = exercise.part
            console.print(Text(f"\nPart {part}: {PARTS[part]}", style="bold"))
        mark = "✓" if exercise.name in state.done else ">" if exercise == open_now else "·"
        console.print(Text(f"{mark} {exercise.name:<18} {exercise.title}"))
    console.print()
    progress(console, state)


def scores(console: Console, right: Iterable[tuple[Exercise, bool]]) -> None:
    """One line per topic, in the order of the course, and the sum."""
    tally: dict[str, list[bool]] = {}
    for exercise, passed in right:
        tally.setdefault(exercise.topic, []).append(passed)
    table = Table("topic", "score", box=None, pad_edge=False)
    for topic, marks in tally.items():
        table.add_row(topic, f"{sum(marks)}/{len(marks)}")
    every = [mark for marks in tally.values() for mark in marks]
    table.add_row(Text("all", style="bold"), Text(f"{sum(every)}/{len(every)}", style="bold"))
    console.print(table)


def _plain(text: str) -> str:
    """Without control characters: a learner's file may print anything."""
    return "".join(char for char in text if char.isprintable() or char in "\n\t")
