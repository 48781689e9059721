"""The tutorial's script has the mistakes that the page says it has, and its repair has none."""

from __future__ import annotations

import re
from pathlib import Path

from gradsan.render.page import Page
from gradsan.render.text import render
from harness import run_code

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "tutorial.md").read_text(encoding="utf-8")
SCRIPT, MENDED = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| \[(GS\d+)\]\([^)]*\) \| (\d+) \|", PAGE, re.MULTILINE)


def test_the_script_has_the_findings_that_the_page_names_and_shows() -> None:
    report = run_code(SCRIPT, mode="adaptive")
    (file,) = {f.culprit.file for f in report.findings if f.culprit}
    shown = " ".join(render(report, Page()).replace(file, "train.py").split())
    for page in (PAGE, (DOCS / "index.md").read_text(encoding="utf-8")):
        (example,) = re.findall(r"```text\n(error.*?)```", page, re.DOTALL)
        assert " ".join(example.split()) in shown
    found = sorted((f.rule, str(f.culprit.line)) for f in report.findings if f.culprit)
    assert found == sorted(ROWS)
    assert len(ROWS) == 3


def test_the_mended_script_is_clean() -> None:
    head, update, rest = re.split(r"(?m)^(?=def update|for _ in)", SCRIPT)
    report = run_code(head + MENDED + "\n\n" + rest, mode="adaptive")
    assert report.findings == []
    assert report.iterations == 200
    assert "optimizer.zero_grad()" not in update
