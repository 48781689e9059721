"""A baseline: findings that are known are hidden, whatever their line number; the rest is reported."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from gradsan.judge.lines import source
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.baseline_file import BaselineError, code_only, read
from gradsan.judge.report.findings import Finding, Location, Report
from gradsan.render import render
from gradsan.render.html import render as render_html
from gradsan.render.page import Page


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "_base", [str(tmp_path)])
    return tmp_path


def finding(line: int = 7, code: str = "opt.step()", rule: str = "GS401", file: str = "train.py") -> Finding:
    return Finding(rule, "x", "error", "message", "fix", Location(file, line, "update", code))


def report(*findings: Finding, evaluated=("GS401", "GS301"), reached=(("train.py", "update"),)) -> Report:
    found = Report(findings=list(findings), torch="2", iterations=3)
    found.evaluated, found.reached = frozenset(evaluated), frozenset(reached)
    return found


def written(*findings: Finding, path: str = "base.json") -> Baseline:
    empty = Baseline(path, Counter())
    Path(path).write_text(empty.updated(report(*findings)), encoding="utf-8")
    return Baseline.read(path)


def test_the_file_is_sorted_readable_and_the_same_whatever_the_order(folder: Path) -> None:
    some = [finding(rule="GS401"), finding(rule="GS301", code="a = 1"), finding(9), finding(file="a.py")]
    written(*some)
    text = Path("base.json").read_text()
    written(*reversed(some))
    assert Path("base.json").read_text() == text
    assert text == (
        '{\n  "gradsan-baseline": 1,\n  "findings": [\n'
        '    {"file": "a.py", "function": "update", "rule": "GS401", "code": "opt.step()"},\n'
        '    {"file": "train.py", "function": "update", "rule": "GS301", "code": "a = 1"},\n'
        '    {"file": "train.py", "function": "update", "rule": "GS401", "code": "opt.step()", "count": 2}\n'
        "  ]\n}\n"
    )
    written()
    assert json.loads(Path("base.json").read_text())["findings"] == []
    assert Baseline.read("base.json").entries == {}


@pytest.mark.parametrize(
    "moved", [finding(70), finding(code="opt.step()  # TODO"), finding(code="opt.step( )")]
)
def test_a_line_that_moved_or_got_a_comment_is_known(folder: Path, moved: Finding) -> None:
    base = written(finding(code="opt.step( )") if "( )" in moved.culprit.code else finding())
    found = report(moved)
    base.apply(found)
    assert found.findings == []
    assert found.baseline == {"file": "base.json", "hidden": 1, "gone": []}


@pytest.mark.parametrize("other", [finding(code="opt.step(x)"), finding(rule="GS301"), finding(file="b.py")])
def test_what_differs_is_new(folder: Path, other: Finding) -> None:
    found = report(finding(), other)
    written(finding()).apply(found)
    assert found.findings == [other]


def test_a_second_line_with_the_same_code_is_new(folder: Path) -> None:
    first, second = finding(7), finding(9)
    second.first_iteration = 5
    found = report(second, first)
    written(finding()).apply(found)
    assert found.findings == [second]
    told: list[Finding] = []
    listener = written(finding()).listener(told.append)
    listener(first)
    listener(second)
    assert told == [second]


def test_what_could_have_occurred_and_did_not_is_gone(folder: Path) -> None:
    Path("train.py").write_text("opt.step()\n")
    base = written(finding(), finding(rule="GS999"))
    found = report()
    base.apply(found)
    assert [entry["rule"] for entry in found.baseline["gone"]] == ["GS401", "GS999"]
    for quiet in (report(evaluated=["GS301"]), report(reached=[("other.py", "update")])):
        base.apply(quiet)
        assert [entry["rule"] for entry in quiet.baseline["gone"]] == ["GS999"]
    # Where the line, or the file, is there no more, nothing had to be reached.
    for text in ("pass\n", None):
        Path("train.py").write_text(text) if text else Path("train.py").unlink()
        found = report(reached=[("other.py", "update")])
        base.apply(found)
        assert [entry["rule"] for entry in found.baseline["gone"]] == ["GS401", "GS999"]


def test_an_entry_cannot_make_us_read_a_device(folder: Path) -> None:
    found = report(reached=())
    written(finding(file="/dev/zero")).apply(found)
    assert found.baseline["gone"] == []


def test_an_update_keeps_what_was_not_reached_and_drops_what_is_gone(folder: Path) -> None:
    Path("a.py").write_text("opt.step()\n")
    Path("train.py").write_text("opt.step()\n")
    base = written(finding(), finding(file="a.py"), finding(rule="GS301"))
    found = report(finding(), finding(code="new()"))
    base.apply(found)
    Path("base.json").write_text(base.updated(found))
    left = [(e.file, e.rule, e.code) for e in Baseline.read("base.json").entries]
    assert left == [
        ("a.py", "GS401", "opt.step()"),
        ("train.py", "GS401", "new()"),
        ("train.py", "GS401", "opt.step()"),
    ]


def test_paths_are_the_same_from_every_folder_and_machine(folder: Path, monkeypatch) -> None:
    (folder / "below").mkdir()
    outside = finding(file="/usr/lib/python3/site-packages/pkg/a.py")
    base = written(finding(file="below/a.py"), outside, finding(file="<string>"))
    assert sorted(e.file for e in base.entries) == ["<string>", "below/a.py", "site-packages/pkg/a.py"]
    monkeypatch.chdir(folder / "below")
    monkeypatch.setattr(source, "_base", [str(folder / "below")])
    found = report(finding(file="a.py"))
    Baseline.read("../base.json").apply(found)
    assert found.findings == []


DAMAGED = {
    "": "is no gradsan baseline, or it is damaged",
    "[]": "is no gradsan baseline",
    '{"schema": 1, "findings": []}': "is no gradsan baseline",
    '{"gradsan-baseline": 2, "findings": []}': "is of version 2, and this gradsan reads 1; write it again",
    '{"gradsan-baseline": 1}': "is damaged at its finding 1",
    '{"gradsan-baseline": 1, "findings": [3]}': "is damaged at its finding 1",
    '{"gradsan-baseline": 1, "findings": [{"file": "a"}]}': "is damaged at its finding 1",
    '{"gradsan-baseline": 1, "findings": [{"file":"","function":"","rule":"","code":"","count":0}]}': "is damaged",
    "[" * 100_000: "is no gradsan baseline",
}


@pytest.mark.parametrize(("text", "words"), DAMAGED.items(), ids=range(len(DAMAGED)))
def test_a_file_that_is_no_baseline_is_refused(folder: Path, text: str, words: str) -> None:
    Path("base.json").write_text(text)
    with pytest.raises(BaselineError, match=words):
        read("base.json")


def test_files_that_cannot_be_read_are_refused(folder: Path) -> None:
    with pytest.raises(BaselineError, match=r"cannot read the baseline 'no.json': No such file"):
        read("no.json")
    with pytest.raises(BaselineError, match=r"cannot read the baseline '\.': Is a directory"):
        read(".")
    Path("base.json").write_bytes(b"\xff\xfe")
    with pytest.raises(BaselineError, match="damaged"):
        read("base.json")


def test_every_format_tells_how_many_were_hidden_and_which_are_gone(folder: Path) -> None:
    found = report(finding())
    written(finding(), finding(rule="GS301", code="target = \x1b[31m r")).apply(found)
    text = " ".join(render("text", found, Page(width=80)).split())
    assert "no findings, 1 known from base.json in 3 iterations" in text
    assert "base.json GS301 train.py in update: `target = [31m r` did not occur in this run" in text
    assert "\x1b" not in text
    page = render_html(found)
    assert "<b>1</b> known from base.json" in page
    assert "did not occur in this run" in page
    assert "did not occur" in render("github", found, Page())
    notes = json.loads(render("sarif", found, Page()))["runs"][0]["invocations"][0]
    assert "did not occur" in notes["toolConfigurationNotifications"][0]["message"]["text"]
    assert json.loads(render("json", found, Page()))["baseline"]["hidden"] == 1


def test_code_without_its_comment() -> None:
    assert code_only("  x = '#'  # one") == "x = '#'"
    assert code_only("foo(a,   # one") == "foo(a,"
    assert code_only(")") == ")"
    assert code_only("'''") == "'''"
