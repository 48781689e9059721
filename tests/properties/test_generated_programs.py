"""gradsan agrees with how a random program was made, and does not change one bit of what it computes.

`make test` tries a fixed set of 160 programs. `GRADSAN_PROGRAMS=5000 pytest tests/properties` tries as many
new ones, at random.
"""

from __future__ import annotations

import os

import pytest
from feature import run, summary
from hypothesis import HealthCheck, given, settings

from programs import BUGS, Program, programs

MORE = int(os.environ.get("GRADSAN_PROGRAMS", "0"))
SHARES = [*BUGS, ""]  # twice as many that are right


def agree(program: Program) -> None:
    expected, _ = run(program.code)
    found, report = run(program.code, program.mode)
    assert found == expected, "gradsan changed the result"
    assert not report.faults, report.faults[0]["traceback"]
    if program.mode == "light" and program.rule and not BUGS[program.rule]:
        return  # boundaries alone do not show it; what they do show may be a symptom of it
    assert {f.rule for f in report.findings} == {program.rule} - {""}, summary(report)
    assert {f.culprit.line for f in report.findings} <= program.blame, summary(report)


@pytest.mark.parametrize("bug", BUGS)
def test_every_program_is_judged_as_it_was_made(bug: str) -> None:
    check = settings(
        max_examples=(MORE or 160) // len(SHARES) * SHARES.count(bug),
        derandomize=not MORE,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    check(given(programs(bug))(agree))()
