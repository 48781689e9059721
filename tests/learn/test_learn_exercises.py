"""Every exercise can be failed and can be passed, and trips the rule that it teaches."""

from __future__ import annotations

from importlib.resources import files

import pytest
from learn_answers import solution

from gradsan.learn import checks
from gradsan.learn.catalogue import PARTS, Exercise, course
from gradsan.learn.judge import judge

# PyTorch warns about exactly what 3.05 teaches; the learner sees it with what the file printed.
pytestmark = pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True")
each = pytest.mark.parametrize("exercise", course(), ids=lambda e: e.name)


@each
def test_fails_as_shipped(exercise: Exercise, write) -> None:
    verdict = judge(exercise, write(exercise.name, exercise.source))
    assert verdict.problems, "the value check must fail even where the sanitizer is silent"


@each
def test_trips_the_rules_it_teaches_as_shipped(exercise: Exercise, write) -> None:
    verdict = judge(exercise, write(exercise.name, exercise.source))
    assert {note.rule for note in verdict.notes} >= set(exercise.rules)
    lines = exercise.source.splitlines()
    assert all(1 <= note.line <= len(lines) for note in verdict.notes), (
        "a finding names a line of the exercise"
    )


@each
def test_passes_as_solved_whatever_the_inputs(exercise: Exercise, write) -> None:
    path = write(exercise.name, solution(exercise))
    for _ in range(3):
        verdict = judge(exercise, path)
        assert verdict.right, verdict


@each
def test_does_not_pass_as_an_assessment_task(exercise: Exercise, write) -> None:
    assert not judge(exercise, write(exercise.name, exercise.task)).right


@each
def test_is_complete_in_the_catalogue(exercise: Exercise) -> None:
    assert exercise.part in PARTS
    assert exercise.file.startswith(f"{exercise.part}_")
    assert 2 <= len(exercise.hints) <= 3
    assert exercise.name in checks.VALUES
    assert exercise.name in checks.DRIVES


@each
def test_opens_with_a_lesson_and_marks_the_place(exercise: Exercise) -> None:
    number = exercise.file[:4].replace("_", ".")
    assert exercise.source.startswith(f"# {number}  ")
    assert "# TODO" in exercise.task
    assert not exercise.task.startswith("#")
    assert max(map(len, exercise.source.splitlines())) <= 110


def test_the_course_has_no_stray_parts() -> None:
    names = {exercise.name for exercise in course()}
    names_of_files = {exercise.file for exercise in course()}
    assert len(names) == len(names_of_files) == len(course()) >= 30
    assert set(checks.VALUES) == set(checks.DRIVES) == names
    shipped = files("gradsan.learn") / "solutions"
    assert {path.name for path in shipped.iterdir() if path.name.endswith(".py")} == names_of_files
    assert [e.part for e in course()] == sorted(e.part for e in course())
