"""The forms of `gradsan learn` that need no keyboard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from learn_answers import solution

from gradsan.cli import main
from gradsan.learn import progress
from gradsan.learn.catalogue import course, find
from gradsan.learn.folder import lay_out


def learn(*args: str) -> Result:
    return CliRunner().invoke(main, ["learn", *args])


def test_the_course_is_listed_without_torch() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from gradsan.cli import main;"
        "r = CliRunner().invoke(main, ['learn', '--list']); assert r.exit_code == 0, r.output;"
        "r = CliRunner().invoke(main, ['--help']); assert 'learn' in r.output;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_list_shows_what_is_done(tmp_path: Path) -> None:
    progress.load(tmp_path).solved(find("requires_grad"))
    output = learn("--list", str(tmp_path)).output
    assert "✓ requires_grad" in output
    assert "> slope" in output
    assert f"[#{'-' * 29}] 1 of {len(course())}" in output


def test_a_check_says_what_is_wrong_then_that_it_is_right(tmp_path: Path) -> None:
    lay_out(tmp_path, course())
    wrong = learn("--check", "two_variables", str(tmp_path))
    assert wrong.exit_code == 1
    assert "The slope in the direction of y is 0" in wrong.output
    assert progress.load(tmp_path).done == set()
    (tmp_path / find("two_variables").file).write_text(solution(find("two_variables")), encoding="utf-8")
    right = learn("--check", "1_04_two_variables.py", str(tmp_path))
    assert right.exit_code == 0, right.output
    assert progress.load(tmp_path).done == {"two_variables"}


def test_the_official_solution_follows_success_and_only_success(tmp_path: Path) -> None:
    exercise = find("two_variables")
    lay_out(tmp_path, course())
    assert "official" not in learn("--check", exercise.name, str(tmp_path)).output
    refused = learn("--solution", exercise.name, str(tmp_path))
    assert refused.exit_code == 1
    assert "is shown when two_variables is right" in refused.output
    (tmp_path / exercise.file).write_text("import math\n" + solution(exercise), encoding="utf-8")
    assert "The official solution" in learn("--check", exercise.name, str(tmp_path)).output
    shown = learn("--solution", exercise.name, str(tmp_path)).output
    changed = set(solution(exercise).splitlines()) - set(exercise.task.splitlines())
    assert {f"+ {line}" for line in changed} <= {line.rstrip() for line in shown.splitlines()}


def test_an_answer_that_is_the_official_one_is_told_so(tmp_path: Path) -> None:
    exercise = find("slope")
    (tmp_path / exercise.file).write_text("# mine\n" + solution(exercise), encoding="utf-8")
    output = learn("--check", "slope", str(tmp_path)).output
    assert "Your answer is the official solution" in output


def test_an_assessment_shows_no_solution(solved: Path) -> None:
    assert "official" not in learn("--assess", str(solved)).output


def test_the_assessment_scores_each_topic_and_gives_no_hint(solved: Path) -> None:
    for name in ("slope", "dqn", "sac"):
        (solved / find(name).file).write_text(find(name).task, encoding="utf-8")
    result = learn("--assess", str(solved))
    assert result.exit_code == 1
    assert "✗ 1_02_slope.py" in result.output
    rows = {
        line.rsplit(maxsplit=1)[0]: line.split()[-1] for line in result.output.splitlines() if "/" in line
    }
    topics = {exercise.topic for exercise in course()}
    assert set(rows) == topics | {"all"}
    assert rows["gradients"] == "3/4"
    assert rows["whole agents"] == "2/4"
    assert rows["clipping"] == "3/3"
    assert rows["all"] == f"{len(course()) - 3}/{len(course())}"
    assert not any(hint in result.output for exercise in course() for hint in exercise.hints)


def test_unknown_names_and_clashing_options_are_refused(tmp_path: Path) -> None:
    assert "Did you mean 'slope'?" in learn("--check", "slop", str(tmp_path)).output
    assert "--list shows them all" in learn("--check", "zzz", str(tmp_path)).output.replace("`", "")
    assert "puts the exercises into that folder" in learn("--check", "slope", str(tmp_path)).output
    assert learn("--list", "--assess").exit_code == 2


def test_a_broken_state_file_is_one_sentence_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / progress.STATE_FILE).write_text("{", encoding="utf-8")
    result = learn("--list", str(tmp_path))
    assert result.exit_code == 1
    assert result.output.startswith("Error: The progress file")


@pytest.mark.parametrize("missing", ["torch", "watchfiles"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(missing: str, tmp_path: Path) -> None:
    code = f"import sys; sys.modules['{missing}'] = None; from gradsan.cli import main; main()"
    command = [sys.executable, "-c", code, "learn", tmp_path]
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ran.returncode == 1
    assert 'pip install "gradsan[learn]"' in ran.stderr
    assert "Traceback" not in ran.stderr
