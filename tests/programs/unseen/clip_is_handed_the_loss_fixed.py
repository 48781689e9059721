"""REINFORCE with a baseline: the norm is limited of the loss, a result without a gradient of its own, and not of the
network's parameters.
Repaired here.

Round 12
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1205)


class Corridor:
    """Walk right to the goal; every step costs one."""

    def __init__(self, length=9):
        self.length = length

    def reset(self):
        self.place, self.clock = self.length // 2, 0
        return self.look()

    def look(self):
        return nn.functional.one_hot(torch.tensor(self.place), self.length).float()

    def step(self, action):
        self.place = min(max(self.place + 2 * action - 1, 0), self.length - 1)
        self.clock += 1
        won = self.place == self.length - 1
        return self.look(), (20.0 if won else -1.0), won or self.clock == 25


def returns_of(rewards, gamma=0.98):
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        found.insert(0, total)
    return torch.tensor(found)


def learn(optimizer, network, loss):
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 0.5)
    optimizer.step()


env = Corridor()
policy = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 2))
baseline = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))
policy_opt = torch.optim.SGD(policy.parameters(), lr=5e-3)
baseline_opt = torch.optim.SGD(baseline.parameters(), lr=1e-3)
for episode in range(50):
    obs, done = env.reset(), False
    seen, log_probs, rewards = [], [], []
    while not done:
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        seen.append(obs)
        log_probs.append(dist.log_prob(action))
        obs, reward, done = env.step(int(action))
        rewards.append(reward)
    goal = returns_of(rewards)
    value = baseline(torch.stack(seen)).squeeze(1)
    learn(policy_opt, policy, -(torch.stack(log_probs) * (goal - value).detach()).sum())
    learn(baseline_opt, baseline, (goal - value).pow(2).mean())
print("last return", goal[0].item())
