"""Where the learner's files, the shipped ones and the solved ones come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from learn_answers import solution

from gradsan.learn.catalogue import course, find


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Save `text` as the learner's file for the exercise `name`."""

    def save(name: str, text: str) -> Path:
        path = tmp_path / find(name).file
        path.write_text(text, encoding="utf-8")
        return path

    return save


@pytest.fixture
def solved(tmp_path: Path) -> Path:
    """A folder in which every exercise is solved."""
    for exercise in course():
        (tmp_path / exercise.file).write_text(solution(exercise), encoding="utf-8")
    return tmp_path
