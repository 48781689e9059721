"""Rollouts come out of a generator that yields them from within `no_grad`: while it waits there, gradients are off for
whoever called it.

Round 12
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1214)


class Cliff:
    """A row of squares; stepping back from the first one is a fall."""

    def __init__(self, copies, squares=8):
        self.copies, self.squares = copies, squares
        self.at = torch.randint(1, squares, (copies,))

    def observe(self):
        return nn.functional.one_hot(self.at, self.squares).float()

    def step(self, action):
        self.at = self.at + torch.where(action == 0, -1, 1)
        fell, arrived = self.at <= 0, self.at >= self.squares
        reward = arrived.float() - fell.float() - 0.02
        ended = fell | arrived
        self.at = torch.where(ended, torch.randint(1, self.squares, (self.copies,)), self.at)
        return reward, ended.float()


def rollouts(env, policy, count, length=10):
    for _ in range(count):
        steps = []
        with torch.no_grad():  # BUG GS201 GS202
            for _ in range(length):
                obs = env.observe()
                action = Categorical(logits=policy(obs)).sample()
                steps.append((obs, action, *env.step(action)))
            yield [torch.stack(column) for column in zip(*steps)]  # BUG GS201 GS202


def discounted(reward, ended, last, gamma=0.95):
    found = torch.zeros_like(reward)
    for t in reversed(range(len(reward))):
        last = reward[t] + gamma * (1 - ended[t]) * last
        found[t] = last
    return found


env = Cliff(copies=12)
policy = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 2))
value = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-3)
for obs, action, reward, ended in rollouts(env, policy, count=50):
    with torch.no_grad():
        last = value(env.observe()).squeeze(-1)
    goal = discounted(reward, ended, last)
    guess = value(obs).squeeze(-1)
    log_prob = Categorical(logits=policy(obs)).log_prob(action)
    loss = -(log_prob * (goal - guess).detach()).mean() + 0.5 * (goal - guess).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
