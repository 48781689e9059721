"""A helper discounts along its first axis; the recorder of this script keeps the environments there, and time second.
Repaired here.

Round 12
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1211)
ENVS, STEPS = 10, 16


def discounted(rewards, gamma=0.95):
    """What each row is worth: itself, and all the rows after it."""
    returns, ahead = torch.empty_like(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        ahead = rewards[t] + gamma * ahead
        returns[t] = ahead
    return returns


class Recorder:
    def __init__(self):
        self.columns = {}

    def add(self, **values):
        for name, value in values.items():
            self.columns.setdefault(name, []).append(value)

    def __getattr__(self, name):
        return torch.stack(self.columns[name], dim=1)


def play(policy, state):
    record = Recorder()
    for _ in range(STEPS):
        action = Categorical(logits=policy(state)).sample()
        drift = nn.functional.one_hot(action, 3).float() - 1 / 3
        record.add(state=state, action=action, reward=-(state[:, :3] - 1).abs().mean(-1))
        state = state + 0.4 * torch.cat([drift, drift], -1) + 0.1 * torch.randn_like(state)
    return record


policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
baseline = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *baseline.parameters()], lr=3e-3)
for episode in range(40):
    with torch.no_grad():
        record = play(policy, torch.randn(ENVS, 6))
    returns = discounted(record.reward.T).T
    value = baseline(record.state).squeeze(-1)
    gain = returns - value.detach()
    logp = Categorical(logits=policy(record.state)).log_prob(record.action)
    loss = -(logp * gain).mean() + 0.5 * (value - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("return", returns.mean().item())
