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
from gradsan.judge.findings import Finding
from gradsan.render.explanation import REPAIR, sections
from gradsan.rules import catalogue
from harness import run_code

SHOWN = json.loads(Path(gradsan.fix.__path__[0], "examples.json").read_text(encoding="utf-8"))


def candidates(code: str) -> list[tuple[str, Finding, Repair]]:
    """The example that the shown repair is of, and that repair as it is proposed for it."""
    before = [line[1:] for line in SHOWN[code].split("\n") if line[0] in " -"]
    texts = [textwrap.dedent(text).lstrip("\n") for text in catalogue()[code].bad]
    mine = [text for text in texts if all(line in text.split("\n") for line in before)]
    found = [(text, f) for text in mine for f in run_code(text, may_raise=True).findings if f.rule == code]
    return [(text, f, repair) for text, f in found for repair in repairs(f) if diff_of(repair) == SHOWN[code]]


def diff_of(repair: Repair) -> str:
    return "\n".join(shown_lines(repair.before, repair.after, repair.touched)[1:])


@pytest.mark.parametrize("code", sorted(SHOWN))
def test_the_shown_repair_silences_its_rule(code: str) -> None:
    text, _, repair = candidates(code)[0]
    before = sum(f.rule == code for f in run_code(text, may_raise=True).findings)
    after = sum(f.rule == code for f in run_code(repair.after.decode()).findings)
    assert after < before


def test_at_least_24_rules_have_a_repair_that_was_verified() -> None:
    assert len(SHOWN) >= 24
    assert set(SHOWN) <= set(FAMILIES)


def test_explanations_show_it() -> None:
    shown = {title: code for title, _, code in sections(catalogue()["GS301"])}
    assert shown[REPAIR] == example("GS301")
    assert "detach()" in shown[REPAIR]
