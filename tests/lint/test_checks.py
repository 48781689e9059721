"""Each check finds the mistake in the forms that people write it in, and is silent on what is near it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from bad_code import BAD, HEAD
from good_code import GOOD

from gradsan.judge.report.findings import Report
from gradsan.lint.checks import CHECKS, bypassed_wrapper
from gradsan.lint.files import python_files
from gradsan.lint.linter import Linter, parse
from gradsan.lint.source_file import SourceFile
from gradsan.rules import catalogue
from rule_examples import bad, good

ROOT = Path(__file__).parents[2]
MARKED = re.compile(r"# BUG (GS\d{3})")


def lint(*paths: Path) -> Report:
    report = Linter(list(catalogue().values())).run(python_files(map(str, paths)))
    assert report.faults == []
    return report


def found(report: Report) -> set[tuple[int, str]]:
    return {(f.culprit.line, f.rule) for f in report.findings if f.culprit is not None}


def marked(code: str) -> set[tuple[int, str]]:
    lines = enumerate(code.splitlines(), 1)
    return {(number, match[1]) for number, text in lines if (match := MARKED.search(text))}


@pytest.mark.parametrize("name", BAD)
def test_finds(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(code := HEAD + BAD[name])
    assert marked(code)
    assert found(lint(tmp_path)) == marked(code)


@pytest.mark.parametrize("name", GOOD)
def test_is_silent_about(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + GOOD[name])
    assert found(lint(tmp_path)) == set()


def places(report: Report) -> set[tuple[str, int, str]]:
    return {
        (Path(f.culprit.file).name, f.culprit.line, f.rule) for f in report.findings if f.culprit is not None
    }


def test_is_silent_about_the_good_examples_of_the_rules(tmp_path: Path) -> None:
    for rule in catalogue().values():
        for number, code in enumerate(good(rule)):
            (tmp_path / f"{rule.code}_{number}.py").write_text(textwrap.dedent(code))
    assert places(lint(tmp_path)) == set()


def test_says_nothing_but_the_truth_about_the_bad_ones(tmp_path: Path) -> None:
    true = set()
    for rule in catalogue().values():
        for number, code in enumerate(map(textwrap.dedent, bad(rule))):
            (file := tmp_path / f"{rule.code}_{number}.py").write_text(code)
            lines = [line for line, text in enumerate(code.splitlines(), 1) if "# BUG" in text]
            true |= {(file.name, line, rule.code) for line in lines}
    assert places(lint(tmp_path)) <= true


@pytest.mark.parametrize(
    "folder",
    ["src/gradsan/rl", "src/gradsan/learn/solutions", "tests/programs/clean", "tests/programs/legal"],
)
def test_is_silent_about_right_programs(folder: str) -> None:
    report = lint(ROOT / folder)
    assert report.files
    assert report.findings == []


def test_is_silent_about_gradsan_itself() -> None:
    files = [p for p in (ROOT / "src/gradsan").rglob("*.py") if "exercises" not in p.parts]
    assert lint(*files).findings == []


def test_finds_only_planted_bugs_in_the_programs_and_none_in_their_repaired_twins() -> None:
    files = list((ROOT / "tests/programs/bugs").glob("*.py"))
    wanted = {
        (file.name, line)
        for file in files
        for line, text in enumerate(file.read_text().splitlines(), 1)
        if "# BUG" in text
    }
    said = {(file, line) for file, line, _ in places(lint(*files))}
    assert said
    assert said <= wanted


def test_every_rule_with_a_check_is_tried() -> None:
    tried = {rule for code in BAD.values() for _, rule in marked(code)}
    assert tried == {rule for entry in CHECKS for rule in entry.rules} & catalogue().keys()


WRAPPED = """
from torch.nn.parallel import DistributedDataParallel as DDP

def train(net, loader):
    net = DDP(net)
    for x in loader:
        loss = {call}.mean()
        loss.backward()
"""


@pytest.mark.parametrize(("call", "number"), [("net.module(x)", 1), ("net(x)", 0), ("net.module.head(x)", 0)])
def test_a_wrapper_is_bypassed_by_calling_what_is_inside(call: str, number: int, tmp_path: Path) -> None:
    (file := tmp_path / "train.py").write_text(WRAPPED.format(call=call))
    parsed = parse(str(file), "train.py")
    assert isinstance(parsed, SourceFile)
    assert [mistake.rule for mistake in bypassed_wrapper.check(parsed)] == ["GS703"] * number
