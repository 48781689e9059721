"""An entropy that was written by hand is known by its numbers, wherever new tensors are made by default."""

from __future__ import annotations

import pytest

from harness import run_code

PROGRAM = """
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x = [torch.randn(8, 3) for _ in range(4)]
    a, weight = torch.zeros(8, 1, dtype=torch.long), torch.randn(8)
    torch.set_default_device({device!r})
    try:
        for step in range(4):
            log_p = net(x[step]).log_softmax(-1)
            entropy = torch.special.entr(log_p.exp()).sum(-1)
            loss = (0.01 * entropy - log_p.gather(1, a).squeeze(1) * weight).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
    finally:
        torch.set_default_device(None)
"""


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_an_entropy_by_hand_is_known_whatever_the_default_device(device: str) -> None:
    report = run_code(PROGRAM.format(device=device))
    assert not report.faults, report.faults[0]["traceback"]
    assert [f.rule for f in report.findings] == ["GS802"]
