"""What must hold of the file itself, before any browser sees it."""

from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from gradsan.judge.report.findings import Report
from gradsan.render import html
from gradsan.render.html import ASSETS, prose, render
from synthetic_reports import HOSTILE, hostile_report, long_report


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_a_million_updates_stay_under_three_megabytes() -> None:
    assert len(long_report(layers=100).encode()) < 3_000_000


def test_hostile_strings_make_no_element_and_no_handler() -> None:
    for tag, attributes in Elements(hostile_report()).found:
        assert tag not in ("img", "svg", "iframe", "link", "object")
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert "src" not in attributes


def test_nothing_in_the_data_can_end_its_script() -> None:
    data = re.search(r'id="data">(.*?)</script>', hostile_report(), re.DOTALL)
    assert data is not None
    assert not re.search(r"[<>&\u2028\u2029\x1b\u202e]", data.group(1))
    assert "window.hacked" in data.group(1)  # it is there, as text


def test_the_template_does_not_run_what_it_prints() -> None:
    page = hostile_report()
    assert HOSTILE[5] in page
    assert "{{ 49 }}" not in page


def test_no_other_script_may_run_and_nothing_may_be_loaded() -> None:
    page = render(Report())
    policy = next(a["content"] for tag, a in Elements(page).found if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline'; base-uri" in policy  # for styles alone
    assert "script-src 'unsafe" not in policy
    assert policy.count("sha256-") == page.count("<script>") == 5


def test_the_libraries_are_the_ones_that_were_checked_in_and_their_licences_are_told() -> None:
    vendor = files("gradsan.render.html") / "assets" / "vendor"
    sums = dict(reversed(line.split()) for line in vendor.joinpath("SHA256SUMS").read_text().splitlines())
    assert {p.name for p in vendor.iterdir()} == {*sums, "SHA256SUMS"}
    for name, expected in sums.items():
        assert hashlib.sha256(vendor.joinpath(name).read_bytes()).hexdigest() == expected, name
    page = render(Report())
    for name in ("uplot", "dagre"):
        assert ASSETS.joinpath(f"vendor/{name}.LICENSE").read_text().strip().split("\n")[-1] in page


def test_coloured_source_is_markup_and_not_shown_as_such() -> None:
    page = long_report()
    assert '<span class="n">actor_opt</span>' in page
    assert "&lt;span" not in page


def test_code_in_sentences_is_set_as_code_and_escaped() -> None:
    assert prose("write `a < b` instead") == "write <code>a &lt; b</code> instead"
    assert prose("one ` alone <b>") == "one ` alone &lt;b&gt;"


def test_a_fault_in_cleaning_a_text_is_not_kept_by_the_template_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults = iter([AttributeError("ours")])  # at the first call alone

    def fails(value: object) -> object:
        if (fault := next(faults, None)) is not None:
            raise fault
        return value

    monkeypatch.setattr(html, "_clean", fails)
    with pytest.raises(AttributeError, match="ours"):
        html._environment().from_string("{{ 'constant' }}").render()
