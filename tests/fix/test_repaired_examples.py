"""The repair that `gradsan explain` shows for a rule is one that is proposed for its example, and silences it."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

import gradsan.fix
from gradsan.fix.examples import example
from gradsan.fix.families import FAMILIES
from gradsan.fix.patch import shown_lines
from gradsan.fix.repair import Repair, repairs
from gradsan.fix.shown import diff
from gradsan.judge.report.findings import Finding
from gradsan.render.explanation import REPAIR, sections
from gradsan.rules import catalogue
from harness import run_code

SHOWN = json.loads(Path(gradsan.fix.__path__[0], "examples.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", sorted(SHOWN))
def test_the_shown_repair_silences_its_rule_and_is_the_one_that_reports_show(code: str) -> None:
    before = reported(code, example_of(code), may_raise=True)
    assert SHOWN[code] in ["\n".join(diff(finding)[1:]) for finding in before], "HTML and SARIF"
    proposed = [repair for finding in before for repair in repairs(finding)]
    shown = next(repair for repair in proposed if diff_of(repair) == SHOWN[code])
    assert len(reported(code, shown.after.decode())) < len(before)


def example_of(code: str) -> str:
    """The wrong example that the repair is of."""
    old = [line[1:] for line in SHOWN[code].split("\n") if line[0] in " -"]
    texts = [textwrap.dedent(text).lstrip("\n") for text in catalogue()[code].bad]
    return next(text for text in texts if set(old) <= set(text.split("\n")))


def reported(code: str, text: str, may_raise: bool = False) -> list[Finding]:
    return [f for f in run_code(text, "adaptive", may_raise=may_raise).findings if f.rule == code]


def diff_of(repair: Repair) -> str:
    return "\n".join(shown_lines(repair.before, repair.after, repair.touched)[1:])


def test_at_least_24_rules_have_a_repair_that_was_verified() -> None:
    assert len(SHOWN) >= 24
    assert set(SHOWN) <= set(FAMILIES)


def test_explanations_show_it() -> None:
    shown = {title: code for title, _, code in sections(catalogue()["GS301"])}
    assert shown[REPAIR] == example("GS301")
    assert "detach()" in shown[REPAIR]
