"""Cuts that are found by reading, where an iteration was not traced."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradsan.judge.written_cuts import written_cut


@pytest.mark.parametrize(
    ("text", "line", "cut"),
    [
        ("ratio = policy(s).detach().exp()\nloss = (ratio * a).mean()\nloss.backward()\n", 3, 1),
        ("ratio = policy(s).data\nloss = ratio.mean()\n(0.5 * loss).backward()\n", 3, 1),
        ("with torch.no_grad():\n    x = net(s)\nloss = x.mean()\nloss.backward()\n", 4, 1),
        ("x = torch.tensor(values)\nloss = x.mean()\nloss.backward()\n", 3, 1),
        # The nearest to the loss is meant; the target further away is cut by right.
        ("y = v(s).detach()\nx = net(s).detach()\nloss = x.mean()\nother = y\nloss.backward()\n", 5, 2),
        ("x = net(s)\nloss = x.mean()\nloss.backward()\n", 3, 0),
        ("x = torch.tensor(0.5)\nloss = net(x)\nloss.backward()\n", 3, 0),
        ("def f(loss):\n    loss.backward()\nx = y.detach()\n", 2, 0),
    ],
)
def test_cut_nearest_to_the_loss_is_found_in_its_function(tmp_path: Path, text: str, line: int, cut: int):
    file = tmp_path / "train.py"
    file.write_text(text)
    assert written_cut(str(file), line) == cut
