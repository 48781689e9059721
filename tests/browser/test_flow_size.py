"""The flow picture fits its window as a whole; buttons make it larger and smaller, and fit it again."""

from __future__ import annotations

import pytest

from chromium import PHONE, Browser, Reports

PIXEL = 1e-3  # a browser lays out in 64ths of a pixel
OUTSIDE = """(() => {
    const frame = document.querySelector('.picture:not([hidden])');
    const { left, right, top, bottom } = frame.getBoundingClientRect();
    return [...frame.querySelectorAll('.node > rect')].map(r => r.getBoundingClientRect())
        .filter(b => b.left < left || b.right > right || b.top < top || b.bottom > bottom).length;
})()"""
HEIGHT = "document.querySelector('.picture:not([hidden])').offsetHeight"
SCALE = """(svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)(
    document.querySelector('.picture:not([hidden]) svg'))"""


@pytest.mark.parametrize("example", ["leaky_dqn", "sac", "dqn", "recurrent_policy"])
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080), (900, 700)])
def test_every_node_is_in_view(
    browser: Browser, reports: Reports, example: str, size: tuple[int, int]
) -> None:
    browser.size(*size)
    browser.open(reports(example))
    for tab in browser.all("[role=tab]"):
        tab.click()
        assert browser.ask(OUTSIDE) == 0
        assert browser.ask(HEIGHT) <= size[1]


def test_buttons_zoom_in_and_out_and_fit_again(browser: Browser, reports: Reports) -> None:
    browser.size(1280, 800)
    browser.open(reports("leaky_dqn"))
    fitted = browser.ask(SCALE)
    browser.one("[data-zoom=in]").click()
    browser.one("[data-zoom=in]").click()
    assert browser.ask(SCALE) == pytest.approx(fitted * 1.25**2, rel=PIXEL)
    browser.one("[data-zoom=out]").click()
    assert browser.ask(SCALE) == pytest.approx(fitted * 1.25, rel=PIXEL)
    browser.one("[data-zoom=fit]").click()
    assert browser.ask(SCALE) == pytest.approx(fitted, rel=PIXEL)


def test_on_a_phone_the_button_brings_the_whole_picture_into_view(browser: Browser, reports: Reports) -> None:
    browser.size(*PHONE)
    browser.open(reports("leaky_dqn"))
    browser.driver.execute_script("showLoss(1)")
    browser.one("[data-zoom=fit]").click()
    assert browser.ask(OUTSIDE) == 0


def test_a_picture_that_was_fitted_follows_the_window(browser: Browser, reports: Reports) -> None:
    browser.size(1600, 900)
    browser.open(reports("sac"))
    browser.size(900, 900)
    browser.wait_for(f"{OUTSIDE} === 0")


def test_the_size_can_be_changed_by_keyboard_and_each_button_has_a_name(
    browser: Browser, reports: Reports
) -> None:
    browser.size(*PHONE)
    browser.open(reports("dqn"))
    fitted = browser.ask(SCALE)
    browser.tab_until("document.activeElement.matches('[data-zoom=in]')")
    browser.press("\n")
    assert browser.ask(SCALE) > fitted
    names = "[...document.querySelectorAll('[data-zoom]')].map(b => b.getAttribute('aria-label'))"
    assert browser.ask(names) == ["Smaller", "Fit the picture into the window", "Larger"]
