"""In IPython a report shows itself."""

from __future__ import annotations

import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

import gradsan
from training import clean, stale


@pytest.fixture
def shell(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # a shell puts its own there
    shell = InteractiveShell()
    yield shell
    shell.history_manager.end_session()


def test_ipython_gets_text_and_html(shell) -> None:
    with gradsan.watch() as report:
        stale()
    shown, _ = shell.display_formatter.format(report)
    assert "GS401 stale-gradient" in shown["text/plain"]
    assert shown["text/html"].startswith("<pre")
    assert "GS401" in shown["text/html"]


def test_the_html_escapes_the_users_source() -> None:
    with gradsan.watch() as report:
        stale()
    report.findings[0].message = "<script>alert(1)</script>"
    assert "<script>" not in report._repr_html_()
    assert "&lt;script&gt;" in report._repr_html_()


def test_a_cell_is_user_code_and_its_lines_are_shown(shell, monkeypatch) -> None:
    monkeypatch.chdir("/")
    cell = (
        "import torch, gradsan\n"
        "model = torch.nn.Linear(3, 1)\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "with gradsan.watch() as report:\n"
        "    for _ in range(3):\n"
        "        model(torch.ones(2, 3)).pow(2).mean().backward()\n"
        "        opt.step()\n"
    )
    shell.run_cell(cell).raise_error()
    finding = shell.user_ns["report"].findings[0]
    assert (finding.rule, finding.culprit.line, finding.culprit.code) == ("GS401", 7, "opt.step()")


def test_a_report_says_whether_it_is_still_watching() -> None:
    with gradsan.watch() as report:
        clean(1)
        assert repr(report) == "<gradsan report: no findings in 1 iterations, still watching>"
    assert repr(report) == "<gradsan report: no findings in 1 iterations>"
    assert "no findings" in str(report)
