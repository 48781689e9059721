"""The course as data: which exercises there are, in which order, and what helps with each."""

from __future__ import annotations

import difflib
import functools
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from gradsan.learn.errors import CourseError

PARTS = {
    1: "Autograd for RL",
    2: "Keeping values intact",
    3: "Missing gradients",
    4: "Whole agents",
}


@dataclass(frozen=True)
class Exercise:
    """One file of the course. `name` is what the learner types; `file` is what they edit."""

    name: str
    file: str
    part: int
    topic: str
    title: str
    rules: tuple[str, ...]
    hints: tuple[str, ...]

    @property
    def source(self) -> str:
        """The file as shipped: lesson first, then the code with its gap or bug."""
        return (files("gradsan.learn") / "exercises" / self.file).read_text(encoding="utf-8")

    @property
    def solution(self) -> str:
        """The official answer, without the lesson. Nothing shows it before the exercise is solved."""
        return (files("gradsan.learn") / "solutions" / self.file).read_text(encoding="utf-8")

    @property
    def task(self) -> str:
        """The file without its lesson: what an assessment shows."""
        lines = self.source.splitlines(keepends=True)
        code = next(i for i, line in enumerate(lines) if line.strip() and not line.startswith("#"))
        return "".join(lines[code:])


@functools.cache
def course() -> tuple[Exercise, ...]:
    """Every exercise, in the order in which it is taught."""
    text = (files("gradsan.learn") / "manifest.toml").read_text(encoding="utf-8")
    return tuple(
        Exercise(**{**entry, "rules": tuple(entry.get("rules", ())), "hints": tuple(entry["hints"])})
        for entry in tomllib.loads(text)["exercise"]
    )


def find(name: str) -> Exercise:
    """The exercise called `name`; a file name or its stem will do as well."""
    for exercise in course():
        if name in (exercise.name, exercise.file, exercise.file.removesuffix(".py")):
            return exercise
    close = difflib.get_close_matches(name, [e.name for e in course()], n=1)
    advice = f"Did you mean '{close[0]}'?" if close else "`gradsan learn --list` shows them all."
    raise CourseError(f"There is no exercise called '{name}'. {advice}")
