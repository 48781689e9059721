"""The pairs that `make unseen` measures: whole programs, marked as they should be. What gradsan says about them
is not asserted here, so that the first try stays a measurement."""

from __future__ import annotations

import contextlib
import io
import types
import warnings

import pytest
import torch

from unseen_pairs import CLASSES, FOLDER, MARK, pairs

PAIRS = pairs()
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=[pair.name for pair in PAIRS])


@pytest.fixture(autouse=True)
def as_a_fresh_process():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings(), torch.random.fork_rng():
        yield
    torch.set_num_threads(threads)
    torch.set_grad_enabled(True)


@each_pair
def test_twin_runs_to_its_end(pair):
    code = compile(pair.twin.read_text(encoding="utf-8"), str(pair.twin), "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, types.ModuleType("__main__").__dict__)


@each_pair
def test_marks_are_well_formed(pair):
    lines = pair.bug.read_text(encoding="utf-8").splitlines()
    spoken_of = [line for line in lines if "BUG" in line]
    assert spoken_of
    assert all(MARK.search(line) for line in spoken_of)
    assert "BUG" not in pair.twin.read_text(encoding="utf-8")
    assert pair.kind in CLASSES


@each_pair
def test_twin_differs_in_more_than_its_marks(pair):
    def code(path):
        text = path.read_text(encoding="utf-8").partition("Class: ")[2]
        return [MARK.sub("", line).rstrip() for line in text.splitlines()]

    assert code(pair.bug) != code(pair.twin)


def test_every_file_belongs_to_a_pair():
    expected = {path for pair in PAIRS for path in (pair.bug, pair.twin)}
    assert set(FOLDER.glob("*.py")) == expected


def test_every_class_has_pairs_in_both_halves():
    assert {(pair.kind, pair.half) for pair in PAIRS} == {(k, h) for k in CLASSES for h in ("open", "held")}
