"""A value leaves the domain of a function long after the first look: nobody traced the forward that did it."""

from __future__ import annotations

from harness import run_code

FALLING = """
import torch
torch.manual_seed(0)
spread = torch.nn.Parameter(torch.ones(4))
opt = torch.optim.SGD([spread], lr=0.01)

def log_density(x):
    z = x / spread
    return -0.5 * z.pow(2) - spread.log()

for _ in range(300):
    ratio = torch.exp(log_density(torch.zeros(4)) * 0.001)
    loss = -(ratio.mean()) + 0.5 * spread.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_the_operation_that_began_it_is_named_and_not_the_last_one_that_passed_it_on():
    report = run_code(FALLING, mode="adaptive")
    told = [(f.rule, f.culprit.line, f.message) for f in report.findings if f.rule == "GS503"]
    assert [line for _, line, _ in told] == [9]
    assert "`log` of -" in told[0][2]
