"""The benchmark's score, its protocol for tools, its sample and its pages, without torch."""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from pathlib import Path

import gradsan_benchmark
import pytest
from gradsan_benchmark import page, picture, reports, sarif, score
from gradsan_benchmark.__main__ import arguments
from gradsan_benchmark.cases import Case, sample
from gradsan_benchmark.programs import Program
from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.tools import Command

PACKAGE = Path(gradsan_benchmark.__file__).parent
PROGRAM = Program("own/p", "own", Path(), "p.py", ("p.py",))


def test_package_does_not_import_gradsan():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "gradsan"], path


def test_outcomes_from_best_to_worst():
    near = Finding("GS999", "p.py", 9, sites=(("p.py", 4),))
    said = {
        "code and line": [near, Finding("GS301", "p.py", 4)],
        "line": [Finding("GS999", "p.py", 4)],
        "site": [near],
        "elsewhere": [Finding("GS301", "p.py", 9), Finding("GS301", "q.py", 4)],
        "silent": [],
    }
    for wanted, findings in said.items():
        assert score.outcome(findings, "p.py", [4, 5], ["GS301"]) == wanted


def test_what_is_said_about_the_original_too_is_not_new():
    old, added = Finding("A", "p.py", 1), Finding("A", "p.py", 2)
    assert score.new([old, added], [old]) == [added]


def test_false_alarms_on_equivalent_and_latent_mutants():
    right, other = Finding("GS505", "p.py", 4), Finding("GS101", "p.py", 9)
    same_code = Finding("GS505", "p.py", 9)
    given = [right, other, same_code]
    assert score.false_alarms(given, "p.py", [4], ["GS505"], "equivalent") == given
    assert score.false_alarms(given, "p.py", [4], ["GS505"], "latent") == [other]


def test_sarif_is_read_back_with_its_sites_and_paths_made_relative(tmp_path):
    found = [Finding("R1", "p.py", 3, "error", (("q.py", 7),))]
    assert sarif.read(sarif.write(found, "tool"), tmp_path) == found
    absolute = [found[0]._replace(file=f"file://{tmp_path}/p.py")]
    assert sarif.read(sarif.write(absolute, "tool"), tmp_path)[0].file == "p.py"


def test_tool_is_a_command_that_gets_a_program_and_hands_in_sarif(tmp_path):
    log = sarif.write([Finding("R1", "p.py", 1)], "tool")
    (tmp_path / "tool.py").write_text(
        f"import sys\nassert sys.argv[1] == 'p.py'\nprint({log!r})\n", encoding="utf-8"
    )
    program = tmp_path / "p.py"
    program.write_text("pass\n", encoding="utf-8")
    said = Command("tool", f"{sys.executable} tool.py").run(program, program)
    assert (said.findings, said.fault) == ([Finding("R1", "p.py", 1)], "")
    (tmp_path / "tool.py").write_text("print('no log')\n", encoding="utf-8")
    silent = Command("tool", f"{sys.executable} tool.py {{program}}").run(program, program)
    assert not silent.findings
    assert silent.fault.startswith("status 0")
    assert Command("none", "no-such-command-here").run(program, program).fault.startswith("status 127")


def case(operator: str, number: int) -> Case:
    return Case(PROGRAM, operator, "p.py", number, "", (1,), "")


def test_sample_takes_from_every_operator_in_turns_and_is_the_same_each_time():
    found = [case("drop-detach", n) for n in range(20)] + [case("drop-clone", n) for n in range(2)]
    chosen = sample(found, 6, seed=0)
    assert Counter(c.operator for c in chosen) == {"drop-detach": 4, "drop-clone": 2}
    assert chosen == sample(found, 6, seed=0)
    more = [case("drop-item", 0), *found]
    assert set(map(repr, sample(more, 7, 0))) - set(map(repr, chosen)) == {repr(case("drop-item", 0))}


def test_pairs_of_reports_know_their_lines_and_do_not_give_them_away(tmp_path):
    folder = tmp_path / "tests" / "programs" / "bugs"
    folder.mkdir(parents=True)
    (folder / "leak.py").write_text("a = 1\ny = v(s)  # BUG GS301 GS303\n", encoding="utf-8")
    (folder / "leak_fixed.py").write_text("a = 1\ny = v(s).detach()\n", encoding="utf-8")
    (pair,) = reports.of_repository(tmp_path, tmp_path / "place")
    assert (pair.lines, pair.codes, pair.family) == ((2,), ("GS301", "GS303"), "leak")
    assert (pair.bug.folder / "leak.py").read_text(encoding="utf-8") == "a = 1\ny = v(s)\n"


def row(half: str, outcome: str, program: str) -> dict[str, object]:
    said = {"findings": [["GS999", "p.py", 2, "error", []]], "seconds": 2.0, "fault": "", "outcome": outcome}
    return {"name": f"{program}:x", "program": program, "origin": "own", "kind": "real", "operator": "drop-detach",
            "family": "leak", "codes": ["GS301"], "half": half, "file": "p.py", "lines": [1],
            "diff": "-a\n+changed|line", "reason": "", "tools": {"ours": said}}  # fmt: skip


def test_page_names_the_misses_of_the_development_half_and_none_of_the_unseen(tmp_path):
    rows = [row("development", "elsewhere", "own/open"), row("unseen", "silent", "own/hidden")]
    path = tmp_path / "page.md"
    page.write(rows, path, {"ours": "`run`"}, "ours", "make it", {"peer": "no such thing"})
    text = path.read_text(encoding="utf-8")
    assert "own/open" in text
    assert "own/hidden" not in text
    assert "changed\\|line" in text
    assert "no such thing" in text
    assert "<svg" in (tmp_path / "page.svg").read_text(encoding="utf-8")


def test_picture_is_well_formed_whatever_a_tool_is_called():
    from xml.etree import ElementTree

    image = picture.draw({"a <b> & c": Counter({"silent": 3, "line": 1}), "none": Counter()}, "title")
    assert ElementTree.fromstring(image).tag.endswith("svg")


def test_results_are_lines_of_json_and_a_broken_last_line_is_left_out(tmp_path):
    from gradsan_benchmark.run import load

    path = tmp_path / "results.jsonl"
    path.write_text(
        json.dumps({"name": "a", "n": 1}) + "\n" + json.dumps({"name": "a", "n": 2}) + '\n{"name"', "utf-8"
    )
    assert load(path) == [{"name": "a", "n": 2}]


def test_how_many_is_a_number_or_all():
    asked = arguments().parse_args(["--sample", "7", "--reports", "0", "--sites", "all"])
    assert (asked.sample, asked.reports) == (7, 0)
    assert len(sample([case("drop-item", n) for n in range(20)], asked.sites, seed=0)) == 20
    with pytest.raises(SystemExit):
        arguments().parse_args(["--reports", "-1"])
