"""`--html`: from a run and from its trace, whole or not at all, whatever becomes of the run."""

from __future__ import annotations

from sandbox import CLEAN, STALE, Sandbox

DIES = STALE.replace("    update()", "    update()\nimport os, signal\nos.kill(os.getpid(), signal.SIGTERM)")


def test_a_run_and_its_trace_make_the_same_report(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE)
    seen = sandbox.gradsan("run", "--html", "run.html", "--trace", "run.trace", "train.py")
    assert seen.returncode == 1
    assert "gradsan: the HTML report is in run.html\n" in seen.stderr
    again = sandbox.gradsan("report", "run.trace", "--html", "again.html")
    assert again.returncode == 1
    assert sandbox.read("again.html") == sandbox.read("run.html")
    assert "GS401" in sandbox.read("run.html")


def test_the_text_report_is_the_same_with_and_without(sandbox: Sandbox) -> None:
    sandbox.write("train.py", STALE)
    plain = sandbox.gradsan("run", "--quiet", "train.py")
    drawn = sandbox.gradsan("run", "--quiet", "--html", "run.html", "train.py")
    assert drawn.stderr == plain.stderr


def test_a_clean_run_gets_a_report_too(sandbox: Sandbox) -> None:
    sandbox.write("train.py", CLEAN)
    assert sandbox.gradsan("run", "--html", "run.html", "train.py").returncode == 0
    assert "Nothing to report" in sandbox.read("run.html")


def test_a_killed_run_leaves_its_report_and_nothing_else(sandbox: Sandbox) -> None:
    sandbox.write("train.py", DIES)
    sandbox.write("run.html", "an earlier report")
    assert sandbox.gradsan("run", "--html", "run.html", "train.py").returncode == -15
    assert sandbox.read("run.html").startswith("<!doctype html>")
    assert sorted(p.name for p in sandbox.path.iterdir()) == ["run.html", "train.py"]


def test_a_script_that_raises_before_torch_gets_a_report(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "raise SystemExit(3)")
    assert sandbox.gradsan("run", "--html", "run.html", "train.py").returncode == 3
    assert "</html>" in sandbox.read("run.html")
