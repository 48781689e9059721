"""A run of several processes: one is shown at a time, or their charts side by side where they differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.support.ui import Select

from chromium import PHONE, Browser
from gradsan.judge.report.findings import AcrossRanks, Finding, Location, Process, Report
from gradsan.picture.model import Chart, LossPicture, Node, Picture
from gradsan.render import html

SHOWN = """[...document.querySelectorAll('.charts > [data-process]')].filter(c => !c.hidden && c.offsetWidth)
    .sort((a, b) => a.offsetTop - b.offsetTop || a.offsetLeft - b.offsetLeft)
    .map(c => [c.querySelector('h3').firstChild.textContent, c.dataset.process])"""
TABS = "[...document.querySelectorAll('[role=tab]')].filter(t => t.offsetWidth).map(t => t.dataset.process)"
CURRENT = "document.querySelector('[role=tab][aria-selected=true]').dataset.process"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ranks = [Process(pid=40 + n, rank=n, world_size=2, iterations=20, host="here") for n in (0, 1)]
    picture = Picture()
    for n, process in enumerate(ranks):
        loss = [Node(1, "network", "agent", True), Node(2, "loss", "loss", True)]
        where = Location("train.py", 7, "<module>", "loss.backward()")
        picture.losses.append(LossPicture("loss", where, "backward", loss, [], {}, [0], process.name))
        for title, values in (("Gradient norm", [1.0, 2.0 + n]), ("Learning rate", [0.1, 0.1])):
            picture.charts.append(Chart(title, "", [1, 20], {"agent": [*values]}, process=process.name))
    row = AcrossRanks("agent.value.weight", "gradient", {0: 3.25, 1: None})
    message = "rank 0 and rank 1 step with different gradients"
    finding = Finding("GS701", "unsynced-gradient", "error", message, "average them", None)
    finding.processes, finding.across_ranks = tuple(ranks), (row,)
    report = Report(script="train.py", iterations=20, findings=[finding], processes=ranks, picture=picture)
    file = tmp_path_factory.mktemp("page") / "ranks.html"
    file.write_text(html.render(report), encoding="utf-8")
    return file


def choose(browser: Browser, value: str) -> None:
    Select(browser.one("#process")).select_by_value(value)


def test_the_switch_shows_the_flow_and_the_charts_of_one_process(browser: Browser, page: Path) -> None:
    browser.open(page)
    for name in ("rank 0", "rank 1", "rank 0"):
        choose(browser, name)
        assert browser.ask(SHOWN) == [["Gradient norm", name], ["Learning rate", name]]
        assert browser.ask(TABS) == [name]
        assert browser.ask(CURRENT) == name


def test_side_by_side_are_the_charts_that_differ(browser: Browser, page: Path) -> None:
    browser.open(page)
    choose(browser, "")
    assert browser.ask(SHOWN) == [["Gradient norm", "rank 0"], ["Gradient norm", "rank 1"]]
    left, right = (chart.rect for chart in browser.all(".charts > [data-process]") if chart.is_displayed())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    assert browser.text("#alike") == "1 differ, 1 are alike."
    choose(browser, "rank 1")
    assert browser.text("#alike") == ""
    assert len(browser.ask(SHOWN)) == 2


def test_a_finding_leads_to_the_picture_of_a_process_that_is_not_shown(browser: Browser, page: Path) -> None:
    browser.open(page)
    links = browser.all("a.to-picture")
    assert [link.text.rpartition(" on ")[2] for link in links] == ["rank 0", "rank 1"]
    links[1].click()
    browser.wait_for(f"{CURRENT} === 'rank 1'")
    assert browser.one("#process").get_attribute("value") == "rank 1"


def test_a_finding_shows_the_ranks_side_by_side_also_on_a_phone(browser: Browser, page: Path) -> None:
    browser.size(*PHONE)
    browser.open(page)
    cells = [cell.text for cell in browser.all("table.ranks tr:last-child > *")]
    assert cells == ["agent.value.weight", "3.25", "–"]
    choose(browser, "")
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
