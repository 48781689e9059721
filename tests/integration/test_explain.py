"""`gradsan explain` shows a rule's own text."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

import gradsan
from gradsan.cli import main
from gradsan.render.explanation import code_of, text
from gradsan.render.page import Page
from gradsan.rules import catalogue


def ask(*args: str) -> Result:
    return CliRunner().invoke(main, ["explain", *args])


@pytest.mark.parametrize("code", catalogue())
def test_every_rule_can_be_explained_by_code_and_by_name(code: str) -> None:
    rule = catalogue()[code]
    by_code, by_name = ask(code), ask(rule.name)
    assert by_code.exit_code == 0
    assert by_code.stdout == by_name.stdout
    words = " ".join(by_code.stdout.split())
    assert " ".join(rule.what.split()) in words
    assert " ".join(rule.fix.split())[1:] in words  # a sentence begins with a capital
    assert " ".join(rule.symptom.split()) in words
    assert f"# gradsan: allow {rule.name}" in words


def test_the_list_names_every_rule_once() -> None:
    lines = ask("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue())


def test_json_holds_the_whole_rule() -> None:
    about = json.loads(ask("gs401", "--format", "json").stdout)
    assert (about["rule"], about["name"], about["severity"]) == ("GS401", "stale-gradient", "error")
    assert about["bad"]
    assert about["good"]
    assert len(json.loads(ask("--list", "--format", "json").stdout)) == len(catalogue())


def test_markdown_is_a_page() -> None:
    page = ask("GS401", "--format", "markdown").stdout
    assert page.startswith("# GS401 stale-gradient\n")
    assert page.count("```python\n") == 3


LONGEST = max((line for rule in catalogue().values() for line in code_of(rule.bad).split("\n")), key=len)


def test_code_is_wrapped_on_a_terminal_and_whole_in_a_pipe() -> None:
    rule = next(rule for rule in catalogue().values() if LONGEST in code_of(rule.bad))
    narrow = text(rule, Page(width=40, terminal=True))
    assert max(map(len, narrow.split("\n"))) <= 40
    assert "".join(LONGEST.split()) in "".join(narrow.split())
    assert "    " + LONGEST in text(rule, Page(width=40)).split("\n")


def test_the_api_explains_a_rule_by_code_or_name() -> None:
    told = gradsan.explain("GS301")
    assert told == gradsan.explain("target-carries-gradient")
    assert told.startswith("error GS301 target-carries-gradient\n")
    assert repr(told) == str(told)
    with pytest.raises(ValueError, match="GS3O1"):
        gradsan.explain("GS3O1")
