"""What PyTorch warns of names the user's line, as without gradsan, and as often."""

from __future__ import annotations

import re

import pytest

from sandbox import Sandbox

CODE = """
import torch
import torch.nn.functional as F
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(opt, 5)
criterion = torch.nn.MSELoss()
scheduler.step()
for _ in range(3):
    data = torch.tensor(torch.ones(8, 3))
    loss = F.mse_loss(net(data), torch.ones(8))
    other = F.mse_loss(net(data), torch.ones(4, 1, 1))
    third = criterion(net(data), torch.ones(7, 1, 1))
    torch.nn.utils.clip_grad_norm_((p for p in ()), 1.0)
    opt.zero_grad()
    (loss + other + third).backward()
    opt.step()
"""


def told(stderr: str) -> list[str]:
    lines = stderr.splitlines()
    return [
        line + "|" + lines[n + 1] for n, line in enumerate(lines) if re.search(r":\d+: \w*Warning: ", line)
    ]


@pytest.mark.parametrize(("how", "mode"), [("default", "deep"), ("once", "light"), ("always", "deep")])
def test_warnings_are_those_of_a_bare_run(sandbox: Sandbox, how: str, mode: str) -> None:
    name = sandbox.write("train.py", CODE)
    env = sandbox.env | {"PYTHONWARNINGS": how}
    bare = sandbox.python(name, env=env)
    seen = sandbox.gradsan("run", "--quiet", "--select", "GS105", "--mode", mode, name, env=env)
    assert len(told(bare.stderr)) >= 4
    assert told(seen.stderr) == told(bare.stderr)
