"""A memory is learned from long before the first episode is over: what a target does at ends shows later."""

from __future__ import annotations

import pytest

from harness import run_code

REPLAY = """
import random, numpy, torch
torch.manual_seed(0)
random.seed(0)

class Walk:
    def __init__(self):
        self.rng = numpy.random.default_rng(0)

    def reset(self):
        self.x, self.age = self.rng.normal(size=3).astype("float32"), 0
        return self.x.copy(), {}

    def step(self, action):
        self.x = (0.9 * self.x + self.rng.normal(size=3)).astype("float32")
        self.age += 1
        return self.x.copy(), float(self.x[0]), self.age >= {length}, False, {}

env, critic, memory = Walk(), torch.nn.Linear(3, 1), []
opt = torch.optim.SGD(critic.parameters(), lr=0.01)
obs, _ = env.reset()
for _ in range(420):
    after, reward, over, _, _ = env.step(0)
    memory.append((obs, reward, after, float(over)))
    obs = env.reset()[0] if over else after
    s, r, s2, end = (torch.tensor(numpy.array(c)).float() for c in zip(*random.choices(memory, k=32)))
    with torch.no_grad():
        y = r + {next} * critic(s2).squeeze(-1)
    loss = (critic(s).squeeze(-1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def _code(**parts: str) -> str:
    code = REPLAY
    for name, text in parts.items():
        code = code.replace(f"{{{name}}}", text)
    return code


@pytest.mark.parametrize(("after", "rules"), [("0.9", ["GS805"]), ("0.9 * (1 - end)", [])])
def test_a_target_past_ends_that_came_late_is_found(after: str, rules: list[str]) -> None:
    varying = "30 + int(9 * abs(self.x[1]))"  # an end that no clock says
    report = run_code(_code(length=varying, next=after), mode="adaptive")
    assert [finding.rule for finding in report.findings] == rules


def test_where_enough_ends_were_seen_at_once_nobody_looks_again_for_them() -> None:
    report = run_code(
        _code(length="0", next="0.9 * (1 - end)").replace("range(420)", "range(300)"), mode="adaptive"
    )
    assert (report.findings, report.deep_iterations) == ([], 12)
