"""What a report shows is what `gradsan fix` would offer, once it was tried."""

from __future__ import annotations

from pathlib import Path

import forked
from gradsan.fix.shown import mend, standing
from gradsan.fix.trial import TrialProgram, Trials
from gradsan.fix.verified import verify
from gradsan.judge.lines.source import pin_base
from gradsan.judge.report.findings import Report
from gradsan.render.page import Page
from gradsan.render.sarif import render
from marked import write
from sandbox import STALE


def test_a_report_shows_the_repair_that_was_verified_and_says_so(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    pin_base()
    write(tmp_path, "train.py", STALE)
    trials = Trials(TrialProgram(("train.py",), folder=str(tmp_path)), forked.launch)
    findings = list(trials.run({}, None).findings)
    assert standing(findings[0]).startswith("not tried yet")
    assert verify(findings, trials, lambda _: None) == ""
    assert "opt.zero_grad()" in "\n".join(mend(findings[0])[1])
    assert standing(findings[0]).startswith("verified: GS401 is gone in")
    assert "(verified: GS401 is gone in" in render(Report(findings=findings), Page(width=100))


def test_a_repair_that_could_not_be_verified_is_not_shown(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    pin_base()
    write(tmp_path, "train.py", STALE.replace("def update", "opt.zero_grad = lambda: 1 / 0\ndef update"))
    trials = Trials(TrialProgram(("train.py",), folder=str(tmp_path)), forked.launch)
    findings = list(trials.run({}, None).findings)
    assert mend(findings[0]) is not None
    assert verify(findings, trials, lambda _: None) == ""
    assert findings[0].tried
    assert mend(findings[0]) is None
    assert '"fixes"' not in render(Report(findings=findings), Page(width=100))


def test_where_the_program_cannot_be_run_again_nothing_counts_as_tried(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    pin_base()
    script = write(tmp_path, "train.py", STALE)
    trials = Trials(TrialProgram(("train.py",), folder=str(tmp_path)), forked.launch)
    findings = list(trials.run({}, None).findings)
    script.unlink()
    assert "train.py" in verify(findings, trials, lambda _: None)
    assert not findings[0].tried
