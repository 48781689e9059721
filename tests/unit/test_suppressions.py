"""Comments that silence a rule: what they silenced is counted, and what they cannot mean is said."""

from __future__ import annotations

import json

import pytest

from gradsan.judge.report.findings import Report
from gradsan.render import render
from gradsan.render.html import render as render_html
from gradsan.render.page import Page
from harness import run_code

STALE = """
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(ITERATIONS):
    loss = (net(torch.ones(8, 3)) - 1.0).pow(2).mean()  # LOSS
    ZERO
    loss.backward()  # BACKWARD
    opt.step()  # STEP
"""


def stale(mode: str = "deep", iterations: int = 20, zero: bool = False, **comments: str) -> Report:
    code = STALE.replace("ITERATIONS", str(iterations)).replace("ZERO", "opt.zero_grad()" if zero else "pass")
    for place, comment in comments.items():
        code = code.replace(f"# {place.upper()}", comment)
    return run_code(code, mode)


def problems(report: Report) -> list[tuple[int, str, str]]:
    return [(p["line"], p["kind"], p["message"]) for p in report.suppression_problems]


def test_what_a_comment_silences_is_counted_and_listed() -> None:
    report = stale(step="# gradsan: allow stale-gradient")
    assert report.findings == []
    assert problems(report) == []
    (entry,) = report.as_dict()["suppressed"]
    assert (entry["rule"], entry["severity"], entry["culprit"]["line"]) == ("GS401", "error", 9)
    assert entry["comment"]["line"] == 9
    assert "1 silenced by a comment" in render("text", report, Page())


@pytest.mark.parametrize(
    "comment",
    [
        "# gradsan: allow GS401",
        "# gradsan:allow gs401",
        "#gradsan: allow stale-gradient, GS402",
        "# gradsan: allow GS402 GS401",
        "# noqa: E501  # gradsan: allow GS401",
        "# gradsan: allow GS401 -- accumulates, on purpose: see the paper",
        "# gradsan: allow GS401 (accumulates on purpose)",
        "# gradsan: allow GS401 because it accumulates, on purpose",
    ],
)
def test_ways_to_write_it(comment: str) -> None:
    report = stale(step=comment, iterations=4)
    assert report.findings == []
    assert problems(report) == []


def test_a_comment_on_any_line_of_a_statement_counts() -> None:
    report = stale(step="", iterations=4)
    assert [f.rule for f in report.findings] == ["GS401"]
    code = STALE.replace("ITERATIONS", "4").replace("ZERO", "pass")
    report = run_code(code.replace("opt.step()  # STEP", "opt.step(\n    )  # gradsan: allow stale-gradient"))
    assert report.findings == []


@pytest.mark.parametrize(
    ("comment", "kind", "words"),
    [
        ("# gradsan: allow stale-gradint", "unknown-rule", "'stale-gradint'; did you mean stale-gradient?"),
        ("# gradsan: allow GS402, GS4001", "unknown-rule", "there is no rule 'GS4001'; did you mean GS401?"),
        ("# gradsan: allow everything", "unknown-rule", "there is no rule 'everything'"),
        ("# gradsan: allow", "no-rule", "names no rule"),
        ("# gradsan: ignore GS401", "no-suppression", "did you mean `# gradsan: allow`?"),
        ("# gradsan: alow GS401", "no-suppression", "did you mean `# gradsan: allow`?"),
        ("# gradsan allow GS401", "no-suppression", "did you mean `# gradsan: allow`?"),
    ],
)
def test_a_comment_that_cannot_be_meant_so_is_told(comment: str, kind: str, words: str) -> None:
    report = stale(step=comment, iterations=4)
    assert [f.rule for f in report.findings] == ["GS401"]
    ((line, found, message),) = problems(report)
    assert (line, found) == (9, kind)
    assert words in message
    assert words.split("'")[-1] in " ".join(render("text", report, Page(width=80)).split())


def test_one_that_stands_above_the_line_is_told() -> None:
    report = run_code(
        "# gradsan: allow GS401\n" + STALE.replace("ITERATIONS", "4").replace("ZERO", "pass").lstrip()
    )
    ((line, kind, message),) = problems(report)
    assert (line, kind) == (1, "line-of-its-own")
    assert "at the end of the line" in message


@pytest.mark.parametrize(
    "comment", ["# gradsan: it is stale on purpose", "# gradsan allows this", "# GS401 is ours", "#"]
)
def test_prose_about_gradsan_is_no_suppression(comment: str) -> None:
    assert problems(stale(step=comment, iterations=4)) == []


def test_a_string_that_looks_like_one_is_none() -> None:
    report = stale(iterations=4, step="; text = '# gradsan: allow GS401, GS999'")
    assert [f.rule for f in report.findings] == ["GS401"]
    assert problems(report) == []


def test_one_that_silences_nothing_is_told() -> None:
    report = stale(zero=True, step="# gradsan: allow stale-gradient, GS402")
    assert [(line, kind) for line, kind, _ in problems(report)] == [(9, "silenced-nothing")] * 2
    assert "`stale-gradient` silenced nothing in this run" in problems(report)[0][2]
    assert "no findings" in render("text", report, Page())


def test_of_two_rules_only_the_idle_one_is_told() -> None:
    report = stale(step="# gradsan: allow stale-gradient, gradient-wiped")
    ((_, kind, message),) = problems(report)
    assert kind == "silenced-nothing"
    assert "gradient-wiped" in message


NOT_KNOWABLE = {
    "a short run": {"iterations": 4, "step": "# gradsan: allow GS401"},
    "a rule that needs a deep look": {"mode": "light", "loss": "# gradsan: allow target-carries-gradient"},
    "a rule about numbers": {"backward": "# gradsan: allow non-finite-gradient, exploding-gradient"},
    "a rule that takes thousands of updates": {"step": "# gradsan: allow target-never-synced"},
}


@pytest.mark.parametrize("given", NOT_KNOWABLE.values(), ids=NOT_KNOWABLE.keys())
def test_nothing_is_said_of(given: dict) -> None:
    assert problems(stale(**{"zero": True, **given})) == []


def test_nothing_is_said_of_a_line_that_was_not_reached() -> None:
    code = STALE.replace("ITERATIONS", "20").replace("ZERO", "opt.zero_grad()")
    unreached = "def other():\n    opt.step()  # gradsan: allow stale-gradient\n"
    assert problems(run_code(code + unreached)) == []


def test_nothing_is_said_of_a_rule_that_was_not_selected() -> None:
    from gradsan.judge.report.suppressions import Suppressions

    suppressions = Suppressions(lambda file: ["opt.step()  # gradsan: allow GS401\n"])
    place = ("train.py", 1)
    assert suppressions.problems({place}, {"GS402"}) == []
    assert len(suppressions.problems({place}, {"GS401"})) == 1


def test_every_format_tells(tmp_path) -> None:
    report = stale(step="# gradsan: allow stale-gradient, stale-gradiant")
    report.torch = "2"
    page = render_html(report)
    assert "<b>1</b> silenced by a comment" in page
    assert "did you mean stale-gradient?" in page
    sarif = json.loads(render("sarif", report, Page()))
    notes = sarif["runs"][0]["invocations"][0]["toolConfigurationNotifications"]
    assert "did you mean stale-gradient?" in notes[0]["message"]["text"]
    assert "::warning " in render("github", report, Page())
    assert "did you mean stale-gradient?" in render("github", report, Page())


def test_code_that_cannot_be_parsed_may_still_be_silenced() -> None:
    from gradsan.judge.report.suppressions import comments_in

    (comment,) = comments_in(["%magic 'x\n", "opt.step()  # gradsan: allow GS401\n"])
    assert (comment.line, comment.rules) == (2, ("GS401",))
