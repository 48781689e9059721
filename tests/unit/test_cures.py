"""A cut graph is mended where it was cut: the fix speaks of the very call, not of cuts in general."""

from __future__ import annotations

import pytest

from harness import run_code

PROGRAM = """
import torch
encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for _ in range(6):
    x, y = torch.randn(8, 3), torch.randn(8)
    {cut}
    loss = (head(features).squeeze(1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CUTS = {
    "features = encoder(x).detach()": "leave `.detach()` out here",
    "features = encoder(x).data": "leave `.data` out here",
    "with torch.no_grad(): features = encoder(x)": "outside of `torch.no_grad()`",
    "features = torch.from_numpy(encoder(x).detach().numpy())": "leave `.detach()` out here",
    "features = torch.tensor(encoder(x).tolist())": "keep the tensor itself",
    "features = torch.tensor([*encoder(x)[:, :1]]).unsqueeze(1).expand(8, 4)": "instead of `torch.tensor`",
    "features = encoder(x).round().long().float()": "detach only targets and advantages",
}


@pytest.mark.filterwarnings("ignore:Converting a tensor")
@pytest.mark.parametrize("cut", list(CUTS))
def test_the_fix_is_about_the_call_that_cuts(cut: str) -> None:
    report = run_code(PROGRAM.format(cut=cut))
    assert [finding.rule for finding in report.findings] == ["GS202"]
    assert CUTS[cut] in report.findings[0].fix
