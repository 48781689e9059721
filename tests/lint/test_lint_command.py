"""`gradsan lint`: what it reads, what it says and how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from gradsan.cli import main

WIPED = """import torch
def update(opt, loss):
    loss.backward()
    opt.zero_grad(){comment}
    opt.step()
"""
WARNED = "import torch\nlog_prob = torch.log(torch.softmax(x, -1))\n"
SARIF = Path(__file__).parents[1] / "formats" / "sarif-schema-2.1.0.json"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wiped.py").write_text(WIPED.format(comment=""))
    return tmp_path


def lint(*args: str) -> Result:
    return CliRunner().invoke(main, ["lint", *args])


def report(*args: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(lint("--format", "json", *args).stdout)
    return data


def test_a_finding_is_shown_with_its_line_its_story_and_its_fix(home: Path) -> None:
    seen = lint("wiped.py")
    assert seen.exit_code == 1
    assert (
        seen.stdout
        == """error GS405 gradient-wiped  seen without running
  wiped.py:4 in update

    2 │ def update(opt, loss):
    3 │     loss.backward()
  ❱ 4 │     opt.zero_grad()
    5 │     opt.step()

  this clears the gradient that backward on line 3 has just put there; nothing
  is left for the step on line 5

    backward here  wiped.py:3  loss.backward()
  → cleared here   wiped.py:4  opt.zero_grad()
  → step here      wiped.py:5  opt.step()

  fix  clear once per update: right after `step()`, or before the first backward
       of the update
  why  gradsan explain GS405

gradsan: 1 error in 1 file
gradsan: exit status 1 because of the findings
"""
    )


def test_clean_code_ends_with_0(home: Path) -> None:
    (home / "fine.py").write_text("x = 1\n")
    seen = lint("fine.py")
    assert (seen.exit_code, seen.stdout) == (0, "gradsan: no findings in 1 file\n")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], 0),
        (["--fail-on", "warning"], 1),
        (["--fail-on", "warning", "--finding-status", "9"], 9),
        (["--fail-on", "warning", "--ignore", "GS602"], 0),
        (["--fail-on", "warning", "--select", "GS4"], 0),
        (["--fail-on", "warning", "--select", "unstable-log-prob"], 1),
    ],
)
def test_the_exit_status_is_that_of_run(home: Path, options: list[str], status: int) -> None:
    (home / "warned.py").write_text(WARNED)
    assert lint(*options, "warned.py").exit_code == status


def test_a_comment_silences_and_is_counted(home: Path) -> None:
    (home / "wiped.py").write_text(WIPED.format(comment="  # gradsan: allow gradient-wiped"))
    data = report("wiped.py")
    assert data["findings"] == []
    assert [(s["rule"], s["comment"]["line"]) for s in data["suppressed"]] == [("GS405", 4)]
    assert data["exit"] == {"status": 0, "because": "clean"}


def test_a_comment_for_what_only_a_run_can_see_is_no_problem(home: Path) -> None:
    (home / "fine.py").write_text("y = 1  # gradsan: allow GS301\nz = 2  # gradsan: allow GS999\n")
    assert [(p["line"], p["kind"]) for p in report("fine.py")["suppression_problems"]] == [
        (2, "unknown-rule")
    ]


def test_what_is_no_python_is_named_and_skipped(home: Path) -> None:
    (home / "broken.py").write_text("def f(:\n")
    (home / "nul.py").write_bytes(b"x = 1\0")
    (home / "latin.py").write_bytes(b"x = '\xe9'\n")
    data = report(".")
    assert (data["files"], len(data["findings"])) == (1, 1)
    assert [Path(u["file"]).name for u in data["unreadable"]] == ["broken.py", "latin.py", "nul.py"]
    text = lint(".").stdout
    assert "skipped broken.py:1: it is no Python: " in text
    assert "1 error in 1 file, 3 files skipped" in text
    assert (
        "::warning file=broken.py,line=1,title=gradsan%3A a file was skipped::"
        in lint("--format", "github", ".").stdout
    )


def test_nothing_read_is_not_nothing_found(home: Path) -> None:
    (home / "broken.py").write_text("def f(:\n")
    (home / "empty").mkdir()
    assert lint("broken.py").exit_code == 3
    seen = lint("empty")
    assert seen.exit_code == 3
    assert "nothing was read: empty: there is no Python file in it" in seen.stdout


def test_a_path_that_is_not_there_is_bad_usage(home: Path) -> None:
    seen = lint("wiped.py", "no.py")
    assert (seen.exit_code, seen.stdout) == (2, "")
    assert seen.stderr == "gradsan: cannot read 'no.py': No such file or directory\n"
    assert lint().exit_code == 2


def test_folders_are_gone_through_without_environments_and_each_file_once(home: Path) -> None:
    for folder in ("sub", ".hidden", "env", "__pycache__"):
        (home / folder).mkdir()
        (home / folder / "wiped.py").write_text(WIPED.format(comment=""))
    (home / "env" / "pyvenv.cfg").touch()
    (home / "script").write_text(WIPED.format(comment=""))
    data = report(".", "sub/wiped.py", "script")
    assert [f["culprit"]["file"] for f in data["findings"]] == ["script", "sub/wiped.py", "wiped.py"]


def test_settings_of_the_project_count_but_not_the_runs_own_files(home: Path) -> None:
    (home / "pyproject.toml").write_text(
        '[tool.gradsan]\nignore = "GS405"\noutput = "run.json"\nhtml = "run.html"\n'
    )
    assert lint("wiped.py").exit_code == 0
    assert lint("--no-config", "wiped.py").exit_code == 1
    assert not (home / "run.json").exists()


def test_a_rule_that_needs_a_run_is_said_to_be_not_evaluated(home: Path) -> None:
    data = report("--select", "GS301,GS405", "wiped.py")
    assert [entry["rule"] for entry in data["not_evaluated"]] == ["GS301"]
    assert report("wiped.py")["not_evaluated"] == []


def test_a_baseline_hides_what_is_known_and_notices_what_is_mended(home: Path) -> None:
    assert lint("--write-baseline", "known.json", "wiped.py").exit_code == 0
    seen = lint("--baseline", "known.json", "wiped.py")
    assert seen.exit_code == 0
    assert "no findings, 1 known from known.json in 1 file" in seen.stdout
    (home / "wiped.py").write_text(WIPED.format(comment="").replace("    opt.zero_grad()\n", ""))
    assert report("--baseline", "known.json", "wiped.py")["baseline"]["gone"]


def test_a_baseline_of_runs_keeps_what_only_a_run_can_see(home: Path) -> None:
    entry = {"file": "wiped.py", "function": "update", "rule": "GS401", "code": "opt.step()"}
    (home / "known.json").write_text(json.dumps({"gradsan-baseline": 1, "findings": [entry]}))
    assert report("--baseline", "known.json", "wiped.py")["baseline"]["gone"] == []


def test_sarif_is_valid_and_names_the_place(home: Path) -> None:
    (home / "broken.py").write_text("def f(:\n")
    assert lint("--format", "sarif", "--output", "out.sarif", ".").exit_code == 1
    log = json.loads((home / "out.sarif").read_text())
    jsonschema.Draft7Validator(json.loads(SARIF.read_text())).validate(log)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "GS405"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "wiped.py"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4
    (skipped,) = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "skipped" in skipped["message"]["text"]


def test_a_fault_of_a_check_costs_that_check_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradsan.lint.checks import order_of_update

    monkeypatch.setattr(order_of_update, "check", lambda file: 1 / 0)
    (home / "warned.py").write_text(WARNED)
    data = report(".")
    assert [f["rule"] for f in data["findings"]] == ["GS602"]
    assert "ZeroDivisionError" in data["faults"][0]["traceback"]


def test_deeply_nested_code_is_read_or_skipped_but_ends_nothing(home: Path) -> None:
    (home / "deep.py").write_text("import torch\nx = " + "-" * 5000 + "1\n")
    (home / "long.py").write_text("import torch\nx = torch.log(softmax)" + " + 1" * 3000 + "\n")
    data = report(".")
    assert data["faults"] == []
    assert [f["rule"] for f in data["findings"]] == ["GS405"]


def test_it_does_not_touch_the_garbage_collector_or_the_recursion_limit(home: Path) -> None:
    import gc

    before = gc.isenabled(), sys.getrecursionlimit()
    lint("wiped.py")
    assert (gc.isenabled(), sys.getrecursionlimit()) == before
