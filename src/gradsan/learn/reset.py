"""Back to the beginning: what would be lost is said first, and nothing is thrown away without a yes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradsan.learn import progress
from gradsan.learn.catalogue import Exercise, course, find
from gradsan.learn.errors import CourseError
from gradsan.learn.folder import changed, put_back


def chosen(name: str) -> tuple[Exercise, ...]:
    """The exercise of that name, or all of them."""
    return course() if name == "all" else (find(name),)


def question(folder: Path, exercises: Sequence[Exercise]) -> str:
    """What to ask before `exercises` are reset; empty where no work would be lost."""
    if not folder.is_dir():
        raise CourseError(f"{folder} is not there: nothing to reset. `gradsan learn {folder}` makes it.")
    lost = [exercise.file for exercise in changed(folder, exercises)]
    if not lost:
        return ""
    what = lost[0] if len(lost) == 1 else f"{len(lost)} exercises ({', '.join(lost)})"
    return f"Throw away your work on {what}?"


def reset(folder: Path, exercises: Sequence[Exercise], *, lessons: bool = True) -> None:
    """Files as they were given out; what is remembered of them is forgotten."""
    state = progress.load(folder)
    put_back(folder, exercises, lessons=lessons)
    state.forget(exercises)
