"""With `--include trl` a finding is on the library's own line; without, on the line of the script that called it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forked import attempted, warm_up

SCRIPT = Path(__file__).with_name("planted.py")


@pytest.mark.parametrize(("include", "file"), [("", "planted.py"), ("trl", "dpo_trainer.py")])
def test_a_finding_is_on_a_line_of_the_library_that_is_included(tmp_path: Path, include: str, file: str):
    warm_up()
    report = tmp_path / "report.json"
    attempted("reference_of_the_trainer_is_its_model", "adaptive", report, SCRIPT, include)
    found = json.loads(report.read_text(encoding="utf-8"))["findings"]
    assert [(f["rule"], Path(f["culprit"]["file"]).name) for f in found] == [("GS808", file)]
