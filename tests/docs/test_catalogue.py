"""The laws of the rule catalogue."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from gradsan import rules
from gradsan.judge.report.findings import SEVERITIES
from gradsan.render.explanation import code_of, flow
from gradsan.rules import catalogue
from gradsan.rules.base import Rule
from harness import marked_lines
from rule_pages import FAMILIES

EVERY_RULE = pytest.mark.parametrize("rule", catalogue().values(), ids=catalogue())
LONGEST_SENTENCE = 45  # words
MODULES = [info.name for info in pkgutil.iter_modules(rules.__path__) if info.name.startswith("gs")]


@pytest.mark.parametrize("module", MODULES)
def test_a_file_is_named_after_the_code_and_the_name_of_its_rule(module: str) -> None:
    rule = importlib.import_module(f"gradsan.rules.{module}").rule
    assert module == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"


def test_no_name_is_given_twice() -> None:
    names = [rule.name for rule in catalogue().values()]
    assert len(names) == len(set(names)) == len(MODULES)


@EVERY_RULE
def test_codes_and_names_have_one_form(rule: type[Rule]) -> None:
    assert re.fullmatch(r"GS\d{3}", rule.code)
    assert rule.code[2] in FAMILIES
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    assert rule.severity in SEVERITIES


@EVERY_RULE
def test_every_part_of_the_explanation_is_there(rule: type[Rule]) -> None:
    for part in (rule.what, rule.why, rule.symptom, rule.deliberate):
        assert flow(part).endswith("."), part
        assert flow(part)[0].isupper() or flow(part)[0] in '`"', part
        assert len(flow(part)) > 25, part


@EVERY_RULE
def test_the_fix_is_one_phrase_that_a_finding_can_end_with(rule: type[Rule]) -> None:
    assert "\n" not in rule.fix
    assert not rule.fix.endswith(".")
    assert rule.fix[0].islower() or rule.fix[0] == "`"


@EVERY_RULE
def test_texts_are_balanced(rule: type[Rule]) -> None:
    for part in (rule.what, rule.why, rule.symptom, rule.fix, rule.deliberate):
        assert part.count("`") % 2 == 0, part
        assert part.count("(") == part.count(")"), part
        assert "  " not in flow(part), part


@EVERY_RULE
def test_no_sentence_needs_a_second_reading(rule: type[Rule]) -> None:
    """As long as one can say it in a breath; it begins with a capital, and what was said is not said again."""
    for part in (rule.what, rule.why, rule.symptom, rule.deliberate):
        sentences = re.split(r"(?<=[.?!]) ", flow(part))
        assert all(len(sentence.split()) <= LONGEST_SENTENCE for sentence in sentences), part
        assert not [one for one in sentences if one[0].islower()], part
        words = flow(part).split()
        runs = [tuple(words[at : at + 7]) for at in range(len(words) - 6)]
        assert len(runs) == len(set(runs)), part


@EVERY_RULE
def test_the_first_two_examples_are_a_mistake_and_its_repair(rule: type[Rule]) -> None:
    """Shown side by side: most of the code is the same."""
    wrong, right = code_of(rule.bad), code_of(rule.good)
    assert marked_lines(wrong)
    assert not marked_lines(right)
    before, after = ({line.split("  #")[0].strip() for line in code.splitlines()} for code in (wrong, right))
    assert len(before & after) >= len(before) / 2, before - after
