"""The reference solutions, as text. They live beside the tests, not in the package."""

from __future__ import annotations

from pathlib import Path

from gradsan.learn.catalogue import Exercise

SOLUTIONS = Path(__file__).parent / "solutions"


def solution(exercise: Exercise) -> str:
    return (SOLUTIONS / exercise.file).read_text(encoding="utf-8")
