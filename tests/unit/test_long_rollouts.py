"""A loss behind a long rollout has thousands of constants: judging it must not walk the graph for each of them."""

from __future__ import annotations

import pytest

from gradsan.judge.provenance import Provenance
from harness import run_code

PPO = """
import copy, torch
value = torch.nn.Linear(3, 1)
slow = copy.deepcopy(value)
opt = torch.optim.SGD(value.parameters(), lr=0.01)
for _ in range(2):
    seen, rewards = torch.randn(STEPS, 3), torch.randn(STEPS)
    with torch.no_grad():
        values, advantages, last = NETWORK(seen).squeeze(-1), torch.zeros(STEPS), torch.zeros(())
        for t in reversed(range(STEPS - 1)):
            last = rewards[t] + 0.99 * values[t + 1] - values[t] + 0.9 * last
            advantages[t] = last
    loss = (value(seen).squeeze(-1) - (advantages + values)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    slow.load_state_dict(value.state_dict())
"""


@pytest.mark.parametrize("network", ["value", "slow"])
def test_walks_do_not_grow_with_the_rollout(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    walks: list[int] = []
    walk = Provenance._walk

    def counted(self: Provenance, *args: object) -> object:
        walks.append(1)
        return walk(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Provenance, "_walk", counted)
    counts = []
    for steps in (20, 60):
        walks.clear()
        run_code(PPO.replace("STEPS", str(steps)).replace("NETWORK", network))
        counts.append(len(walks))
    assert counts[0] == counts[1]


SUMMED = """
import torch
policy, value = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*policy.parameters(), *value.parameters()], lr=0.01)
for _ in range(3):
    loss = 0.0
    for _ in range(400):
        seen, gained = torch.randn(3), torch.randn(())
        dist = torch.distributions.Categorical(logits=policy(seen))
        error = gained - value(seen).squeeze()
        loss = loss - dist.log_prob(dist.sample()) * error.detach() + 0.5 * error.pow(2)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_loss_that_is_added_up_step_by_step_is_judged_to_the_end() -> None:
    report = run_code(SUMMED)
    assert not report.faults, report.faults[0]["traceback"]
    assert not report.findings
