"""What a message calls the value of a line: never a piece of code with its comment, where there is a name."""

from __future__ import annotations

import pytest

from gradsan.judge.lines.spoken import spoken, writing
from harness import run_code

SOURCE = """\
def score(x):
    return x * 2  # twice


total = 0
total += score(1)  # summed up
value, state = 1, 2
kept, table = [], {}
kept.append(score(3))  # for later
table["a"] = score(4)
print(score(5))  # said
print(
    "more than one line")
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (2, "what `score` returns"),
        (5, "`total`"),
        (6, "`total`"),
        (7, "`value, state`"),
        (9, "what is put into `kept`"),
        (10, '`table["a"]`'),
        (11, "`print(score(5))`"),
        (12, ""),
        (99, ""),
    ],
)
def test_a_line_is_called_by_what_becomes_of_its_value(tmp_path, line, words):
    file = tmp_path / "said.py"
    file.write_text(SOURCE)
    assert spoken(str(file), line) == words


@pytest.mark.parametrize(
    ("source", "operation", "words"),
    [
        ("q[:, 0] = -1.0\n", "setitem", "`q[:, 0] = …`"),
        ("h += 1.0\n", "add", "`h += …`"),
        ("h.clamp_(max=1.0)\n", "clamp", "`clamp_`"),
        ("torch.relu_(h)\n", "relu_", "`relu_`"),
    ],
)
def test_a_write_is_called_as_it_is_written(tmp_path, source, operation, words):
    file = tmp_path / "writes.py"
    file.write_text(source)
    assert writing(str(file), 1, operation) == words


def test_a_parameter_without_a_name_is_not_set_as_code():
    report = run_code(
        """
        import torch
        w = [torch.nn.Parameter(torch.zeros(3))]
        w[0][1] = 1.0
        """,
        may_raise=True,
    )
    assert "parameter [3] made on line 3" in report.findings[0].message
    assert "`parameter" not in report.findings[0].message


def test_what_a_function_returns_is_not_called_what_twice():
    report = run_code(
        """
        import torch
        w = torch.ones(3, requires_grad=True)
        x = torch.ones(3)
        def score():
            return w * x
        loss = score().sum()
        x.data.mul_(2.0)
        loss.backward()
        """
    )
    assert "what line 6 kept for backward was overwritten" in report.findings[0].message
