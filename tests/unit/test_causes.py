"""Findings with one cause are told as one story."""

from __future__ import annotations

from gradsan.judge.report.causes import by_cause
from gradsan.judge.report.findings import Finding, Location, Report, RoleSite
from gradsan.render import render
from gradsan.render.html import render as html
from gradsan.render.page import Page


def at(line: int) -> Location:
    return Location("train.py", line, "update", f"line {line}")


def finding(rule: str, culprit: int | None, *sites: tuple[str, int], severity: str = "error") -> Finding:
    story = tuple(RoleSite(role, at(line)) for role, line in sites)
    where = None if culprit is None else at(culprit)
    return Finding(rule, "a-name", severity, f"what {rule} says", f"mend {rule}", where, story)


TARGET = finding("GS301", 8, ("value", 7), ("target", 8), ("backward", 20))
SAME_LINE = finding("GS601", 8, ("broadcast", 8), ("backward", 20), severity="warning")
VALUE = finding("GS602", 7, ("softmax", 3), ("log or distribution", 7), ("backward", 20), severity="warning")
SAME_SOFTMAX = finding("GS602", 12, ("softmax", 3), ("log or distribution", 12), ("backward", 20))
OTHER_RULE = finding("GS603", 13, ("softmax", 3), ("sum", 13), ("backward", 20))
STALE = finding("GS401", 20, ("backward", 20), ("step", 21))
LATE_CLIP = finding("GS504", 20, ("backward", 20), ("clip", 22))
NOWHERE = finding("GS503", None)


def test_the_same_line_to_change_is_one_cause() -> None:
    assert by_cause([TARGET, SAME_LINE]) == [[0, 1]]


def test_a_line_that_another_story_begins_with_is_its_cause() -> None:
    assert by_cause([VALUE, TARGET]) == [[1, 0]]  # the error first


def test_what_made_the_gradient_is_told_before_the_step_that_applied_it() -> None:
    """Mending the first mends both: whoever clears the gradient before the step has hidden the cause."""
    applied = finding("GS304", 8, ("use", 8), ("other backward", 20), ("own backward", 22), ("step", 23))
    made = finding("GS303", 8, ("weight", 8), ("loss", 9), ("backward", 20))
    assert by_cause([applied, made]) == [[1, 0]]
    assert by_cause([made, applied]) == [[0, 1]]
    warned = finding("GS303", 8, ("weight", 8), ("backward", 20), severity="warning")
    assert by_cause([applied, warned]) == [[0, 1]]


def test_what_one_line_made_is_one_cause_for_one_rule() -> None:
    assert by_cause([VALUE, SAME_SOFTMAX]) == [[1, 0]]
    assert by_cause([SAME_SOFTMAX, OTHER_RULE]) == [[0], [1]]


def test_sharing_a_backward_or_a_step_is_not_a_cause() -> None:
    assert by_cause([STALE, LATE_CLIP, TARGET]) == [[0], [1], [2]]


def test_findings_without_a_line_stay_by_themselves() -> None:
    assert by_cause([NOWHERE, NOWHERE]) == [[0], [1]]


def test_a_finding_that_joins_two_groups_makes_them_one() -> None:
    assert by_cause([STALE, SAME_LINE, SAME_SOFTMAX, VALUE, TARGET]) == [[0], [2, 4, 1, 3]]


def test_the_terminal_tells_the_others_in_short_below_the_first() -> None:
    text = render("text", Report(findings=[SAME_LINE, STALE, TARGET]), Page(width=80))
    assert text.index("error GS301") < text.index("the same cause") < text.index("warning GS601")
    assert text.index("warning GS601") < text.index("error GS401")
    assert "mend GS601" in text


def test_json_says_which_findings_have_one_cause() -> None:
    told = Report(findings=[SAME_LINE, STALE, TARGET]).as_dict()["findings"]
    assert [f["cause"] for f in told] == [1, 2, 1]


def test_the_page_groups_them() -> None:
    page = html(Report(findings=[SAME_LINE, STALE, TARGET]))
    assert page.count('class="cause"') == 1
    assert page.index('id="finding-2"') < page.index('id="finding-0"') < page.index('id="finding-1"')
