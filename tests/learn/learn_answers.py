"""The reference solutions, as text."""

from __future__ import annotations

from gradsan.learn.catalogue import Exercise


def solution(exercise: Exercise) -> str:
    return exercise.solution
