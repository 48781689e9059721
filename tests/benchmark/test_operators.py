"""The benchmark's operators: what each changes, that no line moves, and that the changed line is among the right."""

from __future__ import annotations

from pathlib import Path

import pytest
from gradsan_benchmark.cases import half
from gradsan_benchmark.edits import Source
from gradsan_benchmark.operators import OPERATORS
from operator_table import TABLE

RULES = Path(__file__).parents[2] / "src" / "gradsan" / "rules"


def test_every_operator_has_its_row():
    assert set(TABLE) == set(OPERATORS)
    assert sum(not operator.excluded for operator in OPERATORS.values()) >= 40


@pytest.mark.parametrize("name", TABLE)
def test_operator_changes_these_lines_and_moves_none(name):
    before, wanted = TABLE[name]
    change, after = OPERATORS[name].changes(Source(before))[0]
    old, new = before.splitlines(), after.splitlines()
    assert len(old) == len(new)
    assert [(n, b) for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b] == wanted
    assert {n for n, _ in wanted} <= set(change.lines)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda o: o.name)
def test_operator_says_what_it_is_and_which_codes_would_be_right(operator):
    known = {path.name[2:5] for path in RULES.glob("gs*.py")} | {"704"}
    assert operator.what.endswith(".")
    assert bool(operator.codes) != bool(operator.excluded)
    assert {code[2:] for code in operator.codes} <= known


def test_columns_count_bytes_where_a_line_holds_more_than_ascii():
    ((_, text),) = OPERATORS["drop-detach"].changes(Source('print("Größe"); y = v(s).detach()\n'))
    assert text == 'print("Größe"); y = v(s)\n'


def test_change_that_would_move_a_line_is_not_made():
    assert not OPERATORS["drop-detach"].changes(Source("y = (v(s)\n  .detach())\n"))


def test_decorator_that_goes_leaves_its_line_empty_and_the_function_whole():
    ((_, text),) = OPERATORS["drop-no-grad-decorator"].changes(
        Source("@torch.no_grad()\ndef f():\n    pass\n")
    )
    assert text == "\ndef f():\n    pass\n"


def test_halves_are_fixed_for_good():
    """A change here would let the unseen half be tuned on: these must stay as they are."""
    names = [f"clean/program_{n}" for n in range(8)]
    assert "".join(half(name, "drop-detach")[0] for name in names) == "duududdd"
