"""Every row of the table of PyTorch's autograd errors, by programs that raise it."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator

import pytest
import torch.distributed as dist
from torch_errors import LEAF, PROGRAMS, Program

from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Report
from gradsan.record.events import Failed
from gradsan.record.torch_errors import TABLE, TorchError, row_called
from harness import Events, marked_lines, record_code

EVERY_PROGRAM = pytest.mark.parametrize(
    "program", PROGRAMS, ids=[f"{number}-{p.kind}" for number, p in enumerate(PROGRAMS)]
)


@pytest.fixture(autouse=True)
def no_process_group(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # a process group sets its own
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def judged(events: Events) -> Report:
    engine = Engine()
    for event in events:
        engine.feed(event)
    engine.finish()
    return engine.report()


def recorded(program: Program, mode: str = "deep") -> Events:
    return record_code(LEAF + program.code, mode)


def lines_marked(program: Program, mark: str) -> list[int]:
    code = textwrap.dedent(LEAF + program.code)
    return [number for number, line in enumerate(code.splitlines(), 1) if line.endswith(mark)]


@EVERY_PROGRAM
def test_the_line_to_change_is_named(program: Program) -> None:
    report = judged(recorded(program))
    assert not report.faults
    bug, raised = marked_lines(LEAF + program.code), lines_marked(program, "# RAISES")
    if program.rule:
        found = [f for f in report.findings if f.rule == program.rule]
        assert [f.culprit.line for f in found] == bug
        assert set(raised) <= {site.location.line for site in found[0].sites}
        assert not report.errors_explained
    else:
        (told,) = report.errors_explained
        row = row_called(program.kind)
        assert told["why"].startswith(row.why)
        assert told["fix"] == row.fix
        assert [told["where"]["line"]] == bug
        assert [told["raised"]["line"]] == (raised or bug)


@EVERY_PROGRAM
def test_in_light_mode_something_is_told_with_the_line_that_raised(program: Program) -> None:
    report = judged(recorded(program, "light"))
    assert not report.faults
    raised = (lines_marked(program, "# RAISES") or marked_lines(LEAF + program.code))[0]
    told = {entry["raised"]["line"] for entry in report.errors_explained}
    for finding in report.findings:
        if finding.rule in row_called(program.kind).rules:
            told |= {finding.culprit.line, *(site.location.line for site in finding.sites)}
    assert raised in told


# One error in the words of the oldest release, and in those of the others.
OLDEST, SINCE = "grad requires non-empty inputs", "argument to `grad()` cannot be empty"


def test_all_words_of_the_table_are_raised_by_some_program() -> None:
    messages = [e.message for p in PROGRAMS for e in recorded(p, "light") if isinstance(e, Failed)]
    unheard = [w for row in TABLE for w in row.words if not any(w in m for m in messages)]
    assert unheard in ([OLDEST], [SINCE])


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.kind)
def test_texts_have_one_form(row: TorchError) -> None:
    assert row.rules or (row.why and row.fix)
    for text in filter(None, (row.why, row.fix)):
        assert text.count("`") % 2 == 0
        assert not text.endswith(".")
        assert text[0].islower() or text[0] == "`" or text.startswith(("PyTorch", "NumPy"))


def test_an_error_that_the_script_catches_is_not_explained() -> None:
    code = LEAF + "try:\n    y = x.numpy()\nexcept RuntimeError:\n    y = x.detach().numpy()"
    report = judged(record_code(code))
    assert not report.errors_explained
    assert not report.findings


def test_an_error_behind_the_one_that_ended_the_script_is_explained() -> None:
    code = (
        LEAF
        + """
try:
    x.numpy()
except RuntimeError as error:
    raise ValueError("no plot") from error
"""
    )
    (told,) = judged(record_code(code)).errors_explained
    assert told["where"]["code"] == "x.numpy()"


def test_a_tensor_that_was_logged_is_followed_to_where_it_was_put_away() -> None:
    code = """
import numpy as np
import torch
net = torch.nn.Linear(3, 1)
losses = []
for _ in range(2):
    loss = net(torch.randn(4, 3)).mean()
    losses.append(loss)
    loss.backward()
print(np.mean(losses))
"""
    (told,) = judged(record_code(code)).errors_explained
    assert told["kind"] == "numpy-of-graph-tensor"
    assert [told[role]["line"] for role in ("made", "stored", "raised")] == [7, 8, 10]
