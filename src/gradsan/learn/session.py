"""The course at work: wait for a save or a key, check, say what is wrong, go on when it is right."""

from __future__ import annotations

from pathlib import Path
from queue import Queue

from rich.console import Console
from rich.text import Text

from gradsan.learn import progress, reset, show
from gradsan.learn.catalogue import Exercise, course
from gradsan.learn.checker import Checker
from gradsan.learn.errors import CourseError
from gradsan.learn.events import Checked, Event, Key, RunningCheck, Saved, listen
from gradsan.learn.folder import answer, lay_out
from gradsan.learn.keys import ENTER
from gradsan.learn.verdict import Grade


class CourseSession:
    """One sitting. Everything worth keeping is in `progress`, which is saved at each change."""

    def __init__(self, folder: Path, console: Console, checker: Checker, events: Queue[Event]) -> None:
        self.folder, self.console, self.checker, self.events = folder, console, checker, events
        self.progress = progress.load(folder)
        self.exercise = self.progress.exercise
        self._asked = False  # whether the next key answers "throw it away?"
        self._running: RunningCheck | None = None

    def run(self) -> None:
        """Until everything is solved or the learner leaves."""
        try:
            self._open(self.exercise)
            while self.exercise:
                event = self._next_event()
                if event == Key("q") and not self._asked:
                    self.console.print("Your progress is kept. See you.")
                    return
                self._on_event(event, self.exercise)
        finally:
            if self._running:
                self._running.abandon()

    def _next_event(self) -> Event | None:
        """None where Ctrl-C ended a check; without one, it ends the course."""
        try:
            return self.events.get()
        except KeyboardInterrupt:
            if not self._running:
                raise
            self._abandon()
            self.console.print("You stopped the check. Ctrl-C once more, or q, leaves the course.")
            self.console.print(Text(show.KEYS, style="dim"))
            return None

    def _on_event(self, event: Event | None, exercise: Exercise) -> None:
        if isinstance(event, CourseError):
            raise event
        if isinstance(event, Checked):
            if event.check is self._running:
                self._on_verdict(event.grade, exercise)
        elif isinstance(event, Saved):
            self._on_save(event.files, exercise)
        elif isinstance(event, Key) and self._asked:
            self._on_answer(event.name, exercise)
        elif isinstance(event, Key):
            self._on_key(event.name, exercise)

    def _on_key(self, key: str, exercise: Exercise) -> None:
        solved = exercise.name in self.progress.done
        if key == ENTER:
            if solved:
                self._open(self.progress.next_open(after=exercise))
        elif key == "h":
            self._hint(exercise)
        elif key == "l":
            show.contents(self.console, self.progress)
        elif key == "r":
            self._check(exercise)
        elif key == "s" and solved:
            self._solution(exercise)
        elif key == "s":
            show.not_yet(self.console, exercise)
        elif key == "x":
            self._ask_to_reset(exercise)
        elif key in "np":
            exercises = course()
            step = 1 if key == "n" else -1
            self._open(exercises[(exercises.index(exercise) + step) % len(exercises)])
        else:
            self.console.print(Text(show.KEYS, style="dim"))

    def _ask_to_reset(self, exercise: Exercise) -> None:
        if question := reset.question(self.folder, [exercise]):
            self._asked = True
            self.console.print(Text(f"{question} y/n"))
        else:
            self.console.print(Text(f"{exercise.file} is as it was given out."))

    def _on_answer(self, key: str, exercise: Exercise) -> None:
        self._asked = False
        if key != "y":
            self.console.print("Nothing was changed.")
            return
        reset.reset(self.folder, [exercise])  # the file is written, so it is checked like any other save
        self.progress = progress.load(self.folder)

    def _on_save(self, files: frozenset[str], exercise: Exercise) -> None:
        """A save of another exercise opens that one: it is what the learner works on now."""
        if exercise.file in files:
            self._check(exercise)
        elif other := next((e for e in course() if e.file in files), None):
            self._open(other)

    def _hint(self, exercise: Exercise) -> None:
        shown = min(self.progress.hints.get(exercise.name, 0) + 1, len(exercise.hints))
        self.progress.hints[exercise.name] = shown
        self.progress.save()
        show.hint(self.console, exercise, shown)

    def _solution(self, exercise: Exercise) -> None:
        show.solution(self.console, exercise, answer(self.folder, exercise))

    def _open(self, exercise: Exercise | None) -> None:
        self.exercise = exercise
        if exercise is None:
            self._finish()
            return
        self.progress.current = exercise.name
        self.progress.save()
        show.lesson(self.console, exercise, self.folder)
        self._check(exercise)

    def _check(self, exercise: Exercise) -> None:
        self._abandon()
        self.console.print(Text("Checking …", style="dim"))
        self._running = RunningCheck(self.checker, exercise, self.folder / exercise.file, self.events)

    def _abandon(self) -> None:
        """Stop the check that runs, if one does: nobody wants its verdict any more."""
        if self._running:
            self._running.abandon()
            self._running = None
            self.checker.renew()

    def _on_verdict(self, grade: Grade, exercise: Exercise) -> None:
        self._running = None
        self.checker.renew()
        show.verdict(self.console, exercise, grade)
        if grade.right:
            self._right(exercise)
        else:
            self.console.print(Text(show.KEYS, style="dim"))

    def _right(self, exercise: Exercise) -> None:
        # A solved exercise that is opened again is for looking at: only news is celebrated.
        if exercise.name not in self.progress.done:
            self.progress.solved(exercise)
            show.progress(self.console, self.progress)
            self._solution(exercise)
        following = self.progress.next_open(after=exercise)
        if following is None:
            self._open(None)
            return
        self.console.print(Text(show.KEYS, style="dim"))
        show.onwards(self.console, following)

    def _finish(self) -> None:
        show.progress(self.console, self.progress)
        self.console.print(
            "That was all of it. `gradsan learn --assess` asks the same without lessons and hints."
        )


def learn(folder: Path, console: Console) -> None:
    """The interactive course in `folder`, which is made if it is not there."""
    made = lay_out(folder, course())
    if made:
        console.print(Text(f"{len(made)} exercises were put into {folder}. What was there is untouched."))

    def slow(sentence: str) -> None:
        console.print(f"{sentence} A save checks the file anew.", style="yellow", markup=False)

    with Checker(slow) as checker, listen(folder) as events:
        CourseSession(folder, console, checker, events).run()
