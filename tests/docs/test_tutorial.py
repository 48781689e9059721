"""The tutorial's script has the mistakes that the page says it has, and its repair has none."""

from __future__ import annotations

import re
from pathlib import Path

from harness import run_code

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
SCRIPT, MENDED = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| \[(GS\d+)\]\([^)]*\) \| (\d+) \|", PAGE, re.MULTILINE)


def test_the_script_has_the_findings_that_the_page_names() -> None:
    report = run_code(SCRIPT, mode="adaptive")
    found = sorted((f.rule, str(f.culprit.line)) for f in report.findings if f.culprit)
    assert found == sorted(ROWS)
    assert len(ROWS) == 3


def test_the_mended_script_is_clean() -> None:
    head, update, rest = re.split(r"(?m)^(?=def update|for _ in)", SCRIPT)
    report = run_code(head + MENDED + "\n\n" + rest, mode="adaptive")
    assert report.findings == []
    assert report.iterations == 200
    assert "optimizer.zero_grad()" not in update
