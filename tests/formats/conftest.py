"""A report to render, made by hand, with everything in it that a report can hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradsan.judge.report.findings import Finding, Location, Report, RoleSite
from sandbox import Sandbox

HOSTILE = "a,b:c%0A\x1b[31m\r\n::error::pwned \u202e <script>\udcff"


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    sandbox = Sandbox(tmp_path)
    yield sandbox
    for process in sandbox.started:
        process.kill()
        process.communicate()


def finding(file: str = "train.py", text: str = "", severity: str = "error") -> Finding:
    culprit = Location(file, 41, "update", f"target = r + gamma * q(s2){text}")
    loss = RoleSite("loss", Location(file, 42, "update", f"loss = f(q(s), target){text}"))
    sites = (RoleSite("target", culprit), loss)
    message, fix = f"`target` carries gradient{text}", f"detach it{text}"
    return Finding(
        "GS301", "target-carries-gradient", severity, message, fix, culprit, sites, (f"q.weight{text}",), 7, 3
    )


@pytest.fixture
def full_report() -> Report:
    nowhere = Finding("GS401", "stale-gradient", "warning", "a message", "a fix", None)
    return Report(
        script="train.py",
        torch="2.13.0",
        iterations=100,
        deep_iterations=16,
        findings=[finding(), nowhere, finding("/elsewhere/lib.py", severity="info"), finding("<string>")],
        not_evaluated=[{"rule": "GS202", "reason": "a compiled region"}],
        faults=[{"tap": "backward", "traceback": "Traceback:\n  boom\n"}],
    )


@pytest.fixture
def hostile_report() -> Report:
    return Report(
        script=HOSTILE,
        torch="2.13.0",
        iterations=1,
        findings=[finding(f"dir{HOSTILE}/train.py", HOSTILE)],
        not_evaluated=[{"rule": "GS202", "reason": HOSTILE}],
        faults=[{"tap": HOSTILE, "traceback": HOSTILE}],
    )
