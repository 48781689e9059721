"""A run of less than a thousand updates is drawn whole, whatever the attention was; nothing else changes."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

CODE = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for i in range({updates}):
    loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    if i == {updates} - 1:
        print(loss.item(), torch.rand(1).item())
"""


def charts(html: Path) -> dict[str, Any]:
    (data,) = re.findall(r'id="data">(.*?)</script>', html.read_text(), re.DOTALL)
    return {chart["title"]: chart for chart in json.loads(data)["charts"]}


@pytest.mark.parametrize("mode", ["adaptive", "light", "deep"])
def test_every_update_is_a_point(sandbox: Sandbox, mode: str) -> None:
    updates = 60 if mode == "deep" else 300
    sandbox.write("train.py", CODE.format(updates=updates))
    sandbox.gradsan("run", "--mode", mode, "--html", "r.html", "train.py")
    drawn = charts(sandbox.path / "r.html")
    assert set(drawn) == {
        "Gradient norm", "Gradient norm by layer", "Update-to-weight ratio", "Share of updates clipped", "Loss",
    }  # fmt: skip
    for chart in drawn.values():
        assert chart["x"] == list(range(1, updates + 1)), chart["title"]
        for series in chart["series"].values():
            assert None not in series


def test_a_longer_run_is_drawn_evenly_and_stays_small(sandbox: Sandbox) -> None:
    sandbox.write("train.py", CODE.format(updates=3_000))
    sandbox.gradsan("run", "--html", "r.html", "train.py")
    x = charts(sandbox.path / "r.html")["Gradient norm"]["x"]
    assert 400 <= len(x) <= 1_000
    assert x[-1] > 2_950
    assert max(b - a for a, b in itertools.pairwise(x)) <= 32


def test_drawing_changes_neither_the_training_nor_the_findings(sandbox: Sandbox) -> None:
    code = CODE.format(updates=200).replace("    opt.zero_grad()\n", "")
    sandbox.write("train.py", code)
    bare = sandbox.gradsan("run", "--format", "json", "train.py")
    drawn = sandbox.gradsan("run", "--format", "json", "--html", "r.html", "--quiet", "train.py")
    assert drawn.stdout == bare.stdout
    assert json.loads(drawn.stderr) == json.loads(bare.stderr)
