"""`--html`: from a run and from its trace, whole or not at all, whatever becomes of the run."""

from __future__ import annotations

from lab import CLEAN, STALE, Lab

DIES = STALE.replace("    update()", "    update()\nimport os, signal\nos.kill(os.getpid(), signal.SIGTERM)")


def test_a_run_and_its_trace_make_the_same_report(lab: Lab) -> None:
    lab.write("train.py", STALE)
    seen = lab.gradsan("run", "--html", "run.html", "--trace", "run.trace", "train.py")
    assert seen.returncode == 1
    assert "gradsan: the HTML report is in run.html\n" in seen.stderr
    again = lab.gradsan("report", "run.trace", "--html", "again.html")
    assert again.returncode == 1
    assert lab.read("again.html") == lab.read("run.html")
    assert "GS401" in lab.read("run.html")


def test_the_text_report_is_the_same_with_and_without(lab: Lab) -> None:
    lab.write("train.py", STALE)
    plain = lab.gradsan("run", "--quiet", "train.py")
    drawn = lab.gradsan("run", "--quiet", "--html", "run.html", "train.py")
    assert drawn.stderr == plain.stderr


def test_a_clean_run_gets_a_report_too(lab: Lab) -> None:
    lab.write("train.py", CLEAN)
    assert lab.gradsan("run", "--html", "run.html", "train.py").returncode == 0
    assert "Nothing to report" in lab.read("run.html")


def test_a_killed_run_leaves_its_report_and_nothing_else(lab: Lab) -> None:
    lab.write("train.py", DIES)
    lab.write("run.html", "an earlier report")
    assert lab.gradsan("run", "--html", "run.html", "train.py").returncode == -15
    assert lab.read("run.html").startswith("<!doctype html>")
    assert sorted(p.name for p in lab.path.iterdir()) == ["run.html", "train.py"]


def test_a_script_that_raises_before_torch_gets_a_report(lab: Lab) -> None:
    lab.write("train.py", "raise SystemExit(3)")
    assert lab.gradsan("run", "--html", "run.html", "train.py").returncode == 3
    assert "</html>" in lab.read("run.html")
