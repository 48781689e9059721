"""The learner's folder: exercises are laid out once and never written again, but where a reset is asked for."""

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


def answer(folder: Path, exercise: Exercise) -> str:
    """The learner's file as text; empty where it is gone."""
    return _text(folder / exercise.file).decode(errors="replace")


def changed(folder: Path, exercises: Iterable[Exercise]) -> list[Exercise]:
    """Those with work of the learner's in them: their files are there, and not as they were given out."""
    return [exercise for exercise in exercises if _text(folder / exercise.file) not in _given(exercise)]


def put_back(folder: Path, exercises: Iterable[Exercise], *, lessons: bool = True) -> None:
    """Write every exercise as it was given out, over what is there."""
    for exercise in exercises:
        path = folder / exercise.file
        try:
            path.write_text(exercise.source if lessons else exercise.task, encoding="utf-8")
        except OSError as error:
            raise CourseError(f"{path} cannot be written: {error.strerror or error}.") from error


def _given(exercise: Exercise) -> tuple[bytes, ...]:
    return b"", exercise.source.encode(), exercise.task.encode()


def _text(path: Path) -> bytes:
    try:
        # Line ends as Python would read them: a file of Windows is no work of the learner's.
        return path.read_bytes().replace(b"\r\n", b"\n")
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror or error}.") from error


def _create(path: Path, text: str) -> bool:
    # Mode "x" is what makes "never overwrites" hold even if the file appears at this very moment.
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
