"""A real browser, and the real reports of the five examples, each made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chromium import Browser, Reports


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """No test may leave anything on the console."""
    chromium.reset()
    yield chromium
    assert chromium.complaints() == []


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return Reports(tmp_path_factory.getbasetemp().parent)
