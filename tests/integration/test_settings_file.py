"""The command line reads `[tool.gradsan]`, and beats it."""

from __future__ import annotations

import json

import pytest

from sandbox import STALE, Sandbox

WATCHES_ITSELF = """
import gradsan
print(gradsan.watch().mode)
"""


@pytest.fixture
def project(sandbox: Sandbox) -> Sandbox:
    sandbox.write("train.py", STALE)
    sandbox.write(
        "pyproject.toml",
        "[tool.gradsan]\nmode = 'light'\nformat = 'json'\noutput = 'out.json'\nquiet = true\nfail-on = 'never'\n",
    )
    return sandbox


def test_what_the_file_says_counts_from_a_folder_below_and_for_every_watch(project: Sandbox) -> None:
    project.write("below/itself.py", WATCHES_ITSELF)
    seen = project.gradsan("run", "../train.py", cwd=project.path / "below")
    assert (seen.returncode, seen.stderr) == (0, "")
    report = json.loads(project.read("out.json"))
    assert report["mode"] == "light"
    assert [f["rule"] for f in report["findings"]] == ["GS401"]
    seen = project.gradsan("run", "itself.py", cwd=project.path / "below")
    assert seen.stdout == "light\n"
    seen = project.gradsan("run", "--no-config", "--quiet", "itself.py", cwd=project.path / "below")
    assert seen.stdout == "adaptive\n"


def test_the_command_line_beats_the_file(project: Sandbox) -> None:
    words = ["--mode", "deep", "--fail-on", "error", "--no-quiet", "--output", "other.json"]
    seen = project.gradsan("run", *words, "train.py")
    assert seen.returncode == 1
    assert "the report is in other.json" in seen.stderr
    assert json.loads(project.read("other.json"))["mode"] == "deep"
    assert not (project.path / "out.json").exists()


MISTAKES = {
    "misspelt key": (["run", "train.py"], "[tool.gradsan]\nselct = 'GS3'", "did you mean 'select'?"),
    "for report, too": (["report", "x"], "[tool.gradsan]\nselct = 'GS3'", "did you mean 'select'?"),
    "missing package": (["run", "train.py"], "[tool.gradsan]\ninclude = 'tortch'", "did you mean torch?"),
    "missing file": (["run", "--config", "no.toml", "train.py"], "", "no.toml: No such file or directory"),
    "both": (["run", "--config", "a", "--no-config", "train.py"], "", "--config or --no-config, not both"),
}


@pytest.mark.parametrize(("args", "text", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_in_the_file_is_bad_usage(project: Sandbox, args: list[str], text: str, words: str) -> None:
    project.write("pyproject.toml", text)
    seen = project.gradsan(*args)
    assert (seen.returncode, seen.stdout) == (2, "")
    assert seen.stderr.startswith("gradsan: ")
    assert seen.stderr.count("\n") == 1
    assert words in seen.stderr


def test_a_file_that_wants_repairs_verified_or_a_lock_is_no_mistake_where_there_is_none(
    project: Sandbox,
) -> None:
    project.write("pyproject.toml", "[tool.gradsan]\nverify-fixes = true\nlocked = true\n")
    seen = project.gradsan("run", "--no-locked", "-c", "pass")
    assert seen.returncode == 0, seen.stderr
    asked = project.gradsan("run", "--no-locked", "--verify-fixes", "-c", "pass")
    assert asked.returncode == 2
    assert "--verify-fixes is for --html and --format sarif" in asked.stderr


def test_a_flag_on_the_command_line_takes_its_rival_of_the_file_away(project: Sandbox) -> None:
    seen = project.gradsan("run", "--live", "-c", "pass")
    assert seen.returncode == 0
    assert "not both" not in seen.stderr
