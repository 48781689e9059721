"""`--format github`: workflow commands, escaped as the runner reads them."""

from __future__ import annotations

import re

from gradsan.judge.report.findings import Report
from gradsan.render import render
from gradsan.render.page import Page
from sandbox import GRADSAN, STALE, Sandbox

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def parse(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner does it: split first, then unescape; the percent sign last."""
    match = COMMAND.fullmatch(line)
    assert match, line
    properties = dict(pair.split("=", 1) for pair in match[2].split(","))
    return match[1], {k: unescape(v) for k, v in properties.items()}, unescape(match[3])


def unescape(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def lines_of(report: Report) -> list[str]:
    return render("github", report, Page()).splitlines()


def test_each_finding_is_one_annotation_on_its_line(full_report: Report) -> None:
    kind, where, message = parse(lines_of(full_report)[0])
    assert kind == "error"
    assert where == {"file": "train.py", "line": "41", "title": "GS301 target-carries-gradient"}
    assert message.splitlines() == [
        "`target` carries gradient",
        "target: train.py:41  target = r + gamma * q(s2)",
        "loss here: train.py:42  loss = f(q(s), target)",
        "Fix: detach it",
        "Why: gradsan explain GS301",
    ]


def test_severities_and_findings_without_a_file(full_report: Report) -> None:
    parsed = [parse(line) for line in lines_of(full_report)[:-1]]
    assert [p[0] for p in parsed] == ["error", "warning", "notice", "error", "notice", "warning"]
    assert "file" not in parsed[1][1]
    assert "file" not in parsed[3][1]  # code from the command line stands in no file
    assert parsed[4][2] == "GS202: a compiled region"


def test_nothing_in_a_name_or_a_line_of_code_can_be_a_command(hostile_report: Report) -> None:
    lines = lines_of(hostile_report)
    assert len(lines) == 4
    for line in lines[:-1]:
        parse(line)
    assert lines[-1].startswith("gradsan: ")
    assert "\x1b" not in "".join(lines)
    _, where, message = parse(lines[0])
    assert where["file"].startswith("dira,b:c%0A")
    assert "::error::pwned" in message
    assert len(message.splitlines()) == 5


def test_a_run_writes_only_commands_and_a_summary_to_stderr_with_paths_from_the_checkout(
    sandbox: Sandbox,
) -> None:
    sandbox.write("project/train.py", STALE + "\nprint('done')\n")
    code = "import os, sys; os.chdir('project'); os.execv(sys.argv[1], sys.argv[1:])"
    run = (GRADSAN, "run", "--format", "github", "train.py")
    done = sandbox.python("-c", code, *run, env={"GITHUB_WORKSPACE": str(sandbox.path)})
    assert (done.returncode, done.stdout) == (1, "done\n")
    annotation, summary, last = done.stderr.splitlines()
    assert parse(annotation)[1]["file"] == "project/train.py"
    assert summary.startswith("gradsan: 1 error")
    assert last == "gradsan: exit status 1 because of the findings"


def test_a_clean_report_has_no_annotation() -> None:
    (only,) = lines_of(Report(torch="2.13.0", iterations=3))
    assert only.startswith("gradsan: no findings")
