"""The report of each example shows its one planted bug: in the source, in the picture, and back again."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from chromium import Browser, Reports

SOURCES = Path(__file__).parents[2] / "examples"


class Expected(NamedTuple):
    rule: str
    roles: dict[str, set[str]]  # what a box is labelled with, and the parts it plays
    losses: set[str]


EXPECTED = {
    "dqn": Expected("GS301", {"agent.online": {"online"}, "agent.frozen": {"target"}}, {"loss"}),
    "a2c_shared_trunk": Expected(
        "GS303", {"trunk": {"shared"}, "logits": {"actor"}, "value": {"critic"}}, {"loss"}
    ),
    "ppo": Expected("GS504", {"agent.policy": {"actor"}, "agent.baseline": {"critic"}}, {"loss"}),
    "sac": Expected(
        "GS304",
        {
            "body": {"actor"},
            "agent.q1": {"critic", "online"},
            "agent.slow_q2": {"critic", "target"},
            "agent.log_alpha": set(),
        },
        {"critic_loss", "actor_loss", "alpha_loss"},
    ),
    "recurrent_policy": Expected("GS202", {"memory … logits ×12": {"actor"}, "encoder ×12": set()}, {"loss"}),
}

BOXES = """[...document.querySelectorAll('.node.box')].map(box =>
    [box.querySelector('text').textContent, [...box.querySelectorAll('.chip text')].map(t => t.textContent)])"""
OVERLAPS = """(() => {
    const boxes = [...document.querySelectorAll('.picture:not([hidden]) .node > rect')]
        .map(r => r.getBoundingClientRect());
    return boxes.some((a, i) => boxes.some((b, j) => i < j && a.left < b.right && b.left < a.right
        && a.top < b.bottom && b.top < a.bottom));
})()"""

HEADS = """[...document.querySelectorAll('.picture:not([hidden]) [marker-end]')].every(line =>
    document.querySelector(line.getAttribute('marker-end').slice(4, -1)).closest('svg') === line.closest('svg'))"""


@pytest.fixture(params=EXPECTED)
def example(request: pytest.FixtureRequest, browser: Browser, reports: Reports) -> str:
    browser.open(reports(request.param))
    return str(request.param)


def test_the_planted_bug_is_the_one_finding_and_its_line_is_marked(browser: Browser, example: str) -> None:
    assert [e.text for e in browser.all(".finding h3 a")] == [EXPECTED[example].rule]
    lines = (SOURCES / f"{example}.py").read_text().splitlines()
    marked = browser.one(".finding tr.culprit")
    number = int(marked.find_element("css selector", ".number").text)
    assert marked.find_element("css selector", "pre").text.strip() == lines[number - 1].strip()
    if example != "sac":  # there the culprit is the step that takes what the wrong line left
        assert "# wrong" in lines[number - 1]
    assert len(browser.all(".story li")) == len(browser.all(".listing .nth"))


def test_networks_have_their_roles_and_nothing_overlaps(browser: Browser, example: str) -> None:
    expected = EXPECTED[example]
    assert {tab.text.split()[0] for tab in browser.all("[role=tab]")} == expected.losses
    seen: dict[str, set[str]] = {}
    for tab in browser.all("[role=tab]"):
        tab.click()
        assert browser.all(".picture:not([hidden]) .node.loss")
        assert browser.all(".picture:not([hidden]) .edge.gradient .back")
        assert not browser.ask(OVERLAPS)
        assert browser.ask(HEADS)
        for label, roles in browser.ask(BOXES):
            seen.setdefault(label, set()).update(roles)
    assert {label: seen.get(label) for label in expected.roles} == expected.roles


def test_from_the_finding_to_the_picture_and_back(browser: Browser, example: str) -> None:
    browser.all(".to-picture")[-1].click()
    browser.wait_for("document.activeElement.matches('.picture:not([hidden])')")
    flagged = browser.all(".picture:not([hidden]) a .flagged")
    flagged[0].click()
    browser.wait_for("location.hash === '#finding-0'")
    browser.wait_for("document.activeElement.id === 'finding-0'")


def test_leaks_and_cuts_are_drawn_where_they_are(browser: Browser, example: str) -> None:
    browser.all(".to-picture")[-1].click()
    browser.wait_for(
        "document.activeElement.matches('.picture:not([hidden])')"
    )  # the page follows the link later
    if example == "ppo":  # a clip in the wrong place is no matter of flow: it is in the ledger
        assert browser.all(".edge.bad") == []
    elif example == "recurrent_policy":
        browser.one(".picture a .mark.bad")  # the scissors, on the way from the encoder
        assert browser.text(".node.value.dead.bad text") == "features"
    else:
        assert browser.all(".picture:not([hidden]) .edge.gradient.bad .back")
        assert browser.all(".picture:not([hidden]) .edge.gradient:not(.bad) .back")


def test_the_ledger_shows_who_fed_clipped_stepped_and_cleared(browser: Browser, example: str) -> None:
    kinds = {kind.text for kind in browser.all(".ledger .kind")}
    assert kinds >= {"forward", "backward", "step", "zero_grad"}
    assert browser.all("td.lane.held .event.backward")
    assert bool(browser.all("td.lane.mixed")) == (example == "sac")
    if example == "ppo":
        order = [kind.text for kind in browser.all(".ledger .kind")]
        assert order.index("clip") > order.index("step")


def test_the_fix_is_shown_as_a_diff_and_the_rule_is_explained(browser: Browser, example: str) -> None:
    assert browser.all(".finding .diff .plus")
    browser.one(".more a[href^='#rule-']").click()
    browser.wait_for(f"document.getElementById('rule-{EXPECTED[example].rule}').open")
    assert "Why it matters" in browser.text("#rules")
