"""The learner's folder: exercises are laid out once and never written again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gradsan.learn.catalogue import Exercise
from gradsan.learn.errors import CourseError


def lay_out(folder: Path, exercises: Iterable[Exercise], *, lessons: bool = True) -> list[Path]:
    """Put every exercise that is not there yet into `folder`; what is there is left untouched."""
    made = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for exercise in exercises:
            path = folder / exercise.file
            if _create(path, exercise.source if lessons else exercise.task):
                made.append(path)
    except OSError as error:
        raise CourseError(
            f"The exercises cannot be put into {folder}: {error.strerror or error}. "
            "Give another folder: gradsan learn DIR."
        ) from error
    return made


def _create(path: Path, text: str) -> bool:
    # Mode "x" is what makes "never overwrites" hold even if the file appears at this very moment.
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
