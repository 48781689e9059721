"""Where the learner is. Kept in the course folder, so that it moves and is deleted with it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradsan.learn.catalogue import Exercise, course
from gradsan.learn.errors import CourseError

STATE_FILE = ".gradsan-learn.json"
SCHEMA = 1


@dataclass
class Progress:
    """What is solved, how many hints were shown, and which exercise is open."""

    folder: Path
    current: str = ""
    done: set[str] = field(default_factory=set)
    hints: dict[str, int] = field(default_factory=dict)

    @property
    def exercise(self) -> Exercise | None:
        """The open exercise: the one last worked on, else the first that is not solved."""
        chosen = next((e for e in course() if e.name == self.current), None)
        return chosen or self.next_open()

    def next_open(self, after: Exercise | None = None) -> Exercise | None:
        """The next unsolved exercise, going round to the start where one was skipped."""
        exercises = course()
        start = exercises.index(after) + 1 if after else 0
        return next((e for e in exercises[start:] + exercises[:start] if e.name not in self.done), None)

    def solved(self, exercise: Exercise) -> None:
        """Note that `exercise` is right and open the next one."""
        self.done.add(exercise.name)
        following = self.next_open(after=exercise)
        self.current = following.name if following else ""
        self.save()

    def forget(self, exercises: Sequence[Exercise]) -> None:
        """As if `exercises` had never been tried; the first of them is open again."""
        for exercise in exercises:
            self.done.discard(exercise.name)
            self.hints.pop(exercise.name, None)
        self.current = exercises[0].name
        self.save()

    def save(self) -> None:
        """Write the state in one move: a crash half-way leaves the old file, not half a new one."""
        path = self.folder / STATE_FILE
        draft = path.with_suffix(".tmp")
        known = [e.name for e in course() if e.name in self.done]
        state = {"schema": SCHEMA, "current": self.current, "done": known, "hints": self.hints}
        try:
            draft.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
            os.replace(draft, path)
        except OSError as error:
            raise CourseError(
                f"Your progress cannot be saved in {path}: {error.strerror or error}."
            ) from error


def load(folder: Path) -> Progress:
    """The progress kept in `folder`; a fresh one where nothing was kept."""
    path = folder / STATE_FILE
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Progress(folder)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise _broken(path, f"it is not valid JSON ({error})") from error
    return _parse(folder, path, state)


def _parse(folder: Path, path: Path, state: Any) -> Progress:
    if not isinstance(state, dict):
        raise _broken(path, "it holds no object")
    if state.get("schema") != SCHEMA:
        raise _broken(path, f"its schema is {state.get('schema')!r}, this gradsan knows {SCHEMA}")
    current, done, hints = (state.get(key, kind()) for key, kind in _SHAPE.items())
    if not isinstance(current, str):
        raise _broken(path, "'current' is not a name")
    if not isinstance(done, list) or not all(isinstance(name, str) for name in done):
        raise _broken(path, "'done' is not a list of names")
    if not isinstance(hints, dict) or not all(type(n) is int and n >= 0 for n in hints.values()):
        raise _broken(path, "'hints' does not map names to counts")
    return Progress(folder, current, set(done), hints)


_SHAPE: dict[str, type] = {"current": str, "done": list, "hints": dict}


def _broken(path: Path, reason: str) -> CourseError:
    return CourseError(
        f"The progress file {path} cannot be used: {reason}. "
        "Delete it to start counting afresh; your exercises stay as they are."
    )
