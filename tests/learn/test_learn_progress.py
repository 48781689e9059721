"""The learner's folder and what is remembered in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradsan.learn import progress
from gradsan.learn.catalogue import course, find
from gradsan.learn.errors import CourseError
from gradsan.learn.folder import lay_out


def test_the_first_run_lays_out_every_exercise(tmp_path: Path) -> None:
    made = lay_out(tmp_path / "deep" / "course", course())
    assert [path.name for path in made] == [exercise.file for exercise in course()]
    assert made[0].read_text(encoding="utf-8") == course()[0].source


def test_the_learners_work_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / course()[0].file).write_text("mine", encoding="utf-8")
    made = lay_out(tmp_path, course())
    assert (tmp_path / course()[0].file).read_text(encoding="utf-8") == "mine"
    assert len(made) == len(course()) - 1
    assert lay_out(tmp_path, course()) == []


def test_a_folder_that_is_a_file_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CourseError, match="cannot be put into"):
        lay_out(tmp_path / "file", course())


def test_progress_survives_a_restart(tmp_path: Path) -> None:
    state = progress.load(tmp_path)
    state.hints["slope"] = 2
    state.solved(find("requires_grad"))
    again = progress.load(tmp_path)
    assert again == state
    assert again.exercise == find("slope")


def test_a_skipped_exercise_comes_back_at_the_end(tmp_path: Path) -> None:
    state = progress.load(tmp_path)
    for exercise in course()[1:]:
        state.solved(exercise)
    assert state.exercise == course()[0]
    state.solved(course()[0])
    assert state.exercise is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{half", "not valid JSON"),
        ("[]", "holds no object"),
        ("{}", "schema is None"),
        ('{"schema": 99}', "schema is 99"),
        ('{"schema": 1, "current": 3}', "'current'"),
        ('{"schema": 1, "done": "slope"}', "'done'"),
        ('{"schema": 1, "done": [1]}', "'done'"),
        ('{"schema": 1, "hints": {"slope": "two"}}', "'hints'"),
        ('{"schema": 1, "hints": {"slope": -1}}', "'hints'"),
    ],
)
def test_a_broken_state_file_gets_a_sentence_that_says_what_to_do(
    tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / progress.STATE_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        progress.load(tmp_path)
    assert reason in str(caught.value)
    assert "Delete it to start counting afresh" in str(caught.value)


def test_a_state_of_another_edition_of_the_course_is_usable(tmp_path: Path) -> None:
    (tmp_path / progress.STATE_FILE).write_text('{"schema": 1, "current": "gone", "done": ["gone"]}')
    assert progress.load(tmp_path).exercise == course()[0]
