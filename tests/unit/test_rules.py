"""Every example of every rule: the bad ones trip their own rule on the marked lines and no other rule,
the good ones are silent under all rules."""

from __future__ import annotations

import pytest

from gradsan.rules import catalogue
from harness import marked_lines, run_code
from rule_examples import bad, good

# Those that need several ranks are tried in tests/processes, those that need a lock in tests/lock.
RULES = {code: rule for code, rule in catalogue().items() if not rule.across_ranks and not rule.needs_lock}
BAD = [(code, i, text) for code, rule in RULES.items() for i, text in enumerate(bad(rule))]
GOOD = [(code, i, text) for code, rule in RULES.items() for i, text in enumerate(good(rule))]


def ids(examples):
    return [f"{code}-{i}" for code, i, _ in examples]


def summary(report):
    return [(f.rule, f.culprit and f.culprit.line, f.message) for f in report.findings]


@pytest.mark.parametrize(("code", "index", "text"), BAD, ids=ids(BAD))
def test_bad_example_trips_its_rule_on_the_marked_lines_and_no_other(code, index, text):
    report = run_code(text, may_raise=True)
    assert not report.faults, report.faults[0]["traceback"]
    assert {f.rule for f in report.findings} == {code}, summary(report)
    assert sorted(f.culprit.line for f in report.findings) == marked_lines(text), summary(report)


@pytest.mark.parametrize(("code", "index", "text"), GOOD, ids=ids(GOOD))
def test_good_example_is_silent(code, index, text):
    report = run_code(text)
    assert not report.faults, report.faults[0]["traceback"]
    assert not report.findings, summary(report)
