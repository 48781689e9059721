"""The page by itself: zoom and hover, light and dark, a phone, a keyboard, and strings that mean harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from chromium import PHONE, Browser, Reports
from synthetic_reports import HOSTILE, hostile_report, long_report

CONTRAST = """(selector => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const paint = colour => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); };
    const light = () => [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
        .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
    const under = e => { if (e.parentElement) under(e.parentElement); paint(getComputedStyle(e).backgroundColor); };
    const worst = [...document.querySelectorAll(selector)].map(e => {
        under(e);
        const back = light();
        paint(getComputedStyle(e).color);
        const fore = light();
        return [(Math.max(fore, back) + .05) / (Math.min(fore, back) + .05), e.outerHTML.slice(0, 80)]; });
    return worst.sort((a, b) => a[0] - b[0])[0];
})(arguments[0])"""
TEXTS = ".message, .badge, .times, .place, .number, .role, .hint, .kind, nav a, .ledger th, .legend li"


@pytest.fixture
def long_run(tmp_path: Path, browser: Browser) -> Path:
    file = tmp_path / "long.html"
    file.write_text(long_report(), encoding="utf-8")
    browser.open(file)
    return file


def span(browser: Browser, chart: int = 0) -> float:
    return float(browser.ask(f"plots[{chart}].scales.x.max - plots[{chart}].scales.x.min"))


def test_every_magnitude_has_its_chart(browser: Browser, long_run: Path) -> None:
    titles = browser.ask(
        "[...document.querySelectorAll('.chart h3')].map(h => [...h.childNodes].map(n => n.textContent))"
    )
    assert titles == [
        ["Gradient norm"], ["Gradient norm by layer", "actor"], ["Gradient norm by layer", "critic"],
        ["Update-to-weight ratio"], ["Share of updates clipped"], ["Loss"],
    ]  # fmt: skip
    assert "GS503 from 400,001" in browser.ask("document.querySelector('.flags').textContent")


def test_dragging_over_a_chart_zooms_all_of_them_and_a_double_click_undoes_it(
    browser: Browser, long_run: Path
) -> None:
    whole = span(browser)
    over = browser.one(".chart .u-over")
    browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    actions = ActionChains(browser.driver)
    actions.move_to_element(over).click_and_hold().move_by_offset(80, 0).release().perform()
    browser.wait_for(f"plots[0].scales.x.max - plots[0].scales.x.min < {whole / 2}")
    assert span(browser, 0) == pytest.approx(span(browser, 4))
    ActionChains(browser.driver).double_click(over).perform()
    browser.wait_for(f"plots[4].scales.x.max - plots[4].scales.x.min === {whole}")


def test_hovering_shows_the_values_under_the_cursor(browser: Browser, long_run: Path) -> None:
    over = browser.one(".chart .u-over")
    browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    ActionChains(browser.driver).move_to_element(over).perform()
    browser.wait_for("document.querySelectorAll('.chart .u-value')[1].textContent !== '–'")
    iteration = browser.text(".chart .u-value").replace(",", "")
    assert 1 < int(iteration) < 1_000_000


def test_charts_can_be_zoomed_with_the_keyboard(browser: Browser, long_run: Path) -> None:
    whole = span(browser)
    browser.tab_until("document.activeElement.matches('.chart')")
    browser.press("+")
    assert span(browser) == pytest.approx(whole / 2)
    browser.press(Keys.ARROW_RIGHT)
    assert browser.ask("plots[0].scales.x.max") == pytest.approx(1_000_000 - whole / 8, rel=0.01)
    browser.press("0")
    assert span(browser) == pytest.approx(whole)


def test_findings_in_the_picture_are_reached_and_followed_by_keyboard(
    browser: Browser, reports: Reports
) -> None:
    browser.open(reports("sac"))
    browser.tab_until("document.activeElement.matches('[role=tab]')")
    browser.press(Keys.ARROW_RIGHT)
    assert browser.text("[role=tab][aria-selected=true]").startswith("actor_loss")
    browser.tab_until("document.activeElement.matches('.picture a')")
    browser.press(Keys.ENTER)
    browser.wait_for("document.activeElement.id === 'finding-0'")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in(browser: Browser, reports: Reports, scheme: str) -> None:
    browser.prefers(scheme)
    browser.open(reports("a2c_shared_trunk"))
    assert browser.ask("document.documentElement.dataset.theme") == scheme
    assert browser.ask(CONTRAST, TEXTS) >= [4.5, ""]  # WCAG AA
    assert browser.ask(CONTRAST, ".listing .code span, .listing .code pre") >= [3.0, ""]  # code is decoration


def test_the_button_switches_to_dark_and_the_charts_follow(browser: Browser, reports: Reports) -> None:
    browser.open(reports("dqn"))
    drawn = "plots[0].ctx.canvas.toDataURL()"
    light = browser.ask(drawn)
    browser.one("#theme").click()
    assert browser.ask("document.documentElement.dataset.theme") == "dark"
    browser.wait_for("getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 26)'")
    assert browser.ask(drawn) != light


@pytest.mark.parametrize("example", ["dqn", "sac", "recurrent_policy"])
def test_a_phone_shows_everything_without_sideways_scrolling(
    browser: Browser, reports: Reports, example: str
) -> None:
    browser.size(*PHONE)
    browser.open(reports(example))
    assert browser.ask("document.documentElement.scrollWidth") <= PHONE[0]
    tops = "[...document.querySelectorAll('.node > rect')].map(r => r.getBoundingClientRect().top)"
    assert browser.ask(f"Math.max(...{tops}) - Math.min(...{tops})") > 250  # it runs from top to bottom
    smallest = browser.ask("document.querySelector('.node text').getBoundingClientRect().height")
    assert smallest >= 9


def test_nothing_is_loaded_from_anywhere(browser: Browser, reports: Reports) -> None:
    browser.open(reports("dqn"))
    assert browser.ask("performance.getEntriesByType('resource').map(e => e.name)") == []


def test_hostile_strings_are_text(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(hostile_report(), encoding="utf-8")
    browser.open(file)
    assert browser.ask("window.hacked") is None
    assert browser.all("img") == []
    assert browser.ask("document.querySelectorAll('script').length") == 6  # the data and our own five
    shown = browser.ask("document.body.innerText")
    assert HOSTILE[0] in shown
    assert HOSTILE[0][:30] in browser.ask("document.querySelector('.node.box text').textContent")
    assert "\x1b" not in browser.driver.page_source
    assert "\u202e" not in browser.driver.page_source
