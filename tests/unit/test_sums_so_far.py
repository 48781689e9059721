"""Rewards summed up from the beginning are no returns, but nothing is turned round either."""

from __future__ import annotations

import pytest

from harness import run_code

CODE = """
import gymnasium
import torch
env, policy = gymnasium.make("CartPole-v1"), torch.nn.Linear(4, 2)
opt = torch.optim.SGD(policy.parameters(), lr=0.01)
for episode in range(8):
    obs, _ = env.reset(seed=episode)
    log_probs, rewards, over = [], [], False
    while not over:
        dist = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        over = terminated or truncated
    weight = WEIGHT
    loss = -(torch.stack(log_probs) * (weight - weight.mean())).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("weight", "turned"),
    [
        ("torch.tensor(rewards).cumsum(0)", False),
        ("-torch.tensor([sum(rewards[t:]) for t in range(len(rewards))])", True),
        ("torch.tensor(rewards).flip(0).cumsum(0).flip(0)", False),
        ("-torch.tensor(rewards).flip(0).cumsum(0).flip(0)", True),
    ],
)
def test_only_a_return_with_a_minus_is_said_to_be_reversed(weight: str, turned: bool) -> None:
    found = {f.rule for f in run_code(CODE.replace("WEIGHT", weight), "adaptive").findings}
    assert ("GS801" in found) == turned
