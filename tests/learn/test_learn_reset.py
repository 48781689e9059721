"""`gradsan learn --reset`: back to the beginning, and never without being asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from learn_answers import solution

from gradsan.cli import main
from gradsan.learn import progress
from gradsan.learn.catalogue import course, find
from gradsan.learn.folder import lay_out

SLOPE, ZEROING = find("slope"), find("zeroing")


def learn(*args: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(main, ["learn", *args], input=answer)


@pytest.fixture
def worked(tmp_path: Path) -> Path:
    """A course folder in which two exercises are solved and one has had hints."""
    lay_out(tmp_path, course())
    state = progress.load(tmp_path)
    for exercise in (SLOPE, ZEROING):
        (tmp_path / exercise.file).write_text(solution(exercise), encoding="utf-8")
        state.hints[exercise.name] = 2
        state.solved(exercise)
    return tmp_path


def text(folder: Path, name: str) -> str:
    return (folder / find(name).file).read_text(encoding="utf-8")


def test_one_exercise_is_reset_after_a_yes_and_the_others_are_left_alone(worked: Path) -> None:
    result = learn("--reset", "slope", str(worked), answer="y\n")
    assert result.exit_code == 0, result.output
    assert "Throw away your work on 1_02_slope.py?" in result.output
    assert text(worked, "slope") == SLOPE.source
    assert text(worked, "zeroing") == solution(ZEROING)
    state = progress.load(worked)
    assert (state.done, state.hints, state.current) == ({"zeroing"}, {"zeroing": 2}, "slope")


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_anything_but_yes_changes_nothing(worked: Path, answer: str) -> None:
    result = learn("--reset", "slope", str(worked), answer=answer)
    assert result.exit_code == 1
    assert "Nothing was changed" in result.output
    assert text(worked, "slope") == solution(SLOPE)
    assert progress.load(worked).done == {"slope", "zeroing"}


def test_yes_does_not_ask(worked: Path) -> None:
    result = learn("--reset", "slope", "--yes", str(worked))
    assert result.exit_code == 0
    assert "Throw away" not in result.output
    assert text(worked, "slope") == SLOPE.source


def test_all_goes_back_to_the_beginning_and_counts_what_would_be_lost(worked: Path) -> None:
    result = learn("--reset", "all", str(worked), answer="y\n")
    assert "Throw away your work on 2 exercises (1_02_slope.py, 1_06_zeroing.py)?" in result.output
    assert [text(worked, e.name) for e in course()] == [e.source for e in course()]
    state = progress.load(worked)
    assert (state.done, state.hints, state.exercise) == (set(), {}, course()[0])


def test_what_was_never_changed_needs_no_question(worked: Path) -> None:
    result = learn("--reset", "sac", str(worked))
    assert result.exit_code == 0
    assert "Throw away" not in result.output


def test_a_deleted_exercise_comes_back(worked: Path) -> None:
    (worked / SLOPE.file).unlink()
    assert learn("--reset", "slope", str(worked)).exit_code == 0
    assert text(worked, "slope") == SLOPE.source


def test_an_assessment_gets_its_tasks_back_without_lessons(worked: Path) -> None:
    result = learn("--assess", "--reset", "slope", "--yes", str(worked))
    assert result.exit_code == 0, result.output
    assert text(worked, "slope") == SLOPE.task


def test_a_folder_without_a_course_and_a_lonely_yes_are_refused(tmp_path: Path) -> None:
    missing = learn("--reset", "slope", str(tmp_path / "nowhere"))
    assert missing.exit_code == 1
    assert "is not there" in missing.output
    assert not (tmp_path / "nowhere").exists()
    assert learn("--yes", str(tmp_path)).exit_code == 2
    assert learn("--reset", "slope", "--check", "slope", str(tmp_path)).exit_code == 2
