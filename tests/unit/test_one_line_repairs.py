"""A fix that is shown as a diff must be one: with it, the rule is silent."""

from __future__ import annotations

import pytest

from gradsan.fix.one_line import CHANGES, diff, mend
from gradsan.rules import catalogue
from harness import run_code

EXAMPLES = [(code, text) for code in CHANGES for text in catalogue()[code].bad]


def mended(text: str, code: str) -> list[str]:
    """The example after every change that can be shown for it, one finding at a time."""
    return [
        "\n".join(change[1])
        for finding in run_code(text, may_raise=True).findings
        if finding.rule == code and (change := mend(finding)) is not None
    ]


@pytest.mark.parametrize(("code", "text"), EXAMPLES, ids=[f"{c}-{n}" for n, (c, _) in enumerate(EXAMPLES)])
def test_the_shown_change_silences_its_rule(code: str, text: str) -> None:
    before = sum(f.rule == code for f in run_code(text, may_raise=True).findings)
    for new in mended(text, code):
        report = run_code(new)
        assert sum(f.rule == code for f in report.findings) < before, new


@pytest.mark.parametrize("code", CHANGES)
def test_every_change_is_shown_for_some_example(code: str) -> None:
    assert any(mended(text, code) for text in catalogue()[code].bad)


def test_a_diff_has_the_line_as_it_is_and_as_it_should_be() -> None:
    report = run_code(catalogue()["GS301"].bad[0])
    lines = diff(report.findings[0])
    assert any(line.startswith("-") and "target = r + 0.99 * next_q" in line for line in lines)
    assert any(line.startswith("+") and "target = (r + 0.99 * next_q).detach()" in line for line in lines)
