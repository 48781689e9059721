"""What docs/api.md says of the three remedies, and that its examples are Python."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import torch

DOCS = Path(__file__).parents[2] / "docs" / "api.md"


def q_values() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    w = torch.tensor([[0.5, 1.0, 2.0]], requires_grad=True)
    q = w.exp()
    return w, q, torch.tensor([[True, True, False]])


def expected() -> torch.Tensor:
    w, q, available = q_values()
    (q.sum() + torch.where(available, q, -1e9).max()).backward()
    return w.grad


def test_the_write_in_place_breaks_backward() -> None:
    _, q, available = q_values()
    total = q.sum()
    q[~available] = -1e9
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        (total + q.max()).backward()


def test_the_functional_form_and_the_clone_give_the_same_gradient() -> None:
    for functional in (True, False):
        w, q, available = q_values()
        if functional:
            masked = q.masked_fill(~available, -1e9)
        else:
            masked = q.clone()
            masked[~available] = -1e9
        (q.sum() + masked.max()).backward()
        assert torch.equal(w.grad, expected())


def test_a_snapshot_needs_detach_and_clone() -> None:
    _, h, _ = q_values()
    shared, carried, snapshot = h[0].detach(), h[0].clone(), h[0].detach().clone()
    before = snapshot.clone()
    assert carried.requires_grad
    with torch.no_grad():
        h[0, 0] = -1.0
    assert shared[0] == -1.0
    assert torch.equal(snapshot, before)
    assert not snapshot.requires_grad


def test_the_examples_of_the_page_are_python() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 8
    for block in blocks:
        ast.parse(block)
